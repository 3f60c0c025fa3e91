package memory

import (
	"bytes"
	"encoding/binary"
	"math"
	"unsafe"
)

// row is a key and its value in one allocation without pointers. It never changes. The zero row is none.
//
//	<key uint16> <value uint16> <key> <value>
//	<FFFF> <form uint16> <key uint32> <value uint32> <key> <value>	where a length is 65,535 or more
//
// The numbers are lengths. A third form is that of a longRow.
type row struct{ first *byte }

const (
	shortHead = 4
	longHead  = 12
	longForm  = math.MaxUint16 // in place of the length of a key

	plain  = 0 // forms of a row with a long head
	tailed = 1
)

// newRow copies a key and a value.
func newRow(key, value []byte) row {
	if len(key) < longForm && len(value) <= math.MaxUint16 {
		b := make([]byte, shortHead+len(key)+len(value))
		binary.LittleEndian.PutUint16(b, uint16(len(key)))
		binary.LittleEndian.PutUint16(b[2:], uint16(len(value)))
		copy(b[shortHead:], key)
		copy(b[shortHead+len(key):], value)
		return row{&b[0]}
	}
	b := make([]byte, longHead+len(key)+len(value))
	binary.LittleEndian.PutUint16(b, longForm)
	binary.LittleEndian.PutUint16(b[2:], plain)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(key)))
	binary.LittleEndian.PutUint32(b[8:], uint32(len(value)))
	copy(b[longHead:], key)
	copy(b[longHead+len(key):], value)
	return row{&b[0]}
}

// none reports whether there is no row.
func (r row) none() bool { return r.first == nil }

// bytes are n bytes of the row from an offset on.
func (r row) bytes(from, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(r.first), from)), n)
}

// lengths are where the key begins, and the lengths of key and value.
func (r row) lengths() (head, key, value int) {
	h := r.bytes(0, shortHead)
	if n := binary.LittleEndian.Uint16(h); n != longForm {
		return shortHead, int(n), int(binary.LittleEndian.Uint16(h[2:]))
	}
	h = r.bytes(0, longHead)
	return longHead, int(binary.LittleEndian.Uint32(h[4:])), int(binary.LittleEndian.Uint32(h[8:]))
}

// key is the row's key.
func (r row) key() []byte {
	if n := binary.LittleEndian.Uint16(r.bytes(0, shortHead)); n != longForm {
		return r.bytes(shortHead, int(n))
	}
	if l := r.long(); l != nil {
		r = l.base
	}
	head, key, _ := r.lengths()
	return r.bytes(head, key)
}

// value is the value of a row that is no longRow.
func (r row) value() []byte {
	head, key, value := r.lengths()
	return r.bytes(head+key, value)
}

// longRow is a row with a long value, and what was merged into it since and is not folded in yet.
type longRow struct {
	head       [shortHead]byte // <FFFF> <tailed>
	base, tail row             // they have the same key
}

// newLongRow puts a tail to a row.
func newLongRow(base, tail row) row {
	l := &longRow{base: base, tail: tail}
	binary.LittleEndian.PutUint16(l.head[:], longForm)
	binary.LittleEndian.PutUint16(l.head[2:], tailed)
	return row{&l.head[0]}
}

// long returns the row with its tail, nil if it has none.
func (r row) long() *longRow {
	if binary.LittleEndian.Uint32(r.bytes(0, shortHead)) != longForm|tailed<<16 {
		return nil
	}
	return (*longRow)(unsafe.Pointer(r.first))
}

// separator makes the shortest key that is greater than before and not greater than key, as a row without a value.
func separator(before, key []byte) row {
	return newRow(key[:commonPrefix(before, key)+1], nil)
}

// commonPrefix is how many bytes two keys have in common at the beginning.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// headOf is the first eight bytes of what follows the first prefix bytes of a key, as a number that compares as they
// do. Missing bytes are zero.
func headOf(key []byte, prefix int) uint64 {
	rest := key[prefix:]
	if len(rest) >= 8 {
		return binary.BigEndian.Uint64(rest)
	}
	var padded [8]byte
	copy(padded[:], rest)
	return binary.BigEndian.Uint64(padded[:])
}

// search returns the first of some rows whose key is not less than key, and whether it is that key. All keys have their
// first prefix bytes in common.
func search(heads []uint64, rows []row, key []byte, prefix int) (at int, found bool) {
	h := headOf(key, prefix)
	first, end := 0, len(heads)
	for first < end {
		if middle := int(uint(first+end) >> 1); heads[middle] < h {
			first = middle + 1
		} else {
			end = middle
		}
	}
	for end = first; end < len(heads) && heads[end] == h; {
		end++
	}
	for first < end {
		middle := int(uint(first+end) >> 1)
		switch order := bytes.Compare(rows[middle].key()[prefix:], key[prefix:]); {
		case order == 0:
			return middle, true
		case order < 0:
			first = middle + 1
		default:
			end = middle
		}
	}
	return first, false
}
