package store

import (
	"bytes"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/rows"
)

// lookup is a read through an index.
type lookup struct {
	index  *index.Index
	entry  []byte // prefix of the entries of one value; nil: the keys of the rows are gathered
	gather gathering
	others []intersection // other indexes that the rows must have entries in
	maker  index.Maker
	value  []byte
	bounds [][2][]byte // of the slices, in a partition

	prefetch prefetcher

	candidate func(key, _ []byte) (bool, error) // takeEntry and takeIndexed, as values that are made once
	indexed   func(value []byte) error
}

// maxBounds is how many slices rows are compared with. A read with more of them looks for these rows.
const maxBounds = 16

// chooseIndex chooses the index with the fewest entries for its Lookup, as far as they are counted. It reports false
// if the read does without an index.
func (r *reader) chooseIndex() (bool, error) {
	read := r.read
	if read.Reverse || read.Ranges != nil || len(read.Slices) > maxBounds || len(read.Keys) > 1 {
		return false, nil
	}
	l := &r.lookup
	l.index, l.others = nil, l.others[:0]
	fewest := 0
	var chosen *index.Lookup
	var at index.Span
	for i := range read.Lookups {
		x := r.builtIndex(read.Lookups[i].Index)
		if x == nil {
			continue
		}
		spans := x.EntriesOf(&read.Lookups[i])
		r.addIntersection(read.Lookups[i].Index, x, spans)
		for _, span := range spans {
			if len(read.Lookups) > 1 || len(spans) > 1 {
				n, err := countEntries(r.src, span, fewEntries)
				if err != nil {
					return false, err
				}
				if l.index != nil && n >= fewest {
					continue
				}
				fewest = n
			}
			l.index, chosen, at = x, &read.Lookups[i], span
		}
	}
	if l.index == nil {
		return false, nil
	}
	r.dropIntersection(at)
	all, err := r.entrySpans(at, chosen)
	if err != nil {
		return false, err
	}
	if len(all) > 1 || !at.One {
		l.entry = nil
		gathered, err := r.beginGathering(all)
		if gathered {
			read.Indexed.use(chosen.Index.Name)
		}
		return gathered, err
	}
	l.entry = at.Start
	read.Indexed.use(chosen.Index.Name)
	return true, nil
}

// entrySpans returns the chosen entries, and others that have to be read together with them.
func (r *reader) entrySpans(chosen index.Span, l *index.Lookup) ([]index.Span, error) {
	x := r.lookup.index
	all := []index.Span{chosen}
	if l.Ranged {
		all = append(all, index.NewSpan(x.AppendForm(nil, index.HashedValue), false))
	}
	if x.Terms.Many {
		span := index.NewSpan(x.AppendForm(nil, index.ManyTerms), false)
		n, err := countEntries(r.src, span, fewEntries)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			all = append(all, span)
		}
	}
	return all, nil
}

// builtIndex returns an index that has the entries of all rows, or nil.
func (r *reader) builtIndex(definition *schema.Index) *index.Index {
	name := index.New(r.read.Table, definition)
	if name == nil {
		return nil
	}
	for _, x := range r.indexes {
		if x.Built && x.Name == name.Name {
			return x
		}
	}
	return nil
}

// fewEntries is how many entries are counted to compare indexes.
const fewEntries = 128

// countEntries counts the entries of a span, up to a limit.
func countEntries(src engine.Reader, span index.Span, limit int) (n int, err error) {
	err = src.Scan(span.Start, span.End, engine.ScanOptions{KeysOnly: true}, func(_, _ []byte) (bool, error) {
		n++
		return n < limit, nil
	})
	return n, err
}

func (r *reader) throughIndex() error {
	l := &r.lookup
	if l.candidate == nil {
		l.candidate, l.indexed = r.takeEntry, r.takeIndexed
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
	return r.eachCandidate()
}

func (r *reader) eachCandidate() error {
	l := &r.lookup
	if l.entry == nil {
		return r.eachGathered()
	}
	from, to, ok := r.rowBounds()
	if !ok {
		return nil
	}
	start, end := append(bytes.Clone(l.entry), from...), rows.Successor(bytes.Clone(l.entry))
	if len(to) > 0 {
		end = append(bytes.Clone(l.entry), to...)
	}
	l.prefetch.begin(r)
	if err := r.src.Scan(start, end, engine.ScanOptions{KeysOnly: true}, l.candidate); err != nil {
		return err
	}
	_, err := r.takeCandidates()
	return err
}

// rowBounds are the keys, after the number of the table, between which rows are wanted, given the partition or the
// tokens and the position to continue from. An empty end is that of the table.
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
		case a.Clustering != nil && l.index.Column.Kind != schema.Static:
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
