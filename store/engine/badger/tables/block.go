package tables

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/cqld/cqld/store/engine/keys"
)

// headerSize is the length of an entry's header: how many of the key's bytes are those of the first key, and how many
// follow, each in two bytes.
const headerSize = 4

// What stands behind the entries of a block: their offsets, and about so much more.
const (
	offsetSize  = 4
	trailerSize = 16
)

// touch fetches so many entries on each side of where a key may be, or so many bytes if they are long.
const (
	touchedBeside = 3
	touchedBytes  = 256
)

// block is one of a table's.
type block struct {
	data    []byte // its entries
	first   []byte // the key of the first one
	offsets []byte // of the entries, in the byte order of the machine
	n       int    // entries

	head, next uint64 // of its first key and of the next block's, as in the index
}

// state is what is known of a key.
type state uint8

const (
	unknown state = iota // something is not as expected
	absent
	present
)

// entry is what a table has for a key.
type entry struct {
	meta  byte
	value []byte
}

// block finds the parts of a block.
func (x *index) block(i int) (b block, ok bool) {
	raw := x.data[x.starts[i]:x.starts[i+1]]
	end := int64(len(raw)) - 4
	if end < 0 {
		return b, false
	}
	if end -= 4 + int64(binary.BigEndian.Uint32(raw[end:])); end < 0 {
		return b, false
	}
	n := int64(binary.BigEndian.Uint32(raw[end:]))
	if n == 0 || offsetSize*n > end-headerSize {
		return b, false
	}
	b.data, b.offsets, b.n = raw[:end-offsetSize*n], raw[end-offsetSize*n:end], int(n)
	length := int(binary.NativeEndian.Uint16(b.data[2:]))
	if length < versionSize || headerSize+length > len(b.data) {
		return b, false
	}
	b.first = b.data[headerSize : headerSize+length]
	b.head, b.next = x.heads[i], x.heads[min(i+1, len(x.heads)-1)]
	return b, true
}

// search searches a block for a key, which begins as all keys of the table do, as the block's own search does.
func (x *index) search(number int, key []byte, version uint64) (b block, i int, s state) {
	head := keys.Head(key[len(x.shared):])
	keys.Fetched(x.touch(number, head))
	return x.searchFetched(number, key, version, head)
}

// searchFetched searches a block that touch was called for.
func (x *index) searchFetched(number int, key []byte, version, head uint64) (b block, i int, s state) {
	b, ok := x.block(number)
	if !ok {
		return b, 0, unknown
	}
	i, s = b.search(key, version, head)
	return b, i, s
}

// touch fetches what a search of a block reads, all at the same time: the ends of the block, the offset of the entry
// that may be the one, and that entry with those beside it, as far as their places can be told before any of the block
// is there. It returns a number that is made of all that.
func (x *index) touch(block int, head uint64) (sum uint64) {
	raw := x.data[x.starts[block]:x.starts[block+1]]
	if len(raw) == 0 {
		return 0
	}
	sum = uint64(raw[0]) + uint64(raw[len(raw)-1])
	entries := len(raw) - trailerSize - offsetSize*x.perBlock // bytes
	if entries <= 0 {
		return sum
	}
	part, _ := partOf(head, x.heads[block], x.heads[min(block+1, len(x.heads)-1)])
	sum += uint64(raw[entries+int(part*float64(offsetSize*x.perBlock))])
	at, beside := int(part*float64(entries)), min(touchedBeside*entries/x.perBlock, touchedBytes)
	for from, to := max(at-beside, 0), min(at+beside, entries); from < to; from += keys.LineSize {
		sum += uint64(raw[from])
	}
	return sum
}

// search finds the entry of a key, whose head is given: present; or absent, with the first entry behind.
func (b *block) search(key []byte, version, head uint64) (int, state) {
	part, even := partOf(head, b.head, b.next)
	at := min(int(part*float64(b.n)), b.n-1)
	low, high, found := 0, b.n, false
	for step := 1; low < high; {
		order, same, ok := b.compare(at, key, version)
		if !ok {
			return 0, unknown
		}
		if order < 0 {
			low = at + 1
		} else {
			high, found = at, same
		}
		if even {
			at, step = nextPlace(at, step, low, high, b.n)
		} else {
			at = int(uint(low+high) >> 1)
		}
	}
	if found {
		return low, present
	}
	return low, absent
}

// start is where an entry begins.
func (b *block) start(i int) int { return int(binary.NativeEndian.Uint32(b.offsets[offsetSize*i:])) }

// compare compares an entry with a key and a version: below 0 if it is before them, else same says whether it is of the
// key.
func (b *block) compare(i int, key []byte, version uint64) (order int, same, ok bool) {
	at := b.start(i)
	if at+headerSize > len(b.data) {
		return 0, false, false
	}
	header := b.data[at:]
	overlap, differs := int(binary.NativeEndian.Uint16(header)), int(binary.NativeEndian.Uint16(header[2:]))
	length := overlap + differs - versionSize
	if overlap > len(b.first) || length < 0 || headerSize+differs > len(header) {
		return 0, false, false
	}
	rest := header[headerSize : headerSize+differs]
	common := min(overlap, length)
	if n := min(common, len(key)); n < common {
		if order = bytes.Compare(b.first[:n], key); order == 0 {
			order = 1 // the entry's key goes on
		}
	} else if order = bytes.Compare(b.first[:common], key[:common]); order == 0 {
		order = bytes.Compare(rest[:length-common], key[common:])
	}
	if order != 0 {
		return order, false, true
	}
	var v [versionSize]byte
	n := 0
	if overlap > length {
		n = copy(v[:], b.first[length:overlap])
	}
	copy(v[n:], rest[length-common:])
	switch found := math.MaxUint64 - binary.BigEndian.Uint64(v[:]); {
	case found > version:
		return -1, true, true
	case found < version:
		return 1, true, true
	}
	return 0, true, true
}

// entry returns the value of an entry that was compared, if it is there.
func (b *block) entry(i int, s state) (entry, state) {
	if s != present {
		return entry{}, s
	}
	end := len(b.data)
	if i+1 < b.n {
		end = b.start(i + 1)
	}
	at := b.start(i)
	from := at + headerSize + int(binary.NativeEndian.Uint16(b.data[at+2:]))
	if end > len(b.data) || from+3 > end {
		return entry{}, unknown
	}
	raw := b.data[from:end:end]
	if raw[2] != 0 { // it expires, which nothing does here
		return entry{}, unknown
	}
	return entry{raw[0], raw[3:]}, present
}
