package index

import (
	"bytes"

	"github.com/cqld/cqld/cql/analysis"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/rows"
)

// Indexes that analyze text have entries of terms instead of values. Where LIKE matches the inside or the end of terms
// (the mode CONTAINS of SASI), each term has further entries: of the gramSize bytes that begin at each of its places,
// and of the fewer bytes at its last places. A longer pattern is looked up by some gramSize bytes of it, and the rows
// are compared. A value of n bytes has up to n such entries.
//
// A value with more than MaxTerms entries has a single one, which every read through the index looks at.

const (
	gramSize = 8
	// MaxTerms is the most entries of one value.
	MaxTerms = analysis.MaxSASITerm
)

// termMaker makes the terms of values.
type termMaker struct {
	one  func(value []byte) []byte   // makes the only term of a value
	all  func(value []byte) [][]byte // makes all terms; short ones, which are never hashed
	Many bool                        // a value may have more than one entry
	Gram bool                        // terms have entries of their parts
}

// setTerms sets how the terms of an index are made. It reports false if the index is not kept.
func (x *Index) setTerms(index *schema.Index) bool {
	switch index.Kind() {
	case schema.SAI:
		x.Terms.one = analysis.ForSAI(index, x.Value)
	case schema.SASI:
		mode := index.SASIMode(x.Column)
		if mode.Unsupported() != "" {
			return false
		}
		if mode.Literal {
			x.Terms = termMaker{
				all:  func(value []byte) [][]byte { return analysis.ForSASI(mode, value) },
				Gram: mode.Mode == "CONTAINS",
				Many: mode.Mode == "CONTAINS" || mode.Tokenizes(),
			}
			return true
		}
	}
	// A map whose values have terms is compared by entries in its own way.
	return comparesByKey(x.Value) && (x.key == nil || comparesByKey(x.key) && x.Terms.one == nil)
}

func (m *termMaker) any() bool { return m.one != nil || m.all != nil }

// AppendTerm appends a value, or a term, as keys have it.
func (x *Index) AppendTerm(dst, term []byte) []byte {
	if x.Terms.any() {
		return types.Blob.AppendKey(dst, term, false)
	}
	return x.Value.AppendKey(dst, term, false)
}

// appendBeginning appends the prefix of the keys of all terms that begin with one.
func appendBeginning(dst, term []byte) []byte {
	dst = types.Blob.AppendKey(dst, term, false)
	return dst[:len(dst)-2]
}

// giveTerms calls fn with the entries of the terms of a value, until it returns false.
func (e *Maker) giveTerms(x *Index, value []byte, fn func(entry []byte) bool) bool {
	if x.Terms.all == nil {
		term := value
		if x.Terms.one != nil {
			term = x.Terms.one(value)
		}
		e.value = x.AppendTerm(e.value[:0], term)
		return e.give(x, fn)
	}
	terms := x.Terms.all(value)
	if x.Terms.overflow(terms) {
		e.entry = x.AppendForm(e.entry[:0], ManyTerms)
		return fn(e.entry)
	}
	for i, term := range terms {
		if len(term) >= analysis.MaxSASITerm || contains(terms[:i], term) {
			continue
		}
		e.entry = types.Blob.AppendKey(x.AppendForm(e.entry[:0], wholeValue), term, false)
		if !fn(e.entry) || x.Terms.Gram && !e.giveGrams(x, term, fn) {
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

func (e *Maker) giveGrams(x *Index, term []byte, fn func(entry []byte) bool) bool {
	for i := range term {
		gram := term[i:min(i+gramSize, len(term))]
		e.entry = types.Blob.AppendKey(x.AppendForm(e.entry[:0], PartOfTerm), gram, false)
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
		case m.Gram:
			n += len(term)
		default:
			n++
		}
	}
	return n > MaxTerms
}

// hasPart reports whether a value has the entry of a part of a term.
func (x *Index) hasPart(value, entry []byte) bool {
	gram, rest, err := types.Blob.DecodeKey(nil, entry[rows.AreaSize+1:], false)
	if err != nil || len(rest) > 0 || len(gram) == 0 || len(gram) > gramSize {
		return false
	}
	terms := x.Terms.all(value)
	if x.Terms.overflow(terms) {
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

// MayBegin reports whether the index has entries of the form that this one has.
func (x *Index) MayBegin(entry []byte) bool {
	switch entry[rows.AreaSize] {
	case wholeValue:
		return true
	case HashedValue:
		return x.Terms.all == nil
	case PartOfTerm:
		return x.Terms.Gram
	case ManyTerms:
		return x.Terms.Many
	case ofRound:
		return x.IsVector() && len(entry) == rows.AreaSize+1+roundSize
	}
	return false
}
