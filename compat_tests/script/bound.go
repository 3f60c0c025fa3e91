package script

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol"
)

// Binding selects the literals of statements that become markers.
type Binding uint8

// The bindings: Bound makes a marker of each literal as a whole, Parts of each constant in it.
const (
	Unbound Binding = iota
	Bound
	Parts
)

// fault is the answer to a statement with bound values for which Cassandra returns a raw Java exception: another server
// may answer anything.
const fault = "fault"

// isFault reports whether an error is a Java exception.
func isFault(err error) bool {
	e, ok := cqlerr.As(err)
	return ok && e.Code == cqlerr.ServerError && strings.HasPrefix(e.Message, "java.")
}

// marshalException is the text before the reason for which Cassandra refuses a value, where it does not convert the
// exception to an invalid request.
const marshalException = "org.apache.cassandra.serializers.MarshalException: "

// describeBound is describe for a statement with bound values: the error of a refused value is shown as an invalid
// request.
func describeBound(err error) string {
	if e, ok := cqlerr.As(err); ok && e.Code == cqlerr.ServerError {
		if reason, ok := strings.CutPrefix(e.Message, marshalException); ok {
			return "invalid: " + reason
		}
	}
	return describe(err)
}

// boundText is a statement with markers instead of literals.
type boundText struct {
	cql      string
	literals []literal // by marker
}

// boundTexts are the texts to try: one with all markers, one without the markers for which Cassandra often has no type
// or which it does not accept (in selections, in arithmetic, and in lists, which may be vectors), and the plain text.
// Only statements that read or change rows get markers, and only if they have none.
func boundTexts(cql string, binding Binding) []boundText {
	plain := boundText{cql: cql}
	if binding == Unbound {
		return []boundText{plain}
	}
	tokens := tokenize(cql)
	if len(tokens) == 0 || !tokens[0].is("SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN") ||
		slices.ContainsFunc(tokens, func(t token) bool { return t.is("?") }) {
		return []boundText{plain}
	}
	var all, sure []literal
	selecting, listEnd := tokens[0].is("SELECT"), 0
	for at := 0; at < len(tokens); {
		if tokens[at].is("FROM") {
			selecting = false
		}
		l, next, ok := literalAt(tokens, at)
		if ok && binding == Parts && (l.kind == setLiteral || l.kind == mapLiteral) {
			at = next // no part of these can be a marker
			continue
		}
		if ok && l.kind == listLiteral {
			listEnd = max(listEnd, l.end)
		}
		if !ok || binding == Parts && l.kind != constantLiteral && l.kind != nullLiteral {
			at++
			continue
		}
		all = append(all, l)
		inList := binding == Parts && l.start < listEnd
		if !selecting && !inList && !isOperand(tokens, at, next) {
			sure = append(sure, l)
		}
		at = next
	}
	texts := []boundText{markers(cql, all)}
	for _, fewer := range [][]literal{sure, nil} {
		if len(fewer) < len(texts[len(texts)-1].literals) {
			texts = append(texts, markers(cql, fewer))
		}
	}
	return texts
}

// isOperand reports whether the tokens from at to next are an operand of arithmetic.
func isOperand(tokens []token, at, next int) bool {
	operator := func(i int) bool { return i > 0 && i < len(tokens) && tokens[i].is("+", "-", "*", "/", "%") }
	return operator(at-1) || operator(next)
}

// markers replaces literals by markers.
func markers(cql string, literals []literal) boundText {
	var b strings.Builder
	from := 0
	for _, l := range literals {
		b.WriteString(cql[from:l.start])
		b.WriteByte('?')
		from = l.end
	}
	b.WriteString(cql[from:])
	return boundText{b.String(), literals}
}

// values encodes the literals by the types of their markers.
func (t boundText) values(columns []protocol.ColumnSpec) []types.Value {
	var values []types.Value
	for i, l := range t.literals {
		if i < len(columns) {
			values = append(values, types.Value{Bytes: l.encode(columns[i].Type)})
		}
	}
	return values
}
