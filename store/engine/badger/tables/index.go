package tables

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"

	"github.com/cqld/cqld/store/engine/keys"
)

// A key in a table has its version behind it, in so many bytes, the newest first.
const versionSize = 8

// index says where a key is in a table.
//
// A table is blocks and an index of Badger's. A block is entries, their offsets, the number of entries, a checksum and
// its length. An entry is a header, the key without what it has in common with the first key of the block, and the
// value.
type index struct {
	data   []byte // of the blocks, mapped
	filter y.Filter
	shared []byte   // what all keys begin with
	heads  []uint64 // of the first keys of the blocks, behind that
	starts []uint32 // of the blocks, and behind the last one
}

// headSize is what an index keeps of a block.
const headSize = 8 + 4

// headerSize is the length of an entry's header: how many of the key's bytes are those of the first key, and how many
// follow, each in two bytes.
const headerSize = 4

// newIndex reads the index of a table, which has checksums that were looked at. It is nil if the table is not made as
// expected. Package check reads the same of a file.
func newIndex(t *table.Table) *index {
	if t.CompressionType() != options.None || t.KeyID() != 0 {
		return nil
	}
	data := t.Data
	end := len(data)
	before := func() []byte { // what stands in front of its length
		if end < 4 {
			return nil
		}
		length := int64(binary.BigEndian.Uint32(data[end-4:]))
		if int64(end-4) < length {
			return nil
		}
		b := data[end-4-int(length) : end-4]
		end -= 4 + int(length)
		return b
	}
	before() // the checksum
	raw := before()
	if len(raw) < 8 || len(t.Smallest()) < versionSize || len(t.Biggest()) < versionSize {
		return nil
	}
	theirs := fb.GetRootAsTableIndex(raw, 0)
	n := theirs.OffsetsLength()
	if n == 0 {
		return nil
	}
	x := &index{filter: theirs.BloomFilterBytes(), heads: make([]uint64, n), starts: make([]uint32, n+1)}
	first, last := withoutVersion(t.Smallest()), withoutVersion(t.Biggest())
	x.shared = first[:keys.Shared(first, last)]
	var at fb.BlockOffset
	for i := range n {
		if !theirs.Offsets(&at, i) || i > 0 && at.Offset() != x.starts[i] || i == 0 && at.Offset() != 0 {
			return nil
		}
		key := at.KeyBytes()
		if len(key) < versionSize || !bytes.HasPrefix(withoutVersion(key), x.shared) ||
			uint64(at.Offset())+uint64(at.Len()) > min(uint64(end), math.MaxUint32) {
			return nil
		}
		x.heads[i] = keys.Head(withoutVersion(key)[len(x.shared):])
		x.starts[i+1] = at.Offset() + at.Len()
	}
	x.data = data[:x.starts[n]]
	return x
}

func withoutVersion(key []byte) []byte { return key[:len(key)-versionSize] }

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

// find finds the newest version of a key that is no newer than version.
func (x *index) find(key []byte, version uint64) (entry, state) {
	if !bytes.HasPrefix(key, x.shared) {
		return entry{}, absent
	}
	next, ok := x.firstBehind(key, version)
	if !ok {
		return entry{}, unknown
	}
	if next > 0 {
		b, ok := x.block(next - 1)
		if !ok {
			return entry{}, unknown
		}
		i, s := b.search(key, version, keys.Head(key[len(x.shared):]))
		if s != absent {
			return b.entry(i, s)
		}
		if i < b.n {
			return entry{}, absent
		}
	}
	if next == len(x.heads) {
		return entry{}, absent
	}
	b, ok := x.block(next) // may begin with an older version of the key
	if !ok {
		return entry{}, unknown
	}
	order, same, ok := b.compare(0, key, version)
	switch {
	case !ok:
		return entry{}, unknown
	case order < 0 || !same:
		return entry{}, absent
	}
	return b.entry(0, present)
}

// firstBehind is the first block whose first key is behind key, which begins as all keys of the table do.
func (x *index) firstBehind(key []byte, version uint64) (at int, ok bool) {
	head := keys.Head(key[len(x.shared):])
	low := lowerBound(x.heads, head)
	high := low
	for high < len(x.heads) && x.heads[high] == head {
		if high++; high-low > 8 {
			high = low + upperBound(x.heads[low:], head)
			break
		}
	}
	for low < high {
		mid := int(uint(low+high) >> 1)
		b, ok := x.block(mid)
		if !ok {
			return 0, false
		}
		order, _, ok := b.compare(0, key, version)
		if !ok {
			return 0, false
		}
		if order > 0 {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low, true
}

// lowerBound is the first of the heads that is not below head.
func lowerBound(heads []uint64, head uint64) int {
	low, high := 0, len(heads)
	for low < high {
		mid := int(uint(low+high) >> 1)
		if heads[mid] < head {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// upperBound is the first of the heads that is above head.
func upperBound(heads []uint64, head uint64) int {
	if head == math.MaxUint64 {
		return len(heads)
	}
	return lowerBound(heads, head+1)
}

// block is one of a table's.
type block struct {
	data    []byte // its entries
	first   []byte // the key of the first one
	offsets []byte // of the entries, in the byte order of the machine
	n       int    // entries

	head, next uint64 // of its first key and of the next block's, as in the index
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
	if n == 0 || 4*n > end-headerSize {
		return b, false
	}
	b.data, b.offsets, b.n = raw[:end-4*n], raw[end-4*n:end], int(n)
	length := int(binary.NativeEndian.Uint16(b.data[2:]))
	if length < versionSize || headerSize+length > len(b.data) {
		return b, false
	}
	b.first = b.data[headerSize : headerSize+length]
	b.head, b.next = x.heads[i], x.heads[min(i+1, len(x.heads)-1)]
	return b, true
}

// guess is about where a key is whose head is given, if keys are spread evenly, as those of partitions are. Else it
// is in the middle, and even is false.
func (b *block) guess(head uint64) (at int, even bool) {
	if b.next <= b.head || head < b.head || head > b.next {
		return b.n / 2, false
	}
	part := float64(head-b.head) / float64(b.next-b.head)
	return min(int(part*float64(b.n)), b.n-1), true
}

// search finds the entry of a key, whose head is given: present; or absent, with the first entry behind. It begins
// where the key may be, and goes on from there in steps that grow, as what is near is in the same lines of memory.
func (b *block) search(key []byte, version, head uint64) (int, state) {
	low, high, found := 0, b.n, false
	at, even := b.guess(head)
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
		switch {
		case even && high == b.n:
			at = min(at+step, b.n-1)
			step *= 2
		case even && low == 0:
			at = max(at-step, 0)
			step *= 2
		default:
			at = int(uint(low+high) >> 1)
		}
	}
	if found {
		return low, present
	}
	return low, absent
}

// start is where an entry begins.
func (b *block) start(i int) int { return int(binary.NativeEndian.Uint32(b.offsets[4*i:])) }

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
