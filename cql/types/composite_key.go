package types

import (
	"encoding/binary"
	"errors"
)

// A partition key of several columns is their values one behind the other, each with its length in 2 bytes in front and
// a zero behind it. A partition key of one column is the value alone.

// errCompositeKey is for bytes from outside: a partition key of the wrong table, for example.
var errCompositeKey = errors.New("types: malformed composite partition key")

// AppendCompositeKey appends one value of a partition key of several columns.
func AppendCompositeKey(dst, value []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(value)))
	return append(append(dst, value...), 0)
}

// CutCompositeKey cuts the first value off a partition key of several columns; they share the key's memory.
func CutCompositeKey(key []byte) (value, rest []byte, err error) {
	if len(key) < 2 {
		return nil, nil, errCompositeKey
	}
	end := 2 + int(binary.BigEndian.Uint16(key))
	if len(key) <= end {
		return nil, nil, errCompositeKey
	}
	return key[2:end:end], key[end+1:], nil
}

// SplitCompositeKey returns the values of a partition key of n columns. They share the key's memory.
func SplitCompositeKey(key []byte, n int) (values [][]byte, err error) {
	if n == 1 {
		return [][]byte{key}, nil
	}
	values = make([][]byte, n)
	for i := range values {
		if values[i], key, err = CutCompositeKey(key); err != nil {
			return nil, err
		}
	}
	if len(key) > 0 {
		return nil, errCompositeKey
	}
	return values, nil
}
