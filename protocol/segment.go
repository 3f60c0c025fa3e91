package protocol

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/cqld/cqld/cql/cqlerr"
)

// After STARTUP v5 sends segments: one or more whole envelopes, or a slice of a large one. Numbers of segments are
// little-endian.
//
//	plain	<header 3><CRC24 of header 3><payload><CRC32 of payload 4>
//			header: 17 bits payload length, 1 bit self-contained
//	LZ4		<header 5><CRC24 of header 3><payload><CRC32 of payload 4>
//			header: 17 bits payload length, 17 bits length before compression, 1 bit self-contained
//
// The checksum covers the payload as sent. A length before compression of 0 means that the payload is not compressed.
const (
	maxSegmentPayload = 1<<17 - 1
	segmentHeader     = 3 + 3
	segmentHeaderLZ4  = 5 + 3
	segmentTrailer    = 4

	// MaxSegmentSize is the size of the largest segment.
	MaxSegmentSize = segmentHeaderLZ4 + maxSegmentPayload + segmentTrailer

	lengthMask       = 1<<17 - 1
	selfContained    = 1 << 17
	selfContainedLZ4 = 1 << 34
)

// segmentInfo is the content of a segment's header.
type segmentInfo struct {
	header        int // the header's size with its checksum
	length        int // of the payload as sent
	uncompressed  int // 0 if it is not compressed
	selfContained bool
}

// parseSegmentHeader decodes a segment's header; false means that b is not long enough.
func parseSegmentHeader(b []byte, compressed bool) (s segmentInfo, ok bool, err error) {
	s.header = segmentHeader
	if compressed {
		s.header = segmentHeaderLZ4
	}
	if len(b) < s.header {
		return s, false, nil
	}
	covered := b[:s.header-3]
	var bits uint64
	for i, c := range covered {
		bits |= uint64(c) << (8 * i)
	}
	read := uint32(b[s.header-3]) | uint32(b[s.header-2])<<8 | uint32(b[s.header-1])<<16
	if computed := crc24(covered); computed != read {
		return s, false, &CRCError{Where: "header", Read: read, Computed: computed}
	}
	s.length = int(bits & lengthMask)
	if compressed {
		s.uncompressed = int(bits >> 17 & lengthMask)
		s.selfContained = bits&selfContainedLZ4 != 0
	} else {
		s.selfContained = bits&selfContained != 0
	}
	return s, true, nil
}

// putSegmentHeader encodes a segment's header into b.
func putSegmentHeader(b []byte, s segmentInfo) {
	bits := uint64(s.length)
	flag := uint64(selfContained)
	if s.header == segmentHeaderLZ4 {
		bits |= uint64(s.uncompressed) << 17
		flag = selfContainedLZ4
	}
	if s.selfContained {
		bits |= flag
	}
	n := s.header - 3
	for i := range b[:n] {
		b[i] = byte(bits >> (8 * i))
	}
	crc := crc24(b[:n])
	b[n], b[n+1], b[n+2] = byte(crc), byte(crc>>8), byte(crc>>16)
}

// CutEnvelope cuts the first envelope from a result of Segments.Next. It skips an envelope whose body is longer than
// limit: it returns the header and an error, and rest begins after the envelope. After a *SegmentError the rest is
// undefined.
func CutEnvelope(b []byte, limit int) (h Header, body, rest []byte, err error) {
	if len(b) < HeaderSize {
		return h, nil, nil, segmentErrorf("A segment ends inside of the header of a message: %d bytes", len(b))
	}
	h, b = ParseHeader(b), b[HeaderSize:]
	if err := CheckLength(h, limit, true); err != nil {
		return h, nil, b[min(int64(len(b)), int64(h.Length)):], err
	}
	if int(h.Length) > len(b) {
		return h, nil, nil, segmentErrorf("A message of %d bytes does not fit into its segment, which has %d left",
			h.Length, len(b))
	}
	return h, b[:h.Length:h.Length], b[h.Length:], nil
}

// Segments decodes the segments that arrive on a connection.
type Segments struct {
	Compressed bool // with LZ4
	Limit      int  // of an envelope's body, as for CutEnvelope

	// Reserve, if not nil, must grant memory, in bytes, for the slices of a large envelope. Release returns the
	// amount to give back.
	Reserve func(n int) error

	payload []byte // decompressed
	large   []byte // the envelope that arrives in slices
	missing int64  // how many bytes of it have not arrived
	skip    bool   // it is longer than Limit, and only its header is kept
	total   int    // its length with the header
	held    int    // bytes reserved for it
}

// Free reports whether no envelope waits for slices.
func (s *Segments) Free() bool { return s.missing == 0 }

// Release drops an incomplete envelope, and returns how many reserved bytes are no longer needed.
func (s *Segments) Release() int {
	n := s.held
	s.held, s.missing = 0, 0
	if n > 0 {
		s.large = nil
	}
	return n
}

// Next decodes the segment at the beginning of b and returns its length, or 0 if b is incomplete. CutEnvelope cuts
// the returned envelopes; they are empty for a slice of a large envelope, except the last. They are valid until the
// next call.
//
// A *CRCError or *SegmentError ends the connection; other errors concern only this segment.
func (s *Segments) Next(b []byte) (envelopes []byte, n int, err error) {
	info, ok, err := parseSegmentHeader(b, s.Compressed)
	if !ok {
		return nil, 0, err
	}
	end := info.header + info.length
	n = end + segmentTrailer
	if len(b) < n {
		return nil, 0, nil
	}
	payload := b[info.header:end:end]
	read := binary.LittleEndian.Uint32(b[end:])
	if computed := crc32Payload(payload); computed != read {
		return nil, 0, &CRCError{Where: "body", Read: read, Computed: computed}
	}
	if info.uncompressed > 0 {
		s.payload, err = appendUnLZ4(s.payload[:0], payload, int64(info.uncompressed), maxSegmentPayload)
		if err != nil {
			return nil, n, err
		}
		payload = s.payload
	}
	if !info.selfContained && len(payload) > 0 {
		payload, err = s.slice(payload)
	}
	return payload, n, err
}

// slice takes one slice of a large envelope and returns the envelope when it is complete.
func (s *Segments) slice(b []byte) ([]byte, error) {
	if s.missing == 0 {
		if err := s.firstSlice(b); err != nil {
			return nil, err
		}
		b = b[HeaderSize:]
	}
	if int64(len(b)) > s.missing {
		return nil, segmentErrorf("The slices of a message are %d bytes longer than the message",
			int64(len(b))-s.missing)
	}
	s.missing -= int64(len(b))
	if !s.skip {
		if err := s.grow(len(b)); err != nil {
			return nil, err
		}
		s.large = append(s.large, b...)
	}
	if s.missing > 0 {
		return nil, nil
	}
	envelope := s.large
	if cap(s.large) > keepBuffer {
		s.large = nil
	}
	return envelope, nil
}

// firstSlice starts a large envelope with its header.
func (s *Segments) firstSlice(b []byte) error {
	if len(b) < HeaderSize {
		return segmentErrorf("The first slice of a message ends inside of its header: %d bytes", len(b))
	}
	h := ParseHeader(b)
	err := CheckLength(h, s.Limit, true)
	if fatal, ok := err.(*SegmentError); ok {
		return fatal
	}
	s.skip = err != nil
	s.missing = int64(h.Length)
	s.total = HeaderSize + int(min(int64(h.Length), int64(s.Limit)))
	s.large = append(s.large[:0], b[:HeaderSize]...)
	return nil
}

// grow makes room for n more bytes of a large envelope. The claimed length of the envelope is not trusted.
func (s *Segments) grow(n int) error {
	if need := len(s.large) + n; need > cap(s.large) {
		size := max(need, min(2*cap(s.large), s.total))
		if more := size - keepBuffer - s.held; s.Reserve != nil && more > 0 {
			if err := s.Reserve(more); err != nil {
				return err
			}
			s.held += more
		}
		s.large = append(make([]byte, 0, size), s.large...)
	}
	return nil
}

// keepBuffer is the size of the largest buffer that is kept for the next large envelope.
const keepBuffer = 128 << 10

// SegmentError is a failure in segments after which nothing can be decoded: it is sent to the client and the
// connection closed.
type SegmentError struct{ Err *cqlerr.Error }

// Error is the message for the client.
func (e *SegmentError) Error() string { return e.Err.Error() }

// Unwrap makes cqlerr.As find the error to send.
func (e *SegmentError) Unwrap() error { return e.Err }

func segmentErrorf(format string, args ...any) *SegmentError {
	return &SegmentError{cqlerr.Protocolf(format, args...)}
}

// CRCError is a wrong checksum. Cassandra prefixes its text with the id of the connection, which only the server
// knows.
type CRCError struct {
	Where          string // header or body
	Read, Computed uint32
}

// Error has both checksums as Java prints an int: the checksum of a body may be negative.
func (e *CRCError) Error() string {
	return fmt.Sprintf("invalid, unrecoverable CRC mismatch detected in frame %s. Read %d, Computed %d",
		e.Where, int32(e.Read), int32(e.Computed))
}

// On is the error to send on a connection.
func (e *CRCError) On(connection string) *cqlerr.Error {
	return cqlerr.Protocolf("%s %s", connection, e.Error())
}

// Segments have two checksums: a CRC24 of their header and a CRC32 of their payload.

// crc24Table has the CRC24 of every byte, with the polynomial 0x1974F0B.
var crc24Table = func() (table [256]uint32) {
	for i := range table {
		crc := uint32(i) << 16
		for range 8 {
			if crc <<= 1; crc&0x1000000 != 0 {
				crc ^= 0x1974F0B
			}
		}
		table[i] = crc & 0xffffff
	}
	return table
}()

// crc24 takes the header's bytes in the order they are sent.
func crc24(b []byte) uint32 {
	crc := uint32(0x875060)
	for _, c := range b {
		crc = crc<<8&0xffffff ^ crc24Table[byte(crc>>16)^c]
	}
	return crc
}

// crc32Seed is the checksum of four bytes that Cassandra prepends to every payload, so that zeros do not have the
// checksum zero. The specification does not mention them.
var crc32Seed = crc32.ChecksumIEEE([]byte{0xFA, 0x2D, 0x55, 0xCA})

func crc32Payload(b []byte) uint32 { return crc32.Update(crc32Seed, crc32.IEEETable, b) }
