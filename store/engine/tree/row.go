package tree

import (
	"bytes"
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/cqld/cqld/store/engine"
)

// Row is a key and its value in one allocation without pointers. It never changes. The zero row is none.
//
//	<key uint16> <value uint16> <key> <value>
//	<FFFF> <form uint16> <key uint32> <value uint32> <key> <value>	where a length is 65,535 or more
//
// The numbers are lengths. A third form is that of a LongRow.
type Row struct{ first *byte }

const (
	shortHead = 4
	longHead  = 12
	longForm  = math.MaxUint16 // in place of the length of a key

	plain     = 0 // forms of a row with a long head
	withDelta = 1
)

// NewRow copies a key and a value.
func NewRow(key, value []byte) Row {
	r, room := MakeRow(key, len(value))
	copy(room, value)
	return r
}

// MakeRow makes a row with a copy of a key, and returns the space of its value, which the caller fills before the row
// is read.
func MakeRow(key []byte, size int) (r Row, value []byte) {
	if len(key) < longForm && size <= math.MaxUint16 {
		b := make([]byte, shortHead+len(key)+size)
		binary.LittleEndian.PutUint16(b, uint16(len(key)))
		binary.LittleEndian.PutUint16(b[2:], uint16(size))
		copy(b[shortHead:], key)
		return Row{&b[0]}, b[shortHead+len(key):]
	}
	b := make([]byte, longHead+len(key)+size)
	binary.LittleEndian.PutUint16(b, longForm)
	binary.LittleEndian.PutUint16(b[2:], plain)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(key)))
	binary.LittleEndian.PutUint32(b[8:], uint32(size))
	copy(b[longHead:], key)
	return Row{&b[0]}, b[longHead+len(key):]
}

// None reports whether there is no row.
func (r Row) None() bool { return r.first == nil }

// bytes are n bytes of the row from an offset on.
func (r Row) bytes(from, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(r.first), from)), n)
}

// lengths are where the key begins, and the lengths of key and value.
func (r Row) lengths() (head, key, value int) {
	h := r.bytes(0, shortHead)
	if n := binary.LittleEndian.Uint16(h); n != longForm {
		return shortHead, int(n), int(binary.LittleEndian.Uint16(h[2:]))
	}
	h = r.bytes(0, longHead)
	return longHead, int(binary.LittleEndian.Uint32(h[4:])), int(binary.LittleEndian.Uint32(h[8:]))
}

// Key is the row's key.
func (r Row) Key() []byte {
	if n := binary.LittleEndian.Uint16(r.bytes(0, shortHead)); n != longForm {
		return r.bytes(shortHead, int(n))
	}
	if l := r.Long(); l != nil {
		r = l.Base
	}
	head, key, _ := r.lengths()
	return r.bytes(head, key)
}

// Value is the value of a row that is no LongRow.
func (r Row) Value() []byte {
	head, key, value := r.lengths()
	return r.bytes(head+key, value)
}

// touch loads a byte of each cache line of a row, which prefetches it: an ordinary load that misses does not delay the
// instructions after it. Of a row of more than maxTouched bytes it loads only the first line.
func (r Row) touch() (sum byte) {
	const cacheLine, maxTouched = 64, 2048
	h := r.bytes(0, shortHead)
	size := int(binary.LittleEndian.Uint16(h)) + int(binary.LittleEndian.Uint16(h[2:]))
	for at := 0; at == 0 || at <= size && size <= maxTouched; at += cacheLine {
		sum += r.bytes(at, 1)[0]
	}
	return sum
}

// LongRow is a row with a long value, and a delta that was merged into it and is not folded in yet.
type LongRow struct {
	head        [shortHead]byte // <FFFF> <withDelta>
	Base, Delta Row             // they have the same key
}

// NewLongRow adds a delta to a row.
func NewLongRow(base, delta Row) Row {
	l := &LongRow{Base: base, Delta: delta}
	binary.LittleEndian.PutUint16(l.head[:], longForm)
	binary.LittleEndian.PutUint16(l.head[2:], withDelta)
	return Row{&l.head[0]}
}

// Long returns the row with its delta, or nil if it has none.
func (r Row) Long() *LongRow {
	if binary.LittleEndian.Uint32(r.bytes(0, shortHead)) != longForm|withDelta<<16 {
		return nil
	}
	return (*LongRow)(unsafe.Pointer(r.first))
}

// separator makes the shortest key that is greater than before and not greater than key, as a row without a value.
func separator(before, key []byte) Row {
	return NewRow(key[:engine.SharedPrefix(before, key)+1], nil)
}

// headOf is the head of a key: the eight bytes after its first prefix bytes as a number, in which missing bytes are
// zero. The head of a greater key is never smaller.
func headOf(key []byte, prefix int) uint64 {
	if key = key[prefix:]; len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var padded [8]byte
	copy(padded[:], key)
	return binary.BigEndian.Uint64(padded[:])
}

// search returns the place of the first row whose key is not less than key, and whether it is that key. All keys share
// their first prefix bytes.
func search(heads []uint64, rows []Row, key []byte, prefix int) (at int, found bool) {
	h := headOf(key, prefix)
	first, end := 0, len(heads)
	for first < end {
		if middle := int(uint(first+end) >> 1); heads[middle] < h {
			first = middle + 1
		} else {
			end = middle
		}
	}
	for end < len(heads) && heads[end] == h {
		end++
	}
	for first < end {
		middle := int(uint(first+end) >> 1)
		switch order := bytes.Compare(rows[middle].Key()[prefix:], key[prefix:]); {
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
