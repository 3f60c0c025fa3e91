package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
)

// value describes the value of a cell. Its bytes are derived from the seed and the length.
type value struct {
	seed   uint64 // a number, or the seed of a blob's bytes
	length uint32 // in bytes; 0: null
}

// kind is the type of a column.
type kind int

const (
	integer kind = iota // an int
	word                // a text
	blob
	counter
)

// minBlob is the length of the seed at the beginning of a blob.
const minBlob = 8

// wordPrefix begins the texts, so that they differ from the numbers.
const wordPrefix = "w"

func integerValue(n uint64) value { return value{n, 4} }

func counterValue(n int64) value { return value{uint64(n), 8} }

func wordValue(n uint64) value {
	return value{n, uint32(len(wordPrefix) + len(strconv.FormatUint(n, 10)))}
}

// blobValue is a blob of at least minBlob bytes.
func blobValue(seed uint64, length int) value { return value{seed, uint32(max(length, minBlob))} }

// bytes encodes the value; null is nil.
func (v value) bytes(k kind) []byte {
	switch {
	case v.length == 0:
		return nil
	case k == integer:
		return binary.BigEndian.AppendUint32(nil, uint32(v.seed))
	case k == counter:
		return binary.BigEndian.AppendUint64(nil, v.seed)
	case k == word:
		return strconv.AppendUint([]byte(wordPrefix), v.seed, 10)
	}
	b := make([]byte, v.length)
	fillBlob(b, v.seed)
	return b
}

// parseValue finds the value with the given bytes.
func parseValue(b []byte, k kind) (value, error) {
	v := value{length: uint32(len(b))}
	switch {
	case len(b) == 0:
		return v, nil
	case k == integer && len(b) == 4:
		v.seed = uint64(binary.BigEndian.Uint32(b))
	case k == counter && len(b) == 8:
		v.seed = binary.BigEndian.Uint64(b)
	case k == word:
		v.seed, _ = strconv.ParseUint(string(bytes.TrimPrefix(b, []byte(wordPrefix))), 10, 64)
	case k == blob && len(b) >= minBlob:
		v.seed = binary.BigEndian.Uint64(b)
	}
	if !bytes.Equal(v.bytes(k), b) {
		return v, fmt.Errorf("%d bytes that were never written, which begin with %.16x", len(b), b)
	}
	return v, nil
}

// fillBlob writes the seed and the random bytes derived from it by splitmix64.
func fillBlob(b []byte, seed uint64) {
	binary.BigEndian.PutUint64(b, seed)
	b = b[minBlob:]
	var last [8]byte
	for len(b) > 0 {
		seed += 0x9e3779b97f4a7c15
		z := (seed ^ seed>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
		if len(b) < len(last) {
			binary.LittleEndian.PutUint64(last[:], z)
			copy(b, last[:])
			return
		}
		binary.LittleEndian.PutUint64(b, z)
		b = b[8:]
	}
}

// text prints the value of a column.
func (v value) text(k kind) string {
	switch {
	case v.length == 0:
		return "null"
	case k == blob:
		return fmt.Sprintf("blob %x of %d bytes", v.seed, v.length)
	case k == counter:
		return strconv.FormatInt(int64(v.seed), 10)
	case k == word:
		return wordPrefix + strconv.FormatUint(v.seed, 10)
	}
	return strconv.FormatUint(v.seed, 10)
}
