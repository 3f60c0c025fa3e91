package store

import "github.com/cqld/cqld/store/rows"

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
		if prefix != nil && bytes.Compare(key[rows.AreaSize:], prefix[rows.AreaSize:]) >= 0 {
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
	n := rows.PartitionPrefixLength(key)
	if n < 0 {
		return rows.ErrKey
	}
	x := &r.rowless
	x.prefix = append(x.prefix[:0], key[:n]...)
	rows.SetArea(x.prefix, r.id, rows.AreaRows)
	passed, _, err := rows.SplitEscaped(x.key[:0], x.prefix[rows.AreaSize+rows.TokenSize:])
	if err != nil {
		return err
	}
	x.key = passed
	if err := r.cursor.load(&r.deletions, x.prefix); err != nil {
		return err
	}
	p := r.read.Passed
	p.enter(x.key)
	if r.deletions.Partition.Timestamp != rows.NoTimestamp && !r.forgets(r.deletions.Partition.Second) {
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
		start := rows.AppendStart(x.position[:0], r.table, s.Start, s.StartInclusive)
		x.position = rows.AppendEnd(start, r.table, s.End, s.EndInclusive)
		r.boundsWithin(x.position[:len(start)], x.position[len(start):])
		if err := r.passRest(); err != nil {
			return err
		}
	}
	return nil
}
