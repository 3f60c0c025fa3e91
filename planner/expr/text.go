package expr

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/functions"
)

// Text is a term as Cassandra's error texts show it: with quotes in strings as they are, not doubled, with names
// without quotes and markers without names.
func Text(t cql.Term) string {
	switch t := t.(type) {
	case *cql.Literal:
		if t.Kind == cql.StringLiteral {
			return "'" + t.Text + "'"
		}
	case *cql.Marker:
		return "?"
	case *cql.ColumnRef:
		return t.Name
	case *cql.ListLiteral:
		return "[" + Texts(t.Elements) + "]"
	case *cql.SetLiteral:
		return "{" + Texts(t.Elements) + "}"
	case *cql.TupleLiteral:
		return "(" + Texts(t.Elements) + ")"
	case *cql.MapLiteral:
		entries := make([]string, len(t.Keys))
		for i, k := range t.Keys {
			entries[i] = Text(k) + ": " + Text(t.Values[i])
		}
		return "{" + strings.Join(entries, ", ") + "}"
	case *cql.UserTypeLiteral:
		return fieldsText(t)
	case *cql.Call:
		return t.Function.String() + "(" + Texts(t.Args) + ")"
	case *cql.Arithmetic:
		return `system."` + functions.OperatorName(t.Op, t.Left == nil) + `"(` + Texts(Operands(t)) + ")"
	case *cql.Cast:
		return "system." + functions.CastName(t.Type.String()) + "(" + Text(t.Value) + ")"
	case *cql.TypeHint:
		return "(" + t.Type.String() + ")" + Text(t.Value)
	}
	return t.String()
}

// Texts is Text of several terms, with commas between them.
func Texts(terms []cql.Term) string {
	all := make([]string, len(terms))
	for i, t := range terms {
		all[i] = Text(t)
	}
	return strings.Join(all, ", ")
}

// fieldsText is Text of the literal of a user type. Cassandra keeps its fields in a hash map, and shows them in that
// one's order.
func fieldsText(l *cql.UserTypeLiteral) string {
	buckets := uint32(16)
	for float64(len(l.Fields)) > 0.75*float64(buckets) {
		buckets *= 2
	}
	order := make([]int, len(l.Fields))
	for i := range order {
		order[i] = i
	}
	bucket := func(i int) uint32 {
		h := bytesHash(l.Fields[i])
		return (h ^ h>>16) & (buckets - 1)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(bucket(a), bucket(b)) })
	fields := make([]string, len(order))
	for i, at := range order {
		fields[i] = l.Fields[at] + ": " + Text(l.Values[at])
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// bytesHash is the hash code that Java's buffers have.
func bytesHash(s string) uint32 {
	h := uint32(1)
	for i := len(s) - 1; i >= 0; i-- {
		h = 31*h + uint32(int32(int8(s[i])))
	}
	return h
}
