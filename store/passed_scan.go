package store

import (
	"bytes"

	"github.com/cqld/cqld/store/engine"
)

// rowless finds, for a scan that counts what it passes, the partitions that have tombstones but no rows: a scan of rows
// does not come by them.
type rowless struct {
	wanted   bool
	from     []byte // the key to look from, in the area of tombstones
	end      []byte
	next     []byte // what the keys of rows of the next partition with tombstones begin with; empty: not known
	passed   []byte // the key of such a partition
	position []byte
}

// beginRowless starts looking between two keys of rows.
func (r *reader) beginRowless(start, end []byte) {
	x := &r.rowless
	x.wanted = r.read.Passed != nil && r.id != 0 && r.store.deletions.any(r.id)
	if !x.wanted {
		return
	}
	x.from, x.end, x.next = bytes.Clone(start), bytes.Clone(end), x.next[:0]
	setArea(x.from, r.id, areaDeletions)
	if len(end) > areaSize {
		setArea(x.end, r.id, areaDeletions)
	} else {
		x.end = appendArea(nil, r.id, areaRows)
	}
}

// passRowless counts the tombstones of partitions in front of the one with that prefix; nil: of all that are left.
func (r *reader) passRowless(prefix []byte) error {
	x := &r.rowless
	for x.wanted {
		if len(x.next) == 0 {
			if err := r.findRowless(); err != nil || !x.wanted {
				return err
			}
		}
		order := -1
		if prefix != nil {
			order = bytes.Compare(x.next, prefix)
		}
		if order > 0 {
			return nil
		}
		if order < 0 {
			if err := r.passPartition(); err != nil {
				return err
			}
		}
		x.from = successor(append(x.from[:0], x.next...))
		setArea(x.from, r.id, areaDeletions)
		x.next = x.next[:0]
	}
	return nil
}

// findRowless looks for the next partition with tombstones.
func (r *reader) findRowless() error {
	x := &r.rowless
	x.wanted = false
	if err := r.step(); err != nil {
		return err
	}
	return r.src.Scan(x.from, x.end, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
		passed, rest, err := splitEscaped(x.passed[:0], key[areaSize+tokenSize:])
		if err != nil {
			return false, err
		}
		x.passed, x.wanted = passed, true
		x.next = append(x.next[:0], key[:len(key)-len(rest)]...)
		setArea(x.next, r.id, areaRows)
		return false, nil
	})
}

// passPartition counts the bounds of ranges of a partition without rows.
func (r *reader) passPartition() error {
	x := &r.rowless
	if err := r.deletions.load(r.src, r.id, x.next); err != nil {
		return err
	}
	p := r.read.Passed
	p.enter(x.passed)
	if r.deletions.partition.ts != noTime && !r.forgets(r.deletions.partition.second) {
		p.note()
	}
	if r.read.allRows() {
		r.boundsWithin(nil, nil)
		return r.passRest()
	}
	for i := range r.read.ranges() {
		if err := r.step(); err != nil {
			return err
		}
		s := r.read.slice(i)
		start := appendStart(x.position[:0], r.table, &s)
		x.position = appendEnd(start, r.table, &s)
		r.boundsWithin(x.position[:len(start)], x.position[len(start):])
		if err := r.passRest(); err != nil {
			return err
		}
	}
	return nil
}
