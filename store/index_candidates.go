package store

import (
	"bytes"
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/rows"
)

// Bounds of one prefetch.
const (
	prefetchRows  = 16
	prefetchBytes = 16 << 10
)

// begin begins without keys. Where few rows are wanted, few are prefetched. Rows that must have entries in other
// indexes are read one by one, because most of them are not read at all.
func (p *prefetcher) begin(r *reader) {
	p.getter, _ = r.src.(engine.ManyGetter)
	p.max = prefetchRows
	if want := r.read.Want; want > 0 {
		p.max = min(want, prefetchRows)
	}
	if p.max == 1 || len(r.lookup.others) > 0 {
		p.getter = nil
	}
	if p.take == nil {
		p.take = func(i int, value []byte) (bool, error) { return r.takeCandidate(p.keys[i][rows.AreaSize:], value) }
	}
	p.keys, p.buf = p.keys[:0], p.buf[:0]
}

func (r *reader) takeEntry(key, _ []byte) (bool, error) {
	return r.addCandidate(key[len(r.lookup.entry):])
}

// addCandidate takes the key of a row, without its area, and reads the collected rows when there are enough.
func (r *reader) addCandidate(rest []byte) (bool, error) {
	p := &r.lookup.prefetch
	if p.getter == nil {
		return r.findCandidate(rest)
	}
	from := len(p.buf)
	p.buf = append(rows.AppendArea(p.buf, r.id, rows.AreaRows), rest...)
	p.keys = append(p.keys, p.buf[from:])
	if len(p.keys) < p.max && len(p.buf) < prefetchBytes {
		return true, nil
	}
	return r.takeCandidates()
}

func (r *reader) takeCandidates() (more bool, err error) {
	p := &r.lookup.prefetch
	if len(p.keys) > 0 {
		err = p.getter.GetMany(p.keys, p.take)
	}
	p.keys, p.buf = p.keys[:0], p.buf[:0]
	return !r.done, err
}

// foundPerStep is how many rows a read looks for by their keys between two steps of its turn.
const foundPerStep = 8

// findCandidate reads the row of an entry. rest is the row's key without its area.
func (r *reader) findCandidate(rest []byte) (more bool, err error) {
	wanted, err := r.beginCandidate(rest)
	if err != nil || !wanted {
		return !r.done, err
	}
	found, err := r.src.Get(r.place.start, r.lookup.indexed)
	if !found && err == nil {
		r.missCandidate(rest)
	}
	return !r.done, err
}

// takeCandidate is findCandidate for a row that was read already; value is nil if there is none.
func (r *reader) takeCandidate(rest, value []byte) (more bool, err error) {
	wanted, err := r.beginCandidate(rest)
	if err != nil || !wanted {
		return !r.done, err
	}
	if value == nil {
		r.missCandidate(rest)
		return true, nil
	}
	err = r.takeIndexed(value)
	return !r.done, err
}

// beginCandidate begins with an entry. It reports whether its row is wanted.
func (r *reader) beginCandidate(rest []byte) (wanted bool, err error) {
	if r.ticks++; r.ticks%foundPerStep == 0 {
		if err := r.step(); err != nil {
			return false, err
		}
	}
	r.read.Indexed.entry()
	l, p := &r.lookup, &r.place
	if len(l.others) > 0 {
		if has, err := r.intersects(rest); err != nil || !has {
			return false, err
		}
	}
	if len(p.prefix) == 0 || !bytes.HasPrefix(rest, p.prefix[rows.AreaSize:]) {
		if err := r.enterCandidate(rest); err != nil || r.done {
			return false, err
		}
	}
	position := rest[len(p.prefix)-rows.AreaSize:]
	if len(position) == 0 {
		return false, rows.ErrKey
	}
	if position[0] == rows.KindStatic || !l.wants(position) {
		return false, nil
	}
	r.row.given = nil
	p.start = append(append(p.start[:0], p.prefix...), position...)
	return true, nil
}

func (r *reader) missCandidate(rest []byte) {
	if l := &r.lookup; l.entry != nil {
		r.store.noteStale(l.index, l.entry, rest)
	}
}

// enterCandidate begins with the partition of an entry. With an index of a static column it reads all of it.
func (r *reader) enterCandidate(rest []byte) error {
	l, p := &r.lookup, &r.place
	key := append(rows.AppendArea(l.value[:0], r.id, rows.AreaRows), rest...)
	l.value = key
	if err := p.enter(key); err != nil {
		return err
	}
	if r.after != nil && !bytes.Equal(r.after.Partition, p.partition) {
		r.after = nil
	}
	if l.index.Column.Kind == schema.Static {
		return r.readPartition(p.partition)
	}
	if err := r.beginPartition(p.partition); err != nil {
		return err
	}
	if len(r.read.Table.Static) == 0 {
		return nil
	}
	p.start = append(append(p.start[:0], p.prefix...), rows.KindStatic)
	_, err := r.src.Get(p.start, r.calls.staticRow)
	return err
}

func (l *lookup) wants(position []byte) bool {
	return len(l.bounds) == 0 || slices.ContainsFunc(l.bounds, func(b [2][]byte) bool {
		return bytes.Compare(position, b[0]) >= 0 && bytes.Compare(position, b[1]) < 0
	})
}

// takeIndexed takes the value of a row that has an entry, unless the row has not that value any more.
func (r *reader) takeIndexed(value []byte) error {
	l, p := &r.lookup, &r.place
	if l.entry == nil {
		return r.takeOnlyRow(value)
	}
	has, err := l.maker.HasEntry(l.index, p.start, len(p.prefix), value, l.entry)
	if err != nil {
		return err
	}
	if !has {
		r.store.noteStale(l.index, l.entry, p.start[rows.AreaSize:])
		return nil
	}
	return r.takeOnlyRow(value)
}

// maxIntersectionBatch is the most keys that are prefetched.
const maxIntersectionBatch = 256

// addIntersection notes the entries of a Lookup, if rows can be compared with them one by one. Entries of static
// columns do not name the rows that are read.
func (r *reader) addIntersection(definition *schema.Index, x *index.Index, spans []index.Span) {
	if len(r.read.Lookups) > 1 && x.Column.Kind != schema.Static && !x.Terms.Many && spans[0].One {
		r.lookup.others = append(r.lookup.others, intersection{name: definition.Name, entry: spans[0].Start, batch: 1})
	}
}

// dropIntersection drops the chosen entries, which are read anyway. It drops all if those are of a static column.
func (r *reader) dropIntersection(chosen index.Span) {
	l := &r.lookup
	l.others = slices.DeleteFunc(l.others, func(c intersection) bool {
		return l.index.Column.Kind == schema.Static || chosen.One && bytes.Equal(c.entry, chosen.Start)
	})
}

// intersects reports whether a row may have an entry in all other indexes. row is its key after the number of the
// table. Calls are in the order of the rows.
func (r *reader) intersects(row []byte) (bool, error) {
	for i := range r.lookup.others {
		if has, err := r.lookup.others[i].has(r, row); err != nil || !has {
			return false, err
		}
	}
	return true, nil
}

// has reports whether the other index has an entry of a row.
func (c *intersection) has(r *reader, row []byte) (bool, error) {
	i := 0
	for i < len(c.keys) && bytes.Compare(c.keys[i], row) < 0 {
		i++
	}
	if c.keys = c.keys[i:]; len(c.keys) == 0 && !c.ended {
		if err := c.prefetch(r, row); err != nil {
			return false, err
		}
	}
	c.used++
	return len(c.keys) > 0 && bytes.Equal(c.keys[0], row), nil
}

// prefetch reads keys from a row on: twice as many as before if more than one row was compared with those, else half.
func (c *intersection) prefetch(r *reader, row []byte) error {
	if c.used > 1 {
		c.batch = min(2*c.batch, maxIntersectionBatch)
	} else {
		c.batch = max(1, c.batch/2)
	}
	c.used = 0
	r.read.Indexed.use(c.name)
	end := index.NewSpan(c.entry, true).End
	take := func(key, _ []byte) (bool, error) {
		r.read.Indexed.entry()
		c.keys = append(c.keys, bytes.Clone(key[len(c.entry):]))
		return len(c.keys) < c.batch, nil
	}
	err := r.src.Scan(slices.Concat(c.entry, row), end, engine.ScanOptions{KeysOnly: true}, take)
	c.ended = len(c.keys) < c.batch
	return err
}
