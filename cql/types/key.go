package types

import (
	"bytes"
	"encoding/binary"
)

// Keys of values of a fixed size begin with a byte that sorts the empty value before the others. Keys of
// collections and tuples have such a byte before each element: the end of a shorter collection, then
// null, then values.
const (
	keyEmpty = 0x00
	keyValue = 0x01

	keyInvalid = 0x02 // before the bytes of a tuple that is not valid

	keyEnd     = 0x00
	keyNull    = 0x01
	keyElement = 0x02
)

// signBit in the first byte of a signed number makes unsigned order its order.
const signBit = 0x80

// mask is combined with every byte of a key by XOR: descending keys have all bits inverted.
func mask(desc bool) byte {
	if desc {
		return 0xFF
	}
	return 0
}

// appendFixedKey encodes a value of fixed size: sign is signBit for signed numbers, else 0.
func appendFixedKey(dst, b []byte, sign byte, desc bool) []byte {
	m := mask(desc)
	if len(b) == 0 {
		return append(dst, keyEmpty^m)
	}
	dst = append(dst, keyValue^m, b[0]^sign^m)
	for _, c := range b[1:] {
		dst = append(dst, c^m)
	}
	return dst
}

// decodeFixedKey decodes the result of appendFixedKey for size bytes.
func decodeFixedKey(dst, key []byte, size int, sign byte, desc bool) (value, rest []byte, err error) {
	m := mask(desc)
	if len(key) == 0 {
		return nil, nil, errKey
	}
	if key[0]^m == keyEmpty {
		return notNil(dst), key[1:], nil
	}
	if key[0]^m != keyValue || len(key) < 1+size {
		return nil, nil, errKey
	}
	n := len(dst)
	if size == 8 {
		dst = binary.BigEndian.AppendUint64(dst, binary.BigEndian.Uint64(key[1:]))
	} else {
		dst = append(dst, key[1:1+size]...)
	}
	if desc {
		for i := range dst[n:] {
			dst[n+i] ^= m
		}
	}
	dst[n] ^= sign
	return dst, key[1+size:], nil
}

// appendBytesKey encodes bytes of any length: a zero byte is followed by FF, and the end is two zeros.
func appendBytesKey(dst, b []byte, desc bool) []byte {
	m := mask(desc)
	for len(b) > 0 {
		n := bytes.IndexByte(b, 0)
		if n < 0 {
			n = len(b)
		}
		if desc {
			for _, c := range b[:n] {
				dst = append(dst, ^c)
			}
		} else {
			dst = append(dst, b[:n]...)
		}
		if n == len(b) {
			break
		}
		dst = append(dst, m, ^m)
		b = b[n+1:]
	}
	return append(dst, m, m)
}

// decodeBytesKey decodes the result of appendBytesKey.
func decodeBytesKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	m := mask(desc)
	for {
		n := bytes.IndexByte(key, m)
		if n < 0 || n+1 == len(key) {
			return nil, nil, errKey
		}
		if desc {
			for _, c := range key[:n] {
				dst = append(dst, ^c)
			}
		} else {
			dst = append(dst, key[:n]...)
		}
		switch key[n+1] ^ m {
		case 0x00:
			return notNil(dst), key[n+2:], nil
		case 0xFF:
			dst = append(dst, 0)
		default:
			return nil, nil, errKey
		}
		key = key[n+2:]
	}
}

// notNil makes an empty value of nil, which would be null.
func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// compareEmpty orders two values of which at least one may be empty; done is false when neither is.
func compareEmpty(a, b []byte) (order int, done bool) {
	switch {
	case len(a) > 0 && len(b) > 0:
		return 0, false
	case len(a) > 0:
		return 1, true
	case len(b) > 0:
		return -1, true
	}
	return 0, true
}
