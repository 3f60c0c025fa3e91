package store

import "bytes"

// rowless is what a scan that counts what it passes needs for partitions that have tombstones but no rows: a scan of rows
// does not come by them.
type rowless struct {
	prefix   []byte // what the keys of rows of such a partition begin with
	key      []byte
	position []byte
}

// beginDeletions goes through the tombstones between two keys of rows, beside the rows.
func (r *reader) beginDeletions(start, end []byte) {
	if r.known.any() {
		r.cursor.begin(r.src, r.id, start, end)
	}
}

// passRowless counts the tombstones of partitions in front of the one with that prefix; nil: of all that are left.
func (r *reader) passRowless(prefix []byte) error {
	if r.read.Passed == nil || r.cursor.src == nil {
		return nil
	}
	for n := 1; ; n++ {
		key, _, err := r.cursor.peek()
		if err != nil || key == nil {
			return err
		}
		if prefix != nil && bytes.Compare(key[areaSize:], prefix[areaSize:]) >= 0 {
			return nil
		}
		if n%64 == 0 {
			if err := r.step(); err != nil {
				return err
			}
		}
		if err := r.passPartition(key); err != nil {
			return err
		}
	}
}

// passPartition counts the bounds of ranges of a partition without rows; key is that of one of its tombstones.
func (r *reader) passPartition(key []byte) error {
	n := prefixLength(key)
	if n < 0 {
		return errKey
	}
	x := &r.rowless
	x.prefix = append(x.prefix[:0], key[:n]...)
	setArea(x.prefix, r.id, areaRows)
	passed, _, err := splitEscaped(x.key[:0], x.prefix[areaSize+tokenSize:])
	if err != nil {
		return err
	}
	x.key = passed
	if err := r.cursor.load(&r.deletions, x.prefix); err != nil {
		return err
	}
	p := r.read.Passed
	p.enter(x.key)
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
