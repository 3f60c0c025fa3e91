package types

import "math/bits"

// AppendVInt appends v as an unsigned vint: the leading one bits of the first byte count the bytes that
// follow it.
func AppendVInt(dst []byte, v uint64) []byte {
	extra := vintSize(v) - 1
	if extra == 8 {
		dst = append(dst, 0xFF)
	} else {
		dst = append(dst, byte(v>>(8*extra))|^byte(0xFF>>extra))
	}
	for i := extra - 1; i >= 0; i-- {
		dst = append(dst, byte(v>>(8*i)))
	}
	return dst
}

// vintSize is the number of bytes that AppendVInt appends: the fewest that v can have.
func vintSize(v uint64) int { return min(9, 1+(bits.Len64(v|1)-1)/7) }

// CutVInt reads the unsigned vint at the beginning of b and returns its length, which is 0 if b is too short.
func CutVInt(b []byte) (v uint64, n int) {
	if len(b) == 0 {
		return 0, 0
	}
	extra := bits.LeadingZeros8(^b[0])
	if len(b) < 1+extra {
		return 0, 0
	}
	if extra < 8 {
		v = uint64(b[0] & (0xFF >> extra))
	}
	for _, c := range b[1 : 1+extra] {
		v = v<<8 | uint64(c)
	}
	return v, 1 + extra
}

// appendSignedVInt appends v as a signed vint: small numbers of both signs are short.
func appendSignedVInt(dst []byte, v int64) []byte {
	return AppendVInt(dst, uint64(v<<1^v>>63))
}

// signedVInt reads a signed vint and returns its length, which is 0 if b is too short.
func signedVInt(b []byte) (v int64, n int) {
	u, n := CutVInt(b)
	return int64(u>>1) ^ -int64(u&1), n
}
