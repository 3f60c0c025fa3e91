package cql

import (
	"iter"
	"slices"
)

// Terms are terms with commas between them. In Parts a Run stands for many of them, so that a literal of a million
// numbers is not a million nodes.
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

// All goes through the terms. Those of a Run are made anew each time.
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

// List are the terms as a slice.
func (t Terms) List() []Term {
	if !t.Long() {
		return t.Parts
	}
	return slices.AppendSeq(make([]Term, 0, t.Len()), t.All())
}

// All goes through the entries of a map.
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
