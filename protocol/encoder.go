package protocol

import (
	"encoding/binary"
	"slices"
)

// Encoder appends messages to the write buffer of a connection, as the connection sends them.
//
// In segments, envelopes are collected: Append begins a segment in the buffer and leaves it open, and Flush closes
// it. The buffer must be flushed before it is written or emptied, and until then only the encoder may append to it.
//
//	buf = e.Append(buf, stream, prefix, m)		as often as there are answers
//	buf = e.Flush(buf)
//	conn.Write(buf); buf = buf[:0]
type Encoder struct {
	Version     Version
	Compression Compression
	Segments    bool // set after the answer to STARTUP, if the version has segments

	open    bool // there is a segment without its checksums
	start   int  // where it begins in the buffer
	scratch []byte
	moved   []byte
}

// Cassandra cuts large envelopes at these sizes, so that a segment fits into a buffer of 128 KiB.
const (
	largeEnvelope = 131060 // from here on an envelope is not packed with others
	singleSlice   = 131062 // up to here it is not cut
	cutPlain      = 131054
	cutLZ4        = 131060
)

// Append appends a response. A nil prefix is an empty one.
func (e *Encoder) Append(buf []byte, stream int16, p *Prefix, m Response) []byte {
	buf = e.openSegment(buf)
	at := len(buf)
	return e.finishEnvelope(AppendResponse(buf, e.Version, stream, p, m), at)
}

// Long returns a response whose cells are in parts, as buffers to write in order. It takes ownership of the parts and
// does not copy them if they are sent unchanged: copying tens of megabytes would delay other requests. No segment may
// be open. room allocates buffers.
func (e *Encoder) Long(stream int16, p *Prefix, m *Rows, room func(int) []byte) [][]byte {
	head := m.appendHead(appendResponseHead(room(longHead), e.Version, stream, p, OpResult), e.Version)
	size := m.Size()
	finishFrame(head, 0, size)
	parts := append(append([][]byte{head}, m.Before...), m.Cells)
	switch {
	case e.Segments:
		return e.segments(parts, len(head)+size, room)
	case e.Compression != NoCompression && e.Version.HasBodyCompression():
		return [][]byte{e.compressBody(slices.Concat(parts...), 0)}
	}
	return parts
}

// longHead is the usual size of a response before its cells.
const longHead = 4 << 10

// segments splits an envelope of size bytes, too large for one segment, into segments.
func (e *Encoder) segments(parts [][]byte, size int, room func(int) []byte) (segments [][]byte) {
	cut := e.cut(size)
	for left := size; left > 0; {
		n := min(cut, left)
		left -= n
		buf := e.openSegment(room(n + e.headerSize() + segmentTrailer))
		for n > 0 {
			more := min(n, len(parts[0]))
			buf, n = append(buf, parts[0][:more]...), n-more
			if parts[0] = parts[0][more:]; len(parts[0]) == 0 {
				parts = parts[1:]
			}
		}
		segments = append(segments, e.seal(buf, false))
	}
	return segments
}

// AppendRequest appends a request.
func (e *Encoder) AppendRequest(buf []byte, stream int16, f Flags, payload []PayloadEntry, m Request) []byte {
	buf = e.openSegment(buf)
	at := len(buf)
	return e.finishEnvelope(AppendRequest(buf, Header{Version: e.Version, Stream: stream, Flags: f}, payload, m), at)
}

// AppendEnvelope appends an encoded envelope whose body is not compressed.
func (e *Encoder) AppendEnvelope(buf, envelope []byte) []byte {
	if !e.Segments {
		return append(buf, envelope...)
	}
	buf = e.openSegment(buf)
	at := len(buf)
	return e.finishEnvelope(append(buf, envelope...), at)
}

// Flush completes the buffer for writing.
func (e *Encoder) Flush(buf []byte) []byte {
	if e.open {
		buf = e.seal(buf, true)
	}
	return buf
}

// headerSize is the size of a segment header with its checksum.
func (e *Encoder) headerSize() int {
	if e.Compression == LZ4 {
		return segmentHeaderLZ4
	}
	return segmentHeader
}

// openSegment makes room for the header of a segment unless one is open.
func (e *Encoder) openSegment(buf []byte) []byte {
	if !e.Segments || e.open {
		return buf
	}
	e.open, e.start = true, len(buf)
	var room [segmentHeaderLZ4]byte
	return append(buf, room[:e.headerSize()]...)
}

// finishEnvelope finishes the envelope at buf[at:]: it compresses the body, or moves the envelope if the open segment
// is full.
func (e *Encoder) finishEnvelope(buf []byte, at int) []byte {
	if !e.Segments {
		if e.Compression != NoCompression && e.Version.HasBodyCompression() {
			return e.compressBody(buf, at)
		}
		return buf
	}
	first := e.start + e.headerSize()
	if len(buf)-first < largeEnvelope {
		return buf
	}
	e.moved = append(e.moved[:0], buf[at:]...)
	buf = buf[:at]
	if at > first {
		buf = e.seal(buf, true)
	} else {
		e.open, buf = false, buf[:e.start]
	}
	if len(e.moved) < largeEnvelope {
		buf = append(e.openSegment(buf), e.moved...)
	} else {
		buf = e.appendSlices(buf, e.moved)
	}
	if cap(e.moved) > keepBuffer {
		e.moved = nil
	}
	return buf
}

// appendSlices appends an envelope that is too large for one segment.
func (e *Encoder) appendSlices(buf, envelope []byte) []byte {
	cut := e.cut(len(envelope))
	for len(envelope) > 0 {
		n := min(cut, len(envelope))
		buf = e.seal(append(e.openSegment(buf), envelope[:n]...), false)
		envelope = envelope[n:]
	}
	return buf
}

// cut is the number of bytes of an envelope of a size that go into one segment.
func (e *Encoder) cut(size int) int {
	switch {
	case size <= singleSlice:
		return singleSlice
	case e.Compression == LZ4:
		return cutLZ4
	}
	return cutPlain
}

// seal compresses the open segment and writes its header and checksums.
func (e *Encoder) seal(buf []byte, whole bool) []byte {
	e.open = false
	info := segmentInfo{header: e.headerSize(), selfContained: whole}
	first := e.start + info.header
	info.length = len(buf) - first
	if e.Compression == LZ4 {
		e.scratch = appendLZ4(e.scratch[:0], buf[first:])
		if len(e.scratch) < info.length {
			info.uncompressed, info.length = info.length, len(e.scratch)
			buf = append(buf[:first], e.scratch...)
		}
	}
	putSegmentHeader(buf[e.start:], info)
	return binary.LittleEndian.AppendUint32(buf, crc32Payload(buf[first:]))
}

// compressBody compresses the body of the envelope at buf[at:]. Cassandra compresses every body it sends,
// even if that makes it longer; STARTUP is never compressed.
func (e *Encoder) compressBody(buf []byte, at int) []byte {
	if Opcode(buf[at+4]) == OpStartup {
		return buf
	}
	e.scratch = e.Compression.AppendCompressed(e.scratch[:0], buf[at+HeaderSize:])
	buf = append(buf[:at+HeaderSize], e.scratch...)
	buf[at+1] |= byte(FlagCompressed)
	FinishFrame(buf, at)
	if cap(e.scratch) > keepBuffer {
		e.scratch = nil
	}
	return buf
}
