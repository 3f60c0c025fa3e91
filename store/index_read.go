package store

import (
	"bytes"
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// Lookup says that only rows are wanted for which an index has a value, or one of a range: that of its column, or an
// element or a key or an entry of it. A Read may deliver other rows as well.
type Lookup struct {
	Index *schema.Index
	Key   []byte // of an entry of a map
	Value []byte

	Ranged   bool   // instead of Value a range is meant
	From, To []byte // its ends, inclusive; nil: it has none
}

// lookup is a read through an index.
type lookup struct {
	index  *keptIndex
	entry  []byte // what the entries of one value begin with; nil: a range is meant, and rows has the keys of the rows
	rows   [][]byte
	maker  entryMaker
	value  []byte
	bounds [][2][]byte // of the slices, in a partition

	candidate func(key, _ []byte) (bool, error) // takeCandidate and takeIndexed, as values that are made once
	indexed   func(value []byte) error
}

// mostBounds is how many slices rows are compared with. A read with more of them looks for these rows.
const mostBounds = 16

// chooseIndex chooses the index to read with: the one with the fewest entries of its value, as far as they are counted.
// It reports false if the rows are to be read without one.
func (r *reader) chooseIndex() (bool, error) {
	read := r.read
	if read.Reverse || read.Ranges != nil || len(read.Slices) > mostBounds || len(read.Keys) > 1 {
		return false, nil
	}
	l := &r.lookup
	l.index = nil
	fewest := 0
	var chosen *Lookup
	for i := range read.Lookups {
		x := r.keptIndex(read.Lookups[i].Index)
		if x == nil {
			continue
		}
		if len(read.Lookups) > 1 {
			start, end := x.entriesOf(&read.Lookups[i])
			n, err := countSome(r.src, start, end)
			if err != nil {
				return false, err
			}
			if l.index != nil && n >= fewest {
				continue
			}
			fewest = n
		}
		l.index, chosen = x, &read.Lookups[i]
	}
	switch {
	case l.index == nil:
		return false, nil
	case chosen.Ranged:
		l.entry = nil
		gathered, err := r.gatherRows(chosen)
		if gathered {
			read.Indexed.use(chosen.Index.Name)
		}
		return gathered, err
	}
	l.entry, _ = l.index.entriesOf(chosen)
	read.Indexed.use(chosen.Index.Name)
	return true, nil
}

// keptIndex is what is kept of an index, or nil if it is not built.
func (r *reader) keptIndex(index *schema.Index) *keptIndex {
	name := newKeptIndex(r.read.Table, index)
	if name == nil {
		return nil
	}
	for _, x := range r.indexes {
		if x.built && x.name == name.name {
			return x
		}
	}
	return nil
}

// entriesOf is where the entries of a value, or a range of values, begin and end. Those of one value begin with start.
// A range is without the long values.
func (x *keptIndex) entriesOf(l *Lookup) (start, end []byte) {
	if !l.Ranged {
		var value []byte
		if x.key != nil {
			value = x.key.AppendKey(value, l.Key, false)
		}
		start = x.appendValue(nil, x.value.AppendKey(value, l.Value, false))
		return start, rows.Successor(bytes.Clone(start))
	}
	whole := append(rows.AppendArea(nil, x.id, rows.AreaRows), wholeValue)
	start, end = whole, rows.Successor(bytes.Clone(whole))
	if l.From != nil {
		start = x.value.AppendKey(slices.Clip(whole), l.From, false)
	}
	if l.To != nil {
		end = rows.Successor(x.value.AppendKey(slices.Clip(whole), l.To, false))
	}
	return start, end
}

// fewEntries is how many entries are counted to compare indexes.
const fewEntries = 128

// countSome counts entries, up to fewEntries.
func countSome(src engine.Reader, start, end []byte) (n int, err error) {
	err = src.Scan(start, end, engine.ScanOptions{KeysOnly: true}, func(_, _ []byte) (bool, error) {
		n++
		return n < fewEntries, nil
	})
	return n, err
}

// What is gathered of a range of values at most: of more rows there is soon one that a scan comes by.
const (
	mostGathered      = 20_000
	mostGatheredBytes = 4 << 20
)

// gatherRows gathers the keys of the rows that have entries in a range of values. It reports false if they are too
// many.
func (r *reader) gatherRows(l *Lookup) (bool, error) {
	from, to, ok := r.rowBounds()
	if !ok {
		r.lookup.rows = nil
		return true, nil
	}
	var all [][]byte
	size, seen := 0, 0
	take := func(key, value []byte) (bool, error) {
		if seen++; seen%64 == 0 {
			if err := r.step(); err != nil {
				return false, err
			}
		}
		n, err := entryLength(key, value)
		if err != nil {
			return false, err
		}
		rest := key[n:]
		if bytes.Compare(rest, from) >= 0 && (len(to) == 0 || bytes.Compare(rest, to) < 0) {
			all = append(all, bytes.Clone(rest))
			size += len(rest)
		}
		return seen <= mostGathered && size <= mostGatheredBytes, nil
	}
	x := r.lookup.index
	start, end := x.entriesOf(l)
	if err := r.src.Scan(start, end, engine.ScanOptions{}, take); err != nil {
		return false, err
	}
	area := rows.AppendArea(nil, x.id, rows.AreaRows)
	err := r.src.Scan(append(bytes.Clone(area), hashedValue), rows.Successor(area), engine.ScanOptions{}, take)
	if err != nil || seen > mostGathered || size > mostGatheredBytes {
		return false, err
	}
	slices.SortFunc(all, bytes.Compare)
	r.lookup.rows = slices.CompactFunc(all, bytes.Equal)
	return true, nil
}

// throughIndex reads the rows that have an entry in the index.
func (r *reader) throughIndex() error {
	l := &r.lookup
	if l.candidate == nil {
		l.candidate, l.indexed = r.takeCandidate, r.takeIndexed
	}
	l.bounds = l.bounds[:0]
	if !r.read.allRows() {
		for i := range r.read.Slices {
			s := &r.read.Slices[i]
			l.bounds = append(l.bounds, [2][]byte{
				rows.AppendStart(nil, r.read.Table, s.Start, s.StartInclusive),
				rows.AppendEnd(nil, r.read.Table, s.End, s.EndInclusive),
			})
		}
	}
	r.place.prefix = r.place.prefix[:0]
	if err := r.eachCandidate(); err != nil {
		return err
	}
	if r.read.Keys != nil {
		r.read.Tombstones.endPartition()
	}
	return nil
}

// eachCandidate reads the rows that entries stand for.
func (r *reader) eachCandidate() error {
	l := &r.lookup
	if l.entry == nil {
		for _, rest := range l.rows {
			if more, err := r.takeCandidate(rest, nil); err != nil || !more {
				return err
			}
		}
		return nil
	}
	from, to, ok := r.rowBounds()
	if !ok {
		return nil
	}
	start, end := append(bytes.Clone(l.entry), from...), rows.Successor(bytes.Clone(l.entry))
	if len(to) > 0 {
		end = append(bytes.Clone(l.entry), to...)
	}
	return r.src.Scan(start, end, engine.ScanOptions{KeysOnly: true}, l.candidate)
}

// rowBounds are the keys of rows, behind the number of the table, between which rows are wanted, given the partition or
// the tokens and the position to continue from. An empty end is that of the table.
func (r *reader) rowBounds() (from, to []byte, ok bool) {
	l, read := &r.lookup, r.read
	if read.Keys != nil {
		if len(read.Keys) == 0 {
			return nil, nil, false
		}
		from = rows.AppendPartition(nil, read.Table, r.id, read.Keys[0])
		to = rows.Successor(bytes.Clone(from))
	} else if from, to, ok = r.tokenBounds(); !ok {
		return nil, nil, false
	}
	if a := r.after; a != nil {
		behind := rows.AppendPartition(nil, read.Table, r.id, a.Partition)
		switch {
		case a.Whole || a.Clustering == nil && len(read.Table.Clustering) == 0:
			behind = rows.Successor(behind)
		case a.Clustering != nil && l.index.column.Kind != schema.Static:
			behind = rows.AppendClustering(append(behind, rows.KindRow), read.Table, a.Clustering)
			behind = append(behind, 0)
		}
		if bytes.Compare(behind, from) > 0 {
			from = behind
		}
	}
	if len(to) <= rows.AreaSize {
		to = nil
	} else {
		to = to[rows.AreaSize:]
	}
	return from[rows.AreaSize:], to, true
}

// takeCandidate reads what an entry stands for, given its key, or the key of the row if a range is meant.
func (r *reader) takeCandidate(key, _ []byte) (bool, error) {
	if r.ticks++; r.ticks%64 == 0 {
		if err := r.step(); err != nil {
			return false, err
		}
	}
	r.read.Indexed.entry()
	l, p := &r.lookup, &r.place
	rest := key[len(l.entry):]
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
		return !r.done, nil
	}
	r.row.given = nil
	p.start = append(append(p.start[:0], p.prefix...), position...)
	found, err := r.src.Get(p.start, l.indexed)
	if !found && err == nil && l.entry != nil {
		r.store.noteStale(l.index, l.entry, rest)
	}
	return !r.done, err
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
	if l.index.column.Kind == schema.Static {
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

// wants reports whether a row is in one of the slices.
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
	has, err := l.maker.has(l.index, p.start, len(p.prefix), value, l.entry)
	if err != nil {
		return err
	}
	if !has {
		r.store.noteStale(l.index, l.entry, p.start[rows.AreaSize:])
		return nil
	}
	return r.takeOnlyRow(value)
}
