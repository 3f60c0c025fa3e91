package expr

import (
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/schema"
)

// maxText is how long the text of several terms becomes before the rest is left out: no more of a message is sent.
const maxText = 1 << 16

// Text is a term as Cassandra's error texts show it: with quotes in strings as they are, not doubled, with names
// without quotes and markers without names. Nothing is known of the term yet.
func Text(t cql.Term) string { return (*Info)(nil).Text(t) }

// Text is Text of a term of which something may be known.
func (i *Info) Text(t cql.Term) string { return printer{info: i}.term(t) }

// Texts is Text of several terms, with commas between them.
func (i *Info) Texts(terms cql.Terms) string { return printer{info: i}.terms(terms) }

// Name is the name of a result column without an alias, which also names the selector in error texts. Identifiers
// have no quotes in it.
func (i *Info) Name(t cql.Term) string { return printer{info: i, names: true}.term(t) }

// printer makes the texts of terms.
type printer struct {
	info  *Info // nil: nothing is known
	names bool  // of result columns, else texts
}

// facts are the facts about a term.
func (p printer) facts(t cql.Term) facts {
	if p.info != nil {
		if known := p.info.facts[t]; known != nil {
			return *known
		}
	}
	return facts{}
}

func (p printer) term(t cql.Term) string {
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
		return "[" + p.terms(t.Elements) + "]"
	case *cql.SetLiteral:
		return "{" + p.terms(t.Elements) + "}"
	case *cql.TupleLiteral:
		return "(" + p.terms(cql.Terms{Parts: t.Elements}) + ")"
	case *cql.MapLiteral:
		var l list
		for k, v := range t.All() {
			if p.full(&l) {
				break
			}
			l.add(p.term(k) + ": " + p.term(v))
		}
		return "{" + l.String() + "}"
	case *cql.UserTypeLiteral:
		return "{" + p.fields(t) + "}"
	case *cql.TypeHint:
		return "(" + p.hint(t) + ")" + p.term(t.Value)
	case *cql.Element:
		return p.term(t.Of) + "[" + p.key(t.Key) + "]"
	case *cql.Slice:
		return p.term(t.Of) + "[" + p.key(t.From) + ".." + p.key(t.To) + "]"
	case *cql.Field:
		return p.term(t.Of) + "." + t.Name
	case *cql.CellFunction:
		return t.Name + "(" + p.term(t.Arg) + ")"
	case *cql.CountAll:
		if p.names {
			return "count"
		}
	case *cql.Call, *cql.Cast, *cql.Arithmetic:
		return p.application(t)
	}
	return t.String()
}

// application is a call, CAST or operator: names show the function that was chosen, texts show it as written.
func (p printer) application(t cql.Term) string {
	known := p.facts(t)
	f := known.function
	switch t := t.(type) {
	case *cql.Cast:
		switch value := p.term(t.Value); {
		case p.names && known.same:
			return value
		case p.names:
			return "cast(" + value + " as " + t.Type.String() + ")"
		default:
			return "system." + functions.CastName(t.Type.String()) + "(" + value + ")"
		}
	case *cql.Call:
		switch {
		case !p.names:
			return t.Function.String() + "(" + p.terms(cql.Terms{Parts: t.Args}) + ")"
		case isCountAll(t):
			return "count"
		case f != nil && f.User != nil:
			return f.FullName() + "(" + p.terms(cql.Terms{Parts: t.Args}) + ")"
		case f == nil || f.Column == nil:
			return "system." + t.Function.Name + "(" + p.terms(cql.Terms{Parts: t.Args}) + ")"
		}
	case *cql.Arithmetic:
		if !p.names {
			name := functions.OperatorName(t.Op, t.Left == nil)
			return `system."` + name + `"(` + p.terms(cql.Terms{Parts: subterms(t)}) + ")"
		}
	}
	var args []string
	for _, a := range subterms(t) {
		args = append(args, p.term(a))
	}
	return f.Column(args)
}

// hint is the name of a type that was written.
func (p printer) hint(h *cql.TypeHint) string {
	n := Settled(h.Type)
	Qualify(&n, p.facts(h).keyspace)
	return typeText(n)
}

// key is a key in brackets, which is a value; nil: none is given.
func (p printer) key(t cql.Term) string {
	if t == nil {
		return ""
	}
	return printer{info: p.info}.term(t)
}

// fields is {a: b} without the braces: names show a user type's fields in the order of the text, and a map as it is.
func (p printer) fields(t *cql.UserTypeLiteral) string {
	order := schema.NameOrder(t.Fields)
	switch {
	case p.names && p.facts(t).fields:
		order = lastFields(t.Fields)
	case p.names:
		order = order[:0]
		for i := range t.Fields {
			order = append(order, i)
		}
	}
	var l list
	for _, i := range order {
		l.add(t.Fields[i] + ": " + p.term(t.Values[i]))
	}
	return l.String()
}

// terms are several terms with commas between them.
func (p printer) terms(terms cql.Terms) string {
	var l list
	for t := range terms.All() {
		if p.full(&l) {
			break
		}
		l.add(p.term(t))
	}
	return l.String()
}

// full reports whether a text is long enough. Names are whole.
func (p printer) full(l *list) bool { return !p.names && l.Len() > maxText }

// list is a text of things with commas between them.
type list struct{ strings.Builder }

func (l *list) add(text string) {
	if l.Len() > 0 {
		l.WriteString(", ")
	}
	l.WriteString(text)
}
