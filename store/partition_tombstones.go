package store

import (
	"bytes"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// tombstoneReader reads the tombstones of one partition after the other: with a cursor beside a scan, else one by one.
type tombstoneReader struct {
	rows.PartitionTombstones                  // of the partition at hand
	known                    *tombstoneFilter // which partitions of the table may have any; nil: none
	cursor                   tombstoneCursor
	key                      []byte
	add                      func(value []byte) error // adds the partition's tombstone; made once

	deletions *deletions // nil: what these keep of partitions is not used
	clock     uint64     // of deletions, before the snapshot was chosen
}

// begin starts with a table.
func (r *tombstoneReader) begin(known *tombstoneFilter) {
	r.known, r.cursor.src, r.deletions = known, nil, nil
}

// beginKept starts with a table of which deletions know something in a snapshot.
func (r *tombstoneReader) beginKept(d *deletions, id uint32, clock uint64) {
	r.begin(d.tombstonesIn(id, clock))
	r.deletions, r.clock = d, clock
}

// scan reads the tombstones of partitions between two keys of rows with a cursor, if the table may have any.
func (r *tombstoneReader) scan(src engine.Reader, id uint32, start, end []byte) {
	if r.known.any() {
		r.cursor.begin(src, id, start, end)
	}
}

// release forgets the snapshot.
func (r *tombstoneReader) release() {
	r.known, r.deletions = nil, nil
	r.cursor.finish()
}

// load makes the tombstones those of the partition whose rows begin with prefix.
func (r *tombstoneReader) load(src engine.Reader, prefix []byte) error {
	if r.cursor.src != nil {
		return r.cursor.load(&r.PartitionTombstones, prefix)
	}
	r.Reset()
	if r.known == nil {
		return nil
	}
	token := rows.TokenOf(prefix)
	r.key = append(r.key[:0], prefix...)
	r.key[rows.AreaSize-1] &^= 1 // AreaTombstones
	if r.known.has(ofRange, token) {
		return r.loadRanges(src, prefix)
	}
	if !r.known.has(ofPartition, token) {
		return nil
	}
	if r.add == nil {
		r.add = func(value []byte) error { return r.Add(nil, value) }
	}
	_, err := src.Get(r.key, r.add)
	return err
}

// loadRanges reads all tombstones of the partition, unless they are kept.
func (r *tombstoneReader) loadRanges(src engine.Reader, prefix []byte) error {
	if r.deletions != nil && r.deletions.tombstonesOf(&r.PartitionTombstones, prefix, r.clock) {
		return nil
	}
	end := rows.Successor(bytes.Clone(r.key))
	err := src.Scan(r.key, end, engine.ScanOptions{}, func(key, value []byte) (bool, error) {
		return true, r.Add(key[len(r.key):], value)
	})
	r.CutRanges()
	if r.deletions != nil && err == nil {
		r.deletions.keep(&r.PartitionTombstones, prefix, r.clock)
	}
	return err
}
