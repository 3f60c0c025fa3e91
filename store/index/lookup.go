package index

import (
	"bytes"
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/rows"
)

// Lookup says that only rows are wanted for which an index has a value, or one of a range: that of its column, or an
// element or a key or an entry of it. If the index analyzes text, terms are meant in place of values. A Read may
// deliver other rows as well.
type Lookup struct {
	Index *schema.Index
	Key   []byte // of an entry of a map
	Value []byte
	Match Match // of terms with Value

	Ranged   bool   // instead of Value a range is meant
	From, To []byte // its ends, inclusive; nil: it has none
}

// Match is how a Lookup compares terms with its value.
type Match uint8

// The ways: the whole term, its beginning, its end, or any place in it.
const (
	MatchWhole Match = iota
	MatchBeginning
	MatchEnd
	MatchInside
)

// EntriesOf returns the spans of the entries that a Lookup asks for. If there are more than one, each has all rows. A
// range lacks the long values.
func (x *Index) EntriesOf(l *Lookup) []Span {
	switch {
	case x.Terms.any() && !l.Ranged:
		return x.termSpans(l)
	case !l.Ranged:
		var value []byte
		if x.key != nil {
			value = x.key.AppendKey(value, l.Key, false)
		}
		return []Span{NewSpan(x.AppendValue(nil, x.Value.AppendKey(value, l.Value, false)), true)}
	}
	whole := x.AppendForm(nil, wholeValue)
	span := NewSpan(whole, false)
	if l.From != nil {
		span.Start = x.AppendTerm(slices.Clip(whole), l.From)
	}
	if l.To != nil {
		span.End = rows.Successor(x.AppendTerm(slices.Clip(whole), l.To))
	}
	return []Span{span}
}

// termSpans returns the spans of the terms that a Lookup matches. One is true for the entries of one term or of one
// part of terms. A long pattern is looked up by some of its parts: one span is enough.
func (x *Index) termSpans(l *Lookup) (all []Span) {
	switch {
	case l.Match == MatchWhole:
		start := x.AppendValue(nil, x.AppendTerm(nil, l.Value))
		return []Span{NewSpan(start, true)}
	case l.Match == MatchBeginning:
		return []Span{NewSpan(appendBeginning(x.AppendForm(nil, wholeValue), l.Value), false)}
	case l.Match == MatchInside && len(l.Value) < gramSize:
		return []Span{NewSpan(appendBeginning(x.AppendForm(nil, PartOfTerm), l.Value), false)}
	case l.Match == MatchEnd:
		tail := l.Value[max(0, len(l.Value)-gramSize+1):]
		all = append(all, NewSpan(types.Blob.AppendKey(x.AppendForm(nil, PartOfTerm), tail, false), true))
	}
	for i := 0; i+gramSize <= len(l.Value) && len(all) < maxParts; i += gramSize / 2 {
		start := types.Blob.AppendKey(x.AppendForm(nil, PartOfTerm), l.Value[i:i+gramSize], false)
		all = append(all, NewSpan(start, true))
	}
	return all
}

// maxParts is how many parts of a pattern are compared.
const maxParts = 8

// Span is where some entries are.
type Span struct {
	Start, End []byte
	One        bool // they are of one value: they all begin with start, and are in the order of the rows
}

// NewSpan returns the span of the keys that begin with start.
func NewSpan(start []byte, one bool) Span {
	return Span{Start: start, End: rows.Successor(bytes.Clone(start)), One: one}
}
