package expr

import (
	"slices"

	"github.com/cqld/cqld/cql"
)

// subterms are the terms that a term consists of, in the order of the text. Keys in brackets and the names in {a: b}
// are not among them: they are not part of the value.
func subterms(t cql.Term) []cql.Term {
	switch t := t.(type) {
	case *cql.ListLiteral:
		return t.Elements.Parts
	case *cql.SetLiteral:
		return t.Elements.Parts
	case *cql.TupleLiteral:
		return t.Elements
	case *cql.UserTypeLiteral:
		return t.Values
	case *cql.MapLiteral:
		entries := make([]cql.Term, 0, 2*len(t.Keys.Parts))
		for i, key := range t.Keys.Parts {
			entries = append(entries, key, t.Values.Parts[i])
		}
		return entries
	case *cql.Call:
		return t.Args
	case *cql.Arithmetic:
		if t.Left != nil {
			return []cql.Term{t.Left, t.Right}
		}
		return []cql.Term{t.Right} // the minus before a term
	case *cql.Cast:
		return []cql.Term{t.Value}
	case *cql.TypeHint:
		return []cql.Term{t.Value}
	case *cql.CellFunction:
		return []cql.Term{t.Arg}
	case *cql.Element:
		return []cql.Term{t.Of}
	case *cql.Slice:
		return []cql.Term{t.Of}
	case *cql.Field:
		return []cql.Term{t.Of}
	}
	return nil
}

// HasMarker reports whether there is a bind marker anywhere in the terms.
func HasMarker(terms ...cql.Term) bool {
	return slices.ContainsFunc(terms, func(t cql.Term) bool {
		switch t := t.(type) {
		case *cql.Literal:
			return false
		case *cql.Marker:
			return true
		case *cql.Run:
			return t.Kind == cql.RunMarkers
		}
		return HasMarker(subterms(t)...)
	})
}

// ColumnRefs are the columns named in a selector.
func ColumnRefs(t cql.Term) (refs []*cql.ColumnRef) {
	if ref, ok := t.(*cql.ColumnRef); ok {
		return []*cql.ColumnRef{ref}
	}
	for _, inner := range subterms(t) {
		refs = append(refs, ColumnRefs(inner)...)
	}
	return refs
}

// isCountAll reports whether a call is count of a literal that is not null, which is count(*).
func isCountAll(c *cql.Call) bool {
	if c.Function.Name != "count" || !isNative(c.Function) || len(c.Args) != 1 {
		return false
	}
	l, ok := c.Args[0].(*cql.Literal)
	return ok && l.Kind != cql.NullLiteral
}

// IsTuple reports whether a term is a tuple's literal, perhaps with type hints.
func IsTuple(t cql.Term) bool {
	if h, ok := t.(*cql.TypeHint); ok {
		return IsTuple(h.Value)
	}
	_, ok := t.(*cql.TupleLiteral)
	return ok
}
