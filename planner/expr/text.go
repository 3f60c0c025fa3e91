package expr

import (
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/schema"
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
		return "(" + textOf(t.Elements) + ")"
	case *cql.MapLiteral:
		var s strings.Builder
		separator := ""
		for k, v := range t.All() {
			if s.Len() > maxText {
				break
			}
			s.WriteString(separator + Text(k) + ": " + Text(v))
			separator = ", "
		}
		return "{" + s.String() + "}"
	case *cql.UserTypeLiteral:
		return fieldsText(t)
	case *cql.Call:
		return t.Function.String() + "(" + textOf(t.Args) + ")"
	case *cql.Arithmetic:
		return `system."` + functions.OperatorName(t.Op, t.Left == nil) + `"(` + textOf(Operands(t)) + ")"
	case *cql.Cast:
		return "system." + functions.CastName(t.Type.String()) + "(" + Text(t.Value) + ")"
	case *cql.TypeHint:
		return "(" + TypeText(t.Type) + ")" + Text(t.Value)
	}
	return t.String()
}

// maxText is how long the text of several terms becomes before the rest is left out: no more of a message is sent.
const maxText = 1 << 16

// Texts is Text of several terms, with commas between them.
func Texts(terms cql.Terms) string {
	var s strings.Builder
	separator := ""
	for t := range terms.All() {
		if s.Len() > maxText {
			break
		}
		s.WriteString(separator + Text(t))
		separator = ", "
	}
	return s.String()
}

// textOf is Texts of a slice.
func textOf(terms []cql.Term) string { return Texts(cql.Terms{Parts: terms}) }

// fieldsText is Text of the literal of a user type.
func fieldsText(l *cql.UserTypeLiteral) string {
	var fields []string
	for _, i := range schema.NameOrder(l.Fields) {
		fields = append(fields, l.Fields[i]+": "+Text(l.Values[i]))
	}
	return "{" + strings.Join(fields, ", ") + "}"
}
