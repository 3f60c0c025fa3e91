package protocol

import (
	"encoding/binary"
	"net/netip"
	"unicode/utf8"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// The append functions encode the notation of section 3. Values with a 2 byte length or count are truncated if too
// long: only texts of errors and warnings can be.
const maxShort = 0xffff

func appendShort(dst []byte, n int) []byte { return binary.BigEndian.AppendUint16(dst, uint16(n)) }

func appendInt(dst []byte, n int32) []byte { return binary.BigEndian.AppendUint32(dst, uint32(n)) }

func appendLong(dst []byte, n int64) []byte  { return binary.BigEndian.AppendUint64(dst, uint64(n)) }
func appendCount(dst []byte, n int) []byte   { return appendShort(dst, min(n, maxShort)) }
func appendBool(dst []byte, set bool) []byte { return append(dst, boolByte(set)) }

func boolByte(set bool) byte {
	if set {
		return 1
	}
	return 0
}

func appendConsistency(dst []byte, c cqlerr.Consistency) []byte { return appendShort(dst, int(c)) }

// appendString truncates a too long string between two characters.
func appendString(dst []byte, s string) []byte {
	if len(s) > maxShort {
		n := maxShort
		for n > maxShort-utf8.UTFMax && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n]
	}
	return append(appendShort(dst, len(s)), s...)
}

func appendLongString(dst []byte, s string) []byte {
	return append(appendInt(dst, int32(len(s))), s...)
}

func appendShortBytes(dst, b []byte) []byte {
	b = b[:min(len(b), maxShort)]
	return append(appendShort(dst, len(b)), b...)
}

// appendBytes encodes nil as null.
func appendBytes(dst, b []byte) []byte {
	if b == nil {
		return appendInt(dst, -1)
	}
	return append(appendInt(dst, int32(len(b))), b...)
}

func appendValue(dst []byte, val types.Value, v Version) []byte {
	if val.Unset && v.HasUnset() {
		return appendInt(dst, -2)
	}
	return appendBytes(dst, val.Bytes)
}

func appendStringList(dst []byte, list []string) []byte {
	list = list[:min(len(list), maxShort)]
	dst = appendShort(dst, len(list))
	for _, s := range list {
		dst = appendString(dst, s)
	}
	return dst
}

// appendInetaddr encodes an address without a port; the zero Addr becomes 0.0.0.0.
func appendInetaddr(dst []byte, addr netip.Addr) []byte {
	if !addr.IsValid() {
		addr = netip.IPv4Unspecified()
	}
	b := addr.Unmap().AsSlice()
	return append(append(dst, byte(len(b))), b...)
}

func appendInet(dst []byte, addr netip.AddrPort) []byte {
	return appendInt(appendInetaddr(dst, addr.Addr()), int32(addr.Port()))
}
