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

	perBlock int // entries, about
}

// headSize is what an index keeps of a block.
const headSize = 8 + 4

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
	x.perBlock = max(int(t.KeyCount())/n, 1)
	return x
}

func withoutVersion(key []byte) []byte { return key[:len(key)-versionSize] }

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
		b, i, s := x.search(next-1, key, version)
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
	low := lowerBound(x.heads, head, x.guess(head))
	high := upperBound(x.heads, head, low)
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

// guess is about the block that a head is in.
func (x *index) guess(head uint64) int {
	last := len(x.heads) - 1
	part, _ := partOf(head, x.heads[0], x.heads[last])
	return int(part * float64(last))
}
