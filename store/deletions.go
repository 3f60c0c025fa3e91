package store

import (
	"bytes"
	"sync"

	"github.com/cqld/cqld/store/engine"
)

// deletionIndex knows in memory which partitions may have tombstones of ranges or of the partition, so
// that reading the others costs nothing. A partition is entered before its first tombstone is
// committed: whoever looks after choosing a snapshot misses none that the snapshot has.
type deletionIndex struct {
	mu     sync.RWMutex
	tables map[uint32]map[int64]struct{} // tokens by the table's number
}

func (x *deletionIndex) add(id uint32, token int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.tables == nil {
		x.tables = map[uint32]map[int64]struct{}{}
	}
	tokens := x.tables[id]
	if tokens == nil {
		tokens = map[int64]struct{}{}
		x.tables[id] = tokens
	}
	tokens[token] = struct{}{}
}

func (x *deletionIndex) has(id uint32, token int64) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	_, ok := x.tables[id][token]
	return ok
}

func (x *deletionIndex) drop(id uint32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.tables, id)
}

// load enters what a table has stored.
func (x *deletionIndex) load(r engine.Reader, id uint32) error {
	start, end := appendArea(nil, id, areaDeletions), appendArea(nil, id, areaRows)
	return r.Scan(start, end, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
		x.add(id, tokenOf(key))
		return true, nil
	})
}

// deletions are the tombstones of one partition; the zero value has none.
type deletions struct {
	some      bool
	partition tombstone
	ranges    []rangeDeletion
}

// rangeDeletion hides rows whose keys, from their kind on, are in [start, end).
type rangeDeletion struct {
	start, end []byte
	tombstone
}

// none forgets the tombstones.
func (d *deletions) none() { *d = deletions{partition: noTombstone, ranges: d.ranges[:0]} }

// load reads the tombstones of the partition with that key prefix, which is one of areaRows.
func (d *deletions) load(r engine.Reader, id uint32, prefix []byte) error {
	d.none()
	d.some = true
	start := bytes.Clone(prefix)
	setArea(start, id, areaDeletions)
	end := successor(bytes.Clone(start))
	return r.Scan(start, end, engine.ScanOptions{}, func(key, value []byte) (bool, error) {
		t := readTombstone(value)
		bounds := key[len(prefix):]
		if len(bounds) == 0 {
			d.partition = t
			return true, nil
		}
		from, rest, err := splitEscaped(nil, bounds)
		if err == nil {
			d.ranges = append(d.ranges, rangeDeletion{from, bytes.Clone(rest), t})
		}
		return err == nil, err
	})
}

// of returns the timestamp up to which a row is deleted; position is its key from its kind on.
func (d *deletions) of(position []byte) int64 { return d.tombstoneOf(position).ts }

// tombstoneOf returns the tombstone over a row that reaches furthest.
func (d *deletions) tombstoneOf(position []byte) tombstone {
	if !d.some {
		return noTombstone
	}
	t := d.partition
	for i := range d.ranges {
		r := &d.ranges[i]
		if r.ts > t.ts && bytes.Compare(r.start, position) <= 0 && bytes.Compare(position, r.end) < 0 {
			t = r.tombstone
		}
	}
	return t
}
