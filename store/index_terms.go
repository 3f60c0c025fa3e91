package store

import (
	"bytes"

	"github.com/cqld/cqld/cql/analysis"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/rows"
)

// Indexes that analyze text have entries of terms in place of values. Where LIKE looks for what is inside of terms or
// at their end (the mode CONTAINS of SSTable-attached indexes), each term has further entries: of the gramSize bytes
// that begin at each of its places, and at its last places of the fewer bytes that are left. A pattern that is longer
// looks for some gramSize bytes of it, and the rows are compared. A value of n bytes has up to n such entries.
//
// A value with more than mostTerms entries has a single one, which every read through the index looks at.

const (
	gramSize  = 8
	mostTerms = analysis.MaxSASITerm
)

// Match says how a Lookup compares terms with its value.
type Match uint8

// The ways: the whole term, its beginning, its end, or any place in it.
const (
	MatchWhole Match = iota
	MatchBeginning
	MatchEnd
	MatchInside
)

// termMaker makes the terms of values.
type termMaker struct {
	one  func(value []byte) []byte   // makes the only term of a value
	all  func(value []byte) [][]byte // makes all terms; short ones, which are never hashed
	many bool                        // a value may have more than one entry
	gram bool                        // terms have entries of their parts
}

// setTerms sets how the terms of an index are made. It reports false if the index is not kept.
func (x *keptIndex) setTerms(index *schema.Index) bool {
	switch index.Kind() {
	case schema.SAI:
		x.terms.one = analysis.ForSAI(index, x.value)
	case schema.SASI:
		mode := index.SASIMode(x.column)
		if mode.Unsupported() != "" {
			return false
		}
		if mode.Literal {
			x.terms = termMaker{
				all:  func(value []byte) [][]byte { return analysis.ForSASI(mode, value) },
				gram: mode.Mode == "CONTAINS",
				many: mode.Mode == "CONTAINS" || mode.Tokenizes(),
			}
			return true
		}
	}
	// A map whose values have terms is compared by entries in its own way.
	return comparesByKey(x.value) && (x.key == nil || comparesByKey(x.key) && x.terms.one == nil)
}

// any reports whether entries have terms in place of values.
func (m *termMaker) any() bool { return m.one != nil || m.all != nil }

// appendTerm appends a value, or a term, as it stands in keys.
func (x *keptIndex) appendTerm(dst, term []byte) []byte {
	if x.terms.any() {
		return types.Blob.AppendKey(dst, term, false)
	}
	return x.value.AppendKey(dst, term, false)
}

// appendBeginning appends what the keys of all terms begin with that begin so.
func appendBeginning(dst, term []byte) []byte {
	dst = types.Blob.AppendKey(dst, term, false)
	return dst[:len(dst)-2]
}

// giveTerms calls fn with the entries of the terms of a value, until it returns false.
func (e *entryMaker) giveTerms(x *keptIndex, value []byte, fn func(entry []byte) bool) bool {
	if x.terms.all == nil {
		term := value
		if x.terms.one != nil {
			term = x.terms.one(value)
		}
		e.value = x.appendTerm(e.value[:0], term)
		return e.give(x, fn)
	}
	terms := x.terms.all(value)
	if x.terms.overflow(terms) {
		e.entry = x.appendForm(e.entry[:0], manyTerms)
		return fn(e.entry)
	}
	for i, term := range terms {
		if len(term) >= analysis.MaxSASITerm || contains(terms[:i], term) {
			continue
		}
		e.entry = types.Blob.AppendKey(x.appendForm(e.entry[:0], wholeValue), term, false)
		if !fn(e.entry) || x.terms.gram && !e.giveGrams(x, term, fn) {
			return false
		}
	}
	return true
}

func contains(terms [][]byte, term []byte) bool {
	for _, t := range terms {
		if bytes.Equal(t, term) {
			return true
		}
	}
	return false
}

// giveGrams calls fn with the entries of what is inside of a term.
func (e *entryMaker) giveGrams(x *keptIndex, term []byte, fn func(entry []byte) bool) bool {
	for i := range term {
		gram := term[i:min(i+gramSize, len(term))]
		e.entry = types.Blob.AppendKey(x.appendForm(e.entry[:0], partOfTerm), gram, false)
		if !fn(e.entry) {
			return false
		}
	}
	return true
}

// overflow reports whether terms would have too many entries.
func (m *termMaker) overflow(terms [][]byte) bool {
	n := 0
	for _, term := range terms {
		switch {
		case len(term) >= analysis.MaxSASITerm:
		case m.gram:
			n += len(term)
		default:
			n++
		}
	}
	return n > mostTerms
}

// hasPart reports whether a value has the entry of a part of a term.
func (x *keptIndex) hasPart(value, entry []byte) bool {
	gram, rest, err := types.Blob.DecodeKey(nil, entry[rows.AreaSize+1:], false)
	if err != nil || len(rest) > 0 || len(gram) == 0 || len(gram) > gramSize {
		return false
	}
	terms := x.terms.all(value)
	if x.terms.overflow(terms) {
		return false
	}
	for _, term := range terms {
		if len(term) < analysis.MaxSASITerm &&
			(bytes.HasSuffix(term, gram) || len(gram) == gramSize && bytes.Contains(term, gram)) {
			return true
		}
	}
	return false
}

// mayBegin reports whether the index has entries of the form that this one has.
func (x *keptIndex) mayBegin(entry []byte) bool {
	switch entry[rows.AreaSize] {
	case wholeValue:
		return true
	case hashedValue:
		return x.terms.all == nil
	case partOfTerm:
		return x.terms.gram
	case manyTerms:
		return x.terms.many
	case ofRound:
		return x.isVector() && len(entry) == rows.AreaSize+1+roundSize
	}
	return false
}

// soughtTerms is where the entries are of the terms that a Lookup matches. If they are those of one term or of one part
// of terms, one is true. A long part is looked for by several of its parts: one of them is enough.
func (x *keptIndex) soughtTerms(l *Lookup) (all []entrySpan) {
	switch {
	case l.Match == MatchWhole:
		start := x.appendValue(nil, x.appendTerm(nil, l.Value))
		return []entrySpan{newEntrySpan(start, true)}
	case l.Match == MatchBeginning:
		return []entrySpan{newEntrySpan(appendBeginning(x.appendForm(nil, wholeValue), l.Value), false)}
	case l.Match == MatchInside && len(l.Value) < gramSize:
		return []entrySpan{newEntrySpan(appendBeginning(x.appendForm(nil, partOfTerm), l.Value), false)}
	case l.Match == MatchEnd:
		tail := l.Value[max(0, len(l.Value)-gramSize+1):]
		all = append(all, newEntrySpan(types.Blob.AppendKey(x.appendForm(nil, partOfTerm), tail, false), true))
	}
	for i := 0; i+gramSize <= len(l.Value) && len(all) < mostParts; i += gramSize / 2 {
		start := types.Blob.AppendKey(x.appendForm(nil, partOfTerm), l.Value[i:i+gramSize], false)
		all = append(all, newEntrySpan(start, true))
	}
	return all
}

// mostParts is how many parts of a pattern are compared.
const mostParts = 8

// entrySpan is where some entries are.
type entrySpan struct {
	start, end []byte
	one        bool // they are of one value: they all begin with start, and are in the order of the rows
}

func newEntrySpan(start []byte, one bool) entrySpan {
	return entrySpan{start: start, end: rows.Successor(bytes.Clone(start)), one: one}
}
