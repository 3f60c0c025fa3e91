package expr

import (
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
		return "(" + TypeText(t.Type) + ")" + Text(t.Value)
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

// fieldsText is Text of the literal of a user type.
func fieldsText(l *cql.UserTypeLiteral) string {
	var fields []string
	for _, i := range hashOrder(l.Fields) {
		fields = append(fields, l.Fields[i]+": "+Text(l.Values[i]))
	}
	return "{" + strings.Join(fields, ", ") + "}"
}
