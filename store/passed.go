package store

import (
	"bytes"
	"errors"
	"slices"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/rows"
)

// ErrTombstones is what a read fails with that has passed more tombstones than Passed.Most.
var ErrTombstones = errors.New("a read has passed too many tombstones")

// counts is a part of what is passed.
type counts struct{ live, tombstones int }

// Passed counts what a read goes by, as Cassandra counts it for its warnings: rows that live, and of others and in them
//
//   - each cell that is deleted or has expired;
//   - one for a row that does not live and has none of these, but was deleted, has expired or had a collection deleted;
//   - each bound of a range tombstone within what is read, where two of them meet one for both.
//
// Tombstones of partitions do not count, nor what another tombstone hides, nor what gc_grace_seconds are over for.
type Passed struct {
	Live, Tombstones int
	Partition        []byte // the key of the last partition with anything that counts
	Most             int    // tombstones at most

	// Of a row, cells of columns that are not asked for do not count if they are older than its marker. nil: all are
	// asked for. Static rows are read only if Statics says so.
	Asked   []bool // by schema.Column.Index
	Statics bool

	// Next is called when the read is through with one of Read.Keys, and the counts begin again.
	Next func()

	at      []byte // the key of the partition being read
	noted   bool   // it is Partition
	resting bool   // nothing counts until the next partition
	static  counts // of the partition's static row
	before  int    // Tombstones in front of it
}

// Rest says that what follows in this partition is not read on the caller's behalf.
func (p *Passed) Rest() { p.resting = true }

// Restart begins the counts again in the middle of a partition, as a read would that continues there.
func (p *Passed) Restart() {
	p.Live, p.Tombstones = p.static.live, p.static.tombstones
}

// tombstone counts one.
func (p *Passed) tombstone() {
	if !p.resting && p.Tombstones <= p.Most {
		p.Tombstones++
		p.note()
	}
}

// live counts a row.
func (p *Passed) live() {
	if !p.resting {
		p.Live++
		p.note()
	}
}

// note remembers the partition.
func (p *Passed) note() {
	if !p.noted {
		p.noted = true
		p.Partition = append(p.Partition[:0], p.at...)
	}
}

// over is the failure of a read that has passed too many.
func (p *Passed) over() error {
	if p.Tombstones > p.Most {
		return ErrTombstones
	}
	return nil
}

// next ends the counts of a partition.
func (p *Passed) next() {
	p.Next()
	p.Live, p.Tombstones = 0, 0
}

// enter notes which partition is read from here on.
func (p *Passed) enter(key []byte) {
	p.at = key
	p.noted, p.resting, p.static = false, false, counts{}
}

// lostCells is what a row has that is no longer there.
type lostCells struct {
	counted bool // a cell that counts
	other   bool // the deletion of a whole column
}

// passCell looks at a cell that does not live in a row deleted at deletion.
func (r *reader) passCell(c *rows.Cell, deletion int64) {
	p := r.read.Passed
	column := r.table.Columns[r.columns[c.Column]]
	switch {
	case p == nil || c.Timestamp <= deletion || r.forgets(c.Expiry.At-int64(c.Expiry.TTL)):
	case c.Path == nil && c.Deleted && types.IsMultiCell(column.Type):
		r.lost.other = true
	case p.Asked != nil && !p.Asked[column.Index] && c.Timestamp < r.values.Marker.Timestamp:
	default:
		r.lost.counted = true
		p.tombstone()
	}
}

// passDead looks at a row that does not live, behind its cells. hidden is the timestamp up to which tombstones of the
// partition and of ranges hide.
func (r *reader) passDead(hidden int64) error {
	p := r.read.Passed
	if p == nil {
		return nil
	}
	h := &r.values.Head
	cover := max(hidden, h.Deletion.Timestamp)
	deleted := h.Deletion.Timestamp > hidden && !r.forgets(h.Deletion.Second)
	expired := h.Marker.Timestamp > cover && !r.forgets(h.Marker.Expiry.At)
	if !r.lost.counted && (r.lost.other || deleted || expired) {
		p.tombstone()
	}
	return p.over()
}

// beginStatic is called in front of the cells of the static row.
func (p *Passed) beginStatic() {
	p.resting = !p.Statics
	p.before = p.Tombstones
}

// passStatic looks at the static row, behind its cells.
func (r *reader) passStatic(live bool) (err error) {
	p := r.read.Passed
	if p == nil {
		return nil
	}
	if !live {
		err = r.passDead(r.deletions.Partition.Timestamp)
	} else if err = p.over(); err == nil && p.Statics {
		p.live()
		p.static.live = 1
	}
	p.static.tombstones = p.Tombstones - p.before
	p.resting = false
	return err
}

// passLive counts a row that lives, and what is passed before it.
func (r *reader) passLive(position []byte) error {
	p := r.read.Passed
	if len(r.bounds) > 0 {
		r.passBounds(position)
	}
	if err := p.over(); err != nil {
		return err
	}
	p.live()
	return nil
}

// forgets reports whether gc_grace_seconds are over for a tombstone written in that second, so that a read does not see
// it.
func (r *reader) forgets(second int64) bool {
	p := r.purger()
	return p.Due(second)
}

// purger is what would purge the table's rows at the time of the read.
func (r *reader) purger() rows.Purger {
	return rows.NewPurger(r.table, r.read.Now)
}

// boundsWithin finds the bounds of range tombstones between two positions, in the order in which the read passes them.
// A nil end is that of the partition.
func (r *reader) boundsWithin(start, end []byte) {
	r.bounds = r.bounds[:0]
	d := &r.deletions
	if r.read.Passed == nil || len(d.Ranges) == 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(d.Ranges, start, func(x rows.RangeTombstone, at []byte) int {
		if bytes.Compare(x.End, at) <= 0 {
			return -1
		}
		return 1
	})
	var last *rows.RangeTombstone
	for ; i < len(d.Ranges); i++ {
		x := &d.Ranges[i]
		if end != nil && bytes.Compare(x.Start, end) >= 0 {
			break
		}
		if x.Timestamp <= d.Partition.Timestamp || r.forgets(x.Second) {
			continue
		}
		if last == nil || !meets(last, x.Start) {
			r.bounds = append(r.bounds, greater(x.Start, start))
		}
		at := x.End
		if end != nil && bytes.Compare(end, at) < 0 {
			at = end
		}
		r.bounds = append(r.bounds, at)
		last = x
	}
	if r.read.Reverse {
		slices.Reverse(r.bounds)
	}
}

// meets reports whether a range that starts there begins at the bound that x ends with. Where x is all rows with one value,
// and the next range begins with the value after it, there are two bounds at one key.
func meets(x *rows.RangeTombstone, start []byte) bool {
	return bytes.Equal(x.End, start) && !bytes.Equal(rows.Successor(bytes.Clone(x.Start)), x.End)
}

func greater(a, b []byte) []byte {
	if bytes.Compare(a, b) < 0 {
		return b
	}
	return a
}

// passBounds counts the bounds that are passed before the row at that position; nil: those that are left.
func (r *reader) passBounds(position []byte) {
	n := 0
	for _, at := range r.bounds {
		if position != nil {
			if order := bytes.Compare(at, position); order > 0 && !r.read.Reverse || order <= 0 && r.read.Reverse {
				break
			}
		}
		r.read.Passed.tombstone()
		n++
	}
	r.bounds = r.bounds[n:]
}

// passRest counts the bounds behind the last row of a slice.
func (r *reader) passRest() error {
	if len(r.bounds) == 0 {
		return nil
	}
	r.passBounds(nil)
	return r.read.Passed.over()
}
