package store

import (
	"bytes"
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// Lookup says that only rows are wanted for which an index has a value: that of its column, or an element or a key or
// an entry of it. A Read may deliver other rows as well.
type Lookup struct {
	Index *schema.Index
	Key   []byte // of an entry of a map
	Value []byte
}

// lookup is a read through an index.
type lookup struct {
	index  *keptIndex
	entry  []byte // what the entries begin with
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
	for i := range read.Lookups {
		x := r.keptIndex(read.Lookups[i].Index)
		if x == nil {
			continue
		}
		entry := x.entryOf(&read.Lookups[i])
		if len(read.Lookups) > 1 {
			n, err := countSome(r.src, entry)
			if err != nil {
				return false, err
			}
			if l.index != nil && n >= fewest {
				continue
			}
			fewest = n
		}
		l.index, l.entry = x, entry
	}
	return l.index != nil, nil
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

// entryOf is what the entries of a value begin with.
func (x *keptIndex) entryOf(l *Lookup) []byte {
	var value []byte
	if x.key != nil {
		value = x.key.AppendKey(value, l.Key, false)
	}
	return x.appendValue(nil, x.value.AppendKey(value, l.Value, false))
}

// fewEntries is how many entries are counted to compare indexes.
const fewEntries = 128

// countSome counts the entries that begin so, up to fewEntries.
func countSome(src engine.Reader, entry []byte) (n int, err error) {
	err = src.Scan(entry, rows.Successor(bytes.Clone(entry)), engine.ScanOptions{KeysOnly: true},
		func(_, _ []byte) (bool, error) {
			n++
			return n < fewEntries, nil
		})
	return n, err
}

// throughIndex reads the rows that have an entry in the index.
func (r *reader) throughIndex() error {
	start, end, ok := r.entryBounds()
	if !ok {
		return nil
	}
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
	if err := r.src.Scan(start, end, engine.ScanOptions{KeysOnly: true}, l.candidate); err != nil {
		return err
	}
	if r.read.Keys != nil {
		r.read.Tombstones.endPartition()
	}
	return nil
}

// entryBounds are the keys between which the entries are, given the partition or the tokens and the position to
// continue from.
func (r *reader) entryBounds() (start, end []byte, ok bool) {
	l, read := &r.lookup, r.read
	var from, to []byte // of the rows' keys
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
			r.after = nil
		case a.Clustering != nil && l.index.column.Kind != schema.Static:
			behind = rows.AppendClustering(append(behind, rows.KindRow), read.Table, a.Clustering)
			behind = append(behind, 0)
		}
		if bytes.Compare(behind, from) > 0 {
			from = behind
		}
	}
	start = append(bytes.Clone(l.entry), from[rows.AreaSize:]...)
	if len(to) <= rows.AreaSize {
		return start, rows.Successor(bytes.Clone(l.entry)), true
	}
	return start, append(bytes.Clone(l.entry), to[rows.AreaSize:]...), true
}

// takeCandidate reads what an entry stands for.
func (r *reader) takeCandidate(key, _ []byte) (bool, error) {
	if r.ticks++; r.ticks%64 == 0 {
		if err := r.step(); err != nil {
			return false, err
		}
	}
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
	if !found && err == nil {
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
