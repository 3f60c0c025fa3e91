package wire

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/golang/snappy"
	"github.com/pierrec/lz4/v4"
)

// envelope is one message: a header of 9 bytes and its body, decompressed.
type envelope struct {
	header [9]byte
	body   []byte
}

func (e *envelope) opcode() byte { return e.header[4] }
func (e *envelope) stream() int  { return int(int16(binary.BigEndian.Uint16(e.header[2:]))) }

// bytes is the envelope as it was, but for the length of a body that was compressed.
func (e *envelope) bytes() []byte {
	h := e.header
	binary.BigEndian.PutUint32(h[5:], uint32(len(e.body)))
	return append(h[:], e.body...)
}

const (
	maxPayload        = 131071
	flagCompressed    = 0x01
	flagCustomPayload = 0x04
)

// takeEnvelope reads an envelope from the beginning of b; nil if there is not a whole one. The compression is
// that of the connection, for versions that compress bodies.
func takeEnvelope(b []byte, compression string) (*envelope, []byte, error) {
	if len(b) < 9 {
		return nil, b, nil
	}
	n := int(int32(binary.BigEndian.Uint32(b[5:])))
	if n < 0 || n > 256<<20 {
		return nil, b, fmt.Errorf("an envelope of %d bytes", n)
	}
	if len(b) < 9+n {
		return nil, b, nil
	}
	e := &envelope{header: [9]byte(b), body: b[9 : 9+n]}
	if e.header[1]&flagCompressed != 0 {
		var err error
		if e.body, err = decompressBody(e.body, compression); err != nil {
			return nil, b, err
		}
	}
	return e, b[9+n:], nil
}

func decompressBody(b []byte, compression string) ([]byte, error) {
	if compression == "snappy" {
		return snappy.Decode(nil, b)
	}
	if len(b) < 4 {
		return nil, fmt.Errorf("a compressed body of %d bytes", len(b))
	}
	return decompressBlock(b[4:], int(binary.BigEndian.Uint32(b)))
}

func decompressBlock(b []byte, size int) ([]byte, error) {
	out := make([]byte, size)
	n, err := lz4.UncompressBlock(b, out)
	if err == nil && n != size {
		err = fmt.Errorf("%d bytes decompressed, %d announced", n, size)
	}
	return out, err
}

// takeSegment reads a v5 segment from the beginning of b and returns its payload and the length of its header;
// nil if there is not a whole one.
func takeSegment(b []byte, compressed bool) (payload, rest []byte, header int, err error) {
	header = 6
	if compressed {
		header = 8
	}
	if len(b) < header {
		return nil, b, 0, nil
	}
	var bits uint64
	for i := range header - 3 {
		bits |= uint64(b[i]) << (8 * i)
	}
	sum := uint32(b[header-3]) | uint32(b[header-2])<<8 | uint32(b[header-1])<<16
	if got := crc24(b[:header-3]); got != sum {
		return nil, b, 0, fmt.Errorf("the header's CRC is %#x, want %#x", sum, got)
	}
	size := int(bits & maxPayload)
	if len(b) < header+size+4 {
		return nil, b, 0, nil
	}
	payload, rest = b[header:header+size], b[header+size+4:]
	if got, sum := payloadCRC(payload), binary.LittleEndian.Uint32(b[header+size:]); got != sum {
		return nil, b, 0, fmt.Errorf("the payload's CRC is %#x, want %#x", sum, got)
	}
	if full := int(bits >> 17 & maxPayload); compressed && full > 0 {
		payload, err = decompressBlock(payload, full)
	}
	return payload, rest, header, err
}

// segments puts an envelope into as many segments as it needs, stored when the connection compresses.
func segments(e []byte, compressed bool) []byte {
	var out []byte
	whole := len(e) <= maxPayload
	for {
		n := min(len(e), maxPayload)
		header := 6
		bits := uint64(n)
		if whole {
			bits |= 1 << 17
		}
		if compressed {
			header = 8
			bits = uint64(n)
			if whole {
				bits |= 1 << 34
			}
		}
		var h [8]byte
		binary.LittleEndian.PutUint64(h[:], bits)
		sum := crc24(h[:header-3])
		out = append(out, h[:header-3]...)
		out = append(out, byte(sum), byte(sum>>8), byte(sum>>16))
		out = append(out, e[:n]...)
		out = binary.LittleEndian.AppendUint32(out, payloadCRC(e[:n]))
		if e = e[n:]; len(e) == 0 {
			return out
		}
	}
}

// crc24 is the checksum of segment headers: polynomial 0x1974F0B, initial value 0x875060, over the bytes of
// the header in order.
func crc24(b []byte) uint32 {
	crc := uint32(0x875060)
	for _, c := range b {
		crc ^= uint32(c) << 16
		for range 8 {
			if crc <<= 1; crc&0x1000000 != 0 {
				crc ^= 0x1974f0b
			}
		}
	}
	return crc
}

// payloadCRC is the CRC32 of payloads, begun with four bytes that are not sent.
func payloadCRC(b []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE([]byte{0xfa, 0x2d, 0x55, 0xca}), crc32.IEEETable, b)
}
