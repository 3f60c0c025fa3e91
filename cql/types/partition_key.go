package types

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

// A partition key of several columns is, for each value, its length in 2 bytes, its bytes and a zero. A partition key
// of one column is the value alone.

// errCompositeKey is returned for bytes from outside, for example the partition key of another table.
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

// Token is the place of a serialized partition key on the ring: the first half of MurmurHash3 (x64, 128 bits, seed
// 0), with Cassandra's deviation that the bytes after the last whole block are signed.
func Token(partitionKey []byte) int64 {
	if len(partitionKey) == 0 {
		return math.MinInt64
	}
	h1 := murmur3(partitionKey)
	if h1 == math.MinInt64 {
		return math.MaxInt64
	}
	return h1
}

// The factors that MurmurHash3 mixes a block by.
const (
	murmurC1 = 0x87c37b91114253d5
	murmurC2 = 0x4cf5ad432745937f
)

// murmur3 is the first half of the hash.
func murmur3(key []byte) int64 {
	var h1, h2 uint64
	tail := key
	for len(tail) >= 16 {
		h1 ^= mixFirst(binary.LittleEndian.Uint64(tail))
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
		h2 ^= mixSecond(binary.LittleEndian.Uint64(tail[8:]))
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
		tail = tail[16:]
	}
	var k1, k2 uint64
	for i, c := range tail {
		// The sign of a byte reaches into the bytes above it.
		signed := uint64(int64(int8(c)))
		if i < 8 {
			k1 ^= signed << (8 * i)
		} else {
			k2 ^= signed << (8 * (i - 8))
		}
	}
	h1 ^= mixFirst(k1)
	h2 ^= mixSecond(k2)
	h1 ^= uint64(len(key))
	h2 ^= uint64(len(key))
	h1 += h2
	h2 += h1
	return int64(finalMix(h1) + finalMix(h2))
}

// mixFirst prepares the first 8 bytes of a block.
func mixFirst(k uint64) uint64 { return bits.RotateLeft64(k*murmurC1, 31) * murmurC2 }

// mixSecond prepares the other 8 bytes of a block.
func mixSecond(k uint64) uint64 { return bits.RotateLeft64(k*murmurC2, 33) * murmurC1 }

// finalMix spreads every bit of k over all 64.
func finalMix(k uint64) uint64 {
	k = (k ^ k>>33) * 0xff51afd7ed558ccd
	k = (k ^ k>>33) * 0xc4ceb9fe1a85ec53
	return k ^ k>>33
}
