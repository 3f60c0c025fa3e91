package store

import (
	"bytes"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// deletions reads the tombstones of one partition.
type deletions struct {
	rows.PartitionTombstones
	key  []byte
	take func(value []byte) error // add, as a value that is made once
}

// load reads the tombstones of the partition with that key prefix, which is one of areaRows, as far as it may have any.
func (d *deletions) load(r engine.Reader, known *knownDeletions, prefix []byte) error {
	d.Reset()
	if known == nil {
		return nil
	}
	token := rows.TokenOf(prefix)
	d.key = append(d.key[:0], prefix...)
	d.key[rows.AreaSize-1] &^= 1 // areaDeletions
	if known.has(ofRange, token) {
		return d.scan(r, d.key)
	}
	if !known.has(ofPartition, token) {
		return nil
	}
	if d.take == nil {
		d.take = func(value []byte) error { return d.Add(nil, value) }
	}
	_, err := r.Get(d.key, d.take)
	return err
}

// scan reads the tombstones whose keys begin with that prefix.
func (d *deletions) scan(r engine.Reader, prefix []byte) error {
	err := r.Scan(prefix, rows.Successor(bytes.Clone(prefix)), engine.ScanOptions{}, func(key, value []byte) (bool, error) {
		return true, d.Add(key[len(prefix):], value)
	})
	d.CutRanges()
	return err
}
