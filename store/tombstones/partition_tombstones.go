package tombstones

import (
	"bytes"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// Reader reads the tombstones of one partition after the other: with a cursor beside a scan, else one by one.
type Reader struct {
	rows.PartitionTombstones         // of the partition at hand
	Known                    *Filter // which partitions of the table may have any; nil: none
	Cursor                   Cursor
	key                      []byte
	add                      func(value []byte) error // adds the partition's tombstone; made once

	deletions *Tracker // nil: what these keep of partitions is not used
	clock     uint64   // of deletions, before the snapshot was chosen
}

// Begin starts with a table.
func (r *Reader) Begin(known *Filter) {
	r.Known, r.Cursor.src, r.deletions = known, nil, nil
}

// BeginKept starts with a table of which deletions know something in a snapshot.
func (r *Reader) BeginKept(d *Tracker, id uint32, clock uint64) {
	r.Begin(d.FilterOf(id, clock))
	r.deletions, r.clock = d, clock
}

// Scan reads the tombstones of partitions between two keys of rows with a cursor, if the table may have any.
func (r *Reader) Scan(src engine.Reader, id uint32, start, end []byte) {
	if r.Known.Any() {
		r.Cursor.Begin(src, id, start, end)
	}
}

// Release forgets the snapshot.
func (r *Reader) Release() {
	r.Known, r.deletions = nil, nil
	r.Cursor.Finish()
}

// Load makes the tombstones those of the partition whose rows begin with prefix.
func (r *Reader) Load(src engine.Reader, prefix []byte) error {
	if r.Cursor.src != nil {
		return r.Cursor.Load(&r.PartitionTombstones, prefix)
	}
	r.Reset()
	if r.Known == nil {
		return nil
	}
	token := rows.TokenOf(prefix)
	r.key = append(r.key[:0], prefix...)
	r.key[rows.AreaSize-1] &^= 1 // AreaTombstones
	if r.Known.Has(OfRange, token) {
		return r.loadRanges(src, prefix)
	}
	if !r.Known.Has(OfPartition, token) {
		return nil
	}
	if r.add == nil {
		r.add = func(value []byte) error { return r.Add(nil, value) }
	}
	_, err := src.Get(r.key, r.add)
	return err
}

// loadRanges reads all tombstones of the partition, unless they are kept.
func (r *Reader) loadRanges(src engine.Reader, prefix []byte) error {
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
