package protocol

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"unicode/utf8"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// reader decodes the notation of section 3. It keeps the first error, after which every method returns zero values;
// decoding is a list of calls with one check at the end. Byte slices alias the body.
//
// Like Cassandra it ignores bytes that are left over.
type reader struct {
	b   []byte
	err error
}

// fail records an error and drops the rest of the body, so that loops end.
func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.b = nil
}

// take returns the next n bytes, or nil and fails.
func (r *reader) take(n int, element string) []byte {
	if r.err != nil || n < 0 || n > len(r.b) {
		if r.err == nil {
			r.fail(cqlerr.Protocolf("Not enough bytes in the message body to read %s", element))
		}
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

// maxReused is the largest slice that a message keeps for the next one of its kind.
const maxReused = 4096

// reuse empties a slice of a message.
func reuse[T any](s []T) []T {
	if cap(s) > maxReused {
		return nil
	}
	return s[:0]
}

func (r *reader) byte() byte {
	if b := r.take(1, "a [byte]"); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) short() int {
	if b := r.take(2, "a [short]"); b != nil {
		return int(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (r *reader) int() int32 {
	if b := r.take(4, "an [int]"); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *reader) long() int64 {
	if b := r.take(8, "a [long]"); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (r *reader) uuid() (id [16]byte) {
	copy(id[:], r.take(16, "a [uuid]"))
	return id
}

// text returns the next n bytes as a string; missing is the error if they are not there.
func (r *reader) text(n int, missing string) string {
	if r.err != nil {
		return ""
	}
	if n < 0 || n > len(r.b) {
		r.fail(cqlerr.Protocolf(missing))
		return ""
	}
	b := r.b[:n]
	r.b = r.b[n:]
	if !utf8.Valid(b) {
		r.fail(invalidUTF8(b))
		return ""
	}
	return string(b)
}

const (
	missingString     = "Not enough bytes to read an UTF8 serialized string preceded by its 2 bytes length"
	missingLongString = "Not enough bytes to read an UTF8 serialized string preceded by its 4 bytes length"
	missingBytes      = "Not enough bytes to read a byte array preceded by its 2 bytes length"
)

func (r *reader) string() string {
	n := -1
	if len(r.b) >= 2 {
		n = r.short()
	}
	return r.text(n, missingString)
}

func (r *reader) longString() string {
	n := -1
	if len(r.b) >= 4 {
		n = int(r.int())
	}
	return r.text(n, missingLongString)
}

func (r *reader) shortBytes() []byte {
	if r.err != nil {
		return nil
	}
	if len(r.b) < 2 || len(r.b)-2 < int(binary.BigEndian.Uint16(r.b)) {
		r.fail(cqlerr.Protocolf(missingBytes))
		return nil
	}
	return r.take(r.short(), "")
}

// bytes decodes a [bytes]: nil for any negative length.
func (r *reader) bytes() []byte {
	n := r.int()
	if n < 0 || r.err != nil {
		return nil
	}
	return r.take(int(n), "[bytes] of the announced length")
}

// value decodes a [value], or a [bytes] for versions without unset values.
func (r *reader) value(v Version) types.Value {
	n := r.int()
	switch {
	case r.err != nil:
		return types.Value{}
	case n >= 0:
		return types.Value{Bytes: r.take(int(n), "a [value] of the announced length")}
	case n == -1 || !v.HasUnset():
		return types.Value{}
	case n == -2:
		return types.Value{Unset: true}
	}
	r.fail(cqlerr.Protocolf("Invalid ByteBuf length %d", n))
	return types.Value{}
}

func (r *reader) consistency() cqlerr.Consistency {
	c := cqlerr.Consistency(r.short())
	if !c.Known() {
		r.fail(cqlerr.Protocolf("Unknown code %d for a consistency level", uint16(c)))
	}
	return c
}

// inetaddr decodes an address without a port.
func (r *reader) inetaddr() netip.Addr {
	n := r.byte()
	if r.err == nil && n != 4 && n != 16 {
		r.fail(cqlerr.Protocolf("Invalid address length: %d", n))
	}
	addr, _ := netip.AddrFromSlice(r.take(int(n), "an [inetaddr]"))
	return addr
}

func (r *reader) inet() netip.AddrPort {
	addr := r.inetaddr()
	return netip.AddrPortFrom(addr, uint16(r.int()))
}

func (r *reader) stringList() []string {
	return r.appendStrings(nil)
}

// appendStrings appends the strings of a [string list] to dst.
func (r *reader) appendStrings(dst []string) []string {
	for n := r.short(); n > 0 && r.err == nil; n-- {
		if s := r.string(); r.err == nil {
			dst = append(dst, s)
		}
	}
	return dst
}

// invalidUTF8 is Cassandra's error for a string with a malformed character.
func invalidUTF8(b []byte) error {
	for len(b) > 0 {
		c, size := utf8.DecodeRune(b)
		if c == utf8.RuneError && size == 1 {
			break
		}
		b = b[size:]
	}
	return cqlerr.Protocolf("Cannot decode string as UTF8: '%s'; java.nio.charset.MalformedInputException: "+
		"Input length = %d", hex.EncodeToString(b), malformedLength(b))
}

// malformedLength is the length that Java reports for the malformed character at the beginning of b.
func malformedLength(b []byte) int {
	sequence := 1
	switch {
	case b[0] >= 0xf0 && b[0] <= 0xf4:
		sequence = 4
	case b[0] >= 0xe0 && b[0] < 0xf0:
		sequence = 3
	case b[0] >= 0xc2 && b[0] < 0xe0:
		sequence = 2
	}
	if sequence == 3 && len(b) >= 3 && b[0] == 0xed && b[1]&0xe0 == 0xa0 && b[2]&0xc0 == 0x80 {
		return 3 // a surrogate
	}
	for i := 1; i < sequence; i++ {
		switch {
		case i == len(b):
			return len(b) // it ends before the character does
		case b[i]&0xc0 != 0x80, i == 1 && b[0] == 0xe0 && b[1] < 0xa0,
			i == 1 && b[0] == 0xf0 && b[1] < 0x90, i == 1 && b[0] == 0xf4 && b[1] > 0x8f:
			return i
		}
	}
	return 1
}
