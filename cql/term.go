package cql

import (
	"iter"
	"slices"
)

// Term is a value as written on the right of a relation, in VALUES, in SET, or in a selection.
type Term interface {
	term()
	String() string // the term as CQL
	Position() Span // in the text that was parsed
}

// LiteralKind is the shape of a literal.
type LiteralKind uint8

// The shapes of literals. Only null has no value.
const (
	StringLiteral LiteralKind = iota
	IntegerLiteral
	FloatLiteral
	BooleanLiteral
	HexLiteral
	UUIDLiteral
	DurationLiteral
	NullLiteral
)

// Literal is a constant: Text holds a string's content without quotes and doubled quotes, and everything
// else as written.
type Literal struct {
	Span
	Kind LiteralKind
	Text string
}

// Marker is a bind marker, ? or :name. Index counts the statement's markers from 0 in order of the text.
type Marker struct {
	Span
	Name  string // "" for ?
	Index int
}

// ListLiteral is [a, b]: a list or a vector.
type ListLiteral struct {
	Span
	Elements Terms
}

// SetLiteral is {a, b}; empty it may also be a map.
type SetLiteral struct {
	Span
	Elements Terms
}

// MapLiteral is {k: v, ...}.
type MapLiteral struct {
	Span
	Keys, Values Terms
}

// UserTypeLiteral is {field: value, ...}.
type UserTypeLiteral struct {
	Span
	Fields []string
	Values []Term
}

// TupleLiteral is (a, b, ...).
type TupleLiteral struct {
	Span
	Elements []Term
}

// Call is a function call: now(), token(a, b).
type Call struct {
	Span
	Function QualifiedName
	Args     []Term
}

// Cast is CAST(term AS type).
type Cast struct {
	Span
	Value Term
	Type  TypeName
}

// TypeHint is (type) term.
type TypeHint struct {
	Span
	Type  TypeName
	Value Term
}

// Arithmetic is left op right with op one of + - * / %, or -right when Left is nil.
type Arithmetic struct {
	Span
	Op    byte
	Left  Term
	Right Term
}

// ColumnRef is a column's name. It is a term only in selections.
type ColumnRef struct {
	Span
	Name string
}

func (*Literal) term()         {}
func (*Marker) term()          {}
func (*ListLiteral) term()     {}
func (*SetLiteral) term()      {}
func (*MapLiteral) term()      {}
func (*UserTypeLiteral) term() {}
func (*TupleLiteral) term()    {}
func (*Call) term()            {}
func (*Cast) term()            {}
func (*TypeHint) term()        {}
func (*Arithmetic) term()      {}
func (*ColumnRef) term()       {}

// Terms is a list of terms. A Run in Parts represents many of them, so that a literal of a million numbers is not a
// million nodes.
type Terms struct {
	Parts []Term
}

// Len is the number of terms.
func (t Terms) Len() int {
	n := len(t.Parts)
	for _, p := range t.Parts {
		if run, ok := p.(*Run); ok {
			n += run.Count - 1
		}
	}
	return n
}

// Long reports whether a Run is among the parts.
func (t Terms) Long() bool { return slices.ContainsFunc(t.Parts, isRun) }

func isRun(t Term) bool {
	_, ok := t.(*Run)
	return ok
}

// All iterates over the terms. The terms of a Run are allocated on each call.
func (t Terms) All() iter.Seq[Term] {
	return func(yield func(Term) bool) {
		for _, p := range t.Parts {
			run, ok := p.(*Run)
			if !ok {
				if !yield(p) {
					return
				}
				continue
			}
			for term := range run.All() {
				if !yield(term) {
					return
				}
			}
		}
	}
}

// List returns the terms as a slice.
func (t Terms) List() []Term {
	if !t.Long() {
		return t.Parts
	}
	return slices.AppendSeq(make([]Term, 0, t.Len()), t.All())
}

// All iterates over the entries of a map.
func (m *MapLiteral) All() iter.Seq2[Term, Term] {
	return func(yield func(k, v Term) bool) {
		for i, k := range m.Keys.Parts {
			run, ok := k.(*Run)
			if !ok {
				if !yield(k, m.Values.Parts[i]) {
					return
				}
				continue
			}
			for k, v := range run.Entries() {
				if !yield(k, v) {
					return
				}
			}
		}
	}
}
