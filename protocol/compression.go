package protocol

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/golang/snappy"
	"github.com/pierrec/lz4/v4"

	"github.com/cqld/cqld/cql/cqlerr"
)

// Compression is an algorithm that a connection chose in STARTUP.
//
// In v3 and v4 it compresses the body of every envelope: LZ4 is the uncompressed length in 4 bytes and one block,
// snappy one block, which contains its length. Since v5 it compresses segments, with LZ4 only.
type Compression byte

// The algorithms.
const (
	NoCompression Compression = iota
	LZ4
	Snappy
)

// String is the name of the algorithm in STARTUP.
func (c Compression) String() string { return [...]string{"none", "lz4", "snappy"}[c] }

// Compressions names the algorithms in the order of SUPPORTED.
func Compressions() []string { return []string{Snappy.String(), LZ4.String()} }

// ParseCompression parses the option COMPRESSION of STARTUP.
func ParseCompression(name string, v Version) (Compression, error) {
	switch strings.ToLower(name) {
	case "lz4":
		return LZ4, nil
	case "snappy":
		if !v.HasSnappy() {
			return NoCompression, cqlerr.Protocolf("Snappy compression is not supported in protocol V5")
		}
		return Snappy, nil
	}
	return NoCompression, cqlerr.Protocolf("Unknown compression algorithm: %s", name)
}

// AppendCompressed appends the body of an envelope, compressed.
func (c Compression) AppendCompressed(dst, body []byte) []byte {
	switch c {
	case LZ4:
		return appendLZ4(appendInt(dst, int32(len(body))), body)
	case Snappy:
		n := len(dst)
		dst = slices.Grow(dst, snappy.MaxEncodedLen(len(body)))
		return dst[:n+len(snappy.Encode(dst[n:cap(dst)], body))]
	}
	return append(dst, body...)
}

// AppendDecompressed appends the decompressed body of an envelope. Before allocating it refuses a length over limit,
// or over the maximal expansion of the body.
func (c Compression) AppendDecompressed(dst, body []byte, limit int) ([]byte, error) {
	switch c {
	case LZ4:
		if len(body) < 4 {
			return dst, errNotLZ4
		}
		return appendUnLZ4(dst, body[4:], int64(binary.BigEndian.Uint32(body)), limit)
	case Snappy:
		return appendUnsnappy(dst, body, limit)
	}
	return append(dst, body...), nil
}

// DecompressedLen is the claimed length of the decompressed body of an envelope; 0 if it is malformed.
func (c Compression) DecompressedLen(body []byte) int {
	switch {
	case c == LZ4 && len(body) >= 4:
		return int(binary.BigEndian.Uint32(body))
	case c == Snappy:
		if n, err := snappy.DecodedLen(body); err == nil {
			return n
		}
	}
	return 0
}

// Body returns the body of an envelope for its message: body itself, or body decompressed into scratch. The flag
// matters only if a compression was negotiated.
func (c Compression) Body(h Header, body, scratch []byte, limit int) ([]byte, error) {
	if c == NoCompression || !h.Version.HasBodyCompression() || !h.Flags.Has(FlagCompressed) {
		return body, nil
	}
	return c.AppendDecompressed(scratch[:0], body, limit)
}

// The errors of bodies that cannot be decompressed. Cassandra's for LZ4 is a Java exception with code 0.
var (
	errNotLZ4    = cqlerr.Protocolf("Provided frame does not appear to be LZ4 compressed")
	errNotSnappy = cqlerr.Protocolf("Provided frame does not appear to be Snappy compressed")
)

// Maximal expansion of a byte: LZ4 counts lengths in bytes of 255, and the longest copy of snappy makes 64 bytes of
// 3.
const (
	lz4Expansion    = 255
	snappyExpansion = 22
)

// appendLZ4 appends b as one LZ4 block.
func appendLZ4(dst, b []byte) []byte {
	if len(b) == 0 {
		return append(dst, 0) // a block of no literals
	}
	n := len(dst)
	dst = slices.Grow(dst, lz4.CompressBlockBound(len(b)))
	// With capacity for the worst case it cannot fail.
	size, _ := lz4.CompressBlock(b, dst[n:cap(dst)], nil)
	return dst[:n+size]
}

func appendUnLZ4(dst, block []byte, size int64, limit int) ([]byte, error) {
	if size > int64(len(block))*lz4Expansion {
		return dst, errNotLZ4
	}
	if size > int64(limit) {
		return dst, tooLong(size, limit)
	}
	if size == 0 {
		if len(block) > 1 || len(block) == 1 && block[0] != 0 {
			return dst, errNotLZ4
		}
		return dst, nil
	}
	n := len(dst)
	dst = slices.Grow(dst, int(size))[:n+int(size)]
	got, err := lz4.UncompressBlock(block, dst[n:])
	if err != nil || got != int(size) {
		return dst[:n], errNotLZ4
	}
	return dst, nil
}

func appendUnsnappy(dst, block []byte, limit int) ([]byte, error) {
	size, err := snappy.DecodedLen(block)
	if err != nil || int64(size) > int64(len(block))*snappyExpansion {
		return dst, errNotSnappy
	}
	if size > limit {
		return dst, tooLong(int64(size), limit)
	}
	n := len(dst)
	dst = slices.Grow(dst, size)[:n+size]
	if _, err := snappy.Decode(dst[n:], block); err != nil {
		return dst[:n], errNotSnappy
	}
	return dst, nil
}

func tooLong(size int64, limit int) error {
	return cqlerr.Invalidf("Request is too big: length %d exceeds maximum allowed length %d.", size, limit)
}
