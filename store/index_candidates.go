package store

import (
	"bytes"
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// prefetcher collects the keys of candidate rows in their order. The engine gets their rows together, so that the
// waits for memory, or for the network, overlap.
type prefetcher struct {
	getter engine.ManyGetter // nil: each row is read at once
	max    int               // number of keys
	keys   [][]byte
	buf    []byte // memory of the keys

	take func(i int, value []byte) (bool, error) // takes the row of a key; made once
}

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
