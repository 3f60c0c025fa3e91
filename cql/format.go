package cql

import (
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/quote"
)

// printer collects the text of a node. Statements are printed in one line, keywords in capitals.
type printer struct{ strings.Builder }

// text appends words and punctuation as they are.
func (p *printer) text(parts ...string) {
	for _, s := range parts {
		p.WriteString(s)
	}
}

// when appends s if cond holds: the optional words of a statement.
func (p *printer) when(cond bool, s string) {
	if cond {
		p.WriteString(s)
	}
}

// clause appends a keyword and a term, or nothing if the term is nil.
func (p *printer) clause(keyword string, t Term) {
	if t != nil {
		p.text(keyword, t.String())
	}
}

// each appends the items of a list with a separator between them.
func each[T any](p *printer, items []T, separator string, print func(T)) {
	for i, item := range items {
		if i > 0 {
			p.WriteString(separator)
		}
		print(item)
	}
}

// terms appends terms with commas between them.
func (p *printer) terms(terms []Term) {
	each(p, terms, ", ", func(t Term) { p.WriteString(t.String()) })
}

// names appends names, quoted where they must be, with commas between them.
func (p *printer) names(names []string) {
	each(p, names, ", ", func(n string) { p.WriteString(ident(n)) })
}

// pairs appends key: value entries with commas between them.
func (p *printer) pairs(n int, key func(int) string, values []Term) {
	for i := range n {
		if i > 0 {
			p.WriteString(", ")
		}
		p.text(key(i), ": ", values[i].String())
	}
}

// String prints a string with its quotes doubled, other literals as they were written.
func (l *Literal) String() string {
	switch l.Kind {
	case StringLiteral:
		return quote.Text(l.Text)
	case NullLiteral:
		return "NULL"
	default:
		return l.Text
	}
}

// String prints ? or :name.
func (m *Marker) String() string {
	if m.Name == "" {
		return "?"
	}
	return ":" + ident(m.Name)
}

// enclosed prints terms between two brackets.
func enclosed(open string, terms []Term, end string) string {
	var p printer
	p.text(open)
	p.terms(terms)
	p.text(end)
	return p.String()
}

// String prints [a, b].
func (l *ListLiteral) String() string { return enclosed("[", l.Elements.Parts, "]") }

// String prints {a, b}.
func (s *SetLiteral) String() string { return enclosed("{", s.Elements.Parts, "}") }

// String prints (a, b).
func (t *TupleLiteral) String() string { return enclosed("(", t.Elements, ")") }

// String prints {k: v}. A Run of entries prints both keys and values.
func (m *MapLiteral) String() string {
	var p printer
	p.text("{")
	for i, k := range m.Keys.Parts {
		p.when(i > 0, ", ")
		p.text(k.String())
		if !isRun(k) {
			p.text(": ", m.Values.Parts[i].String())
		}
	}
	p.text("}")
	return p.String()
}

// String prints {field: value}.
func (u *UserTypeLiteral) String() string {
	var p printer
	p.text("{")
	p.pairs(len(u.Fields), func(i int) string { return ident(u.Fields[i]) }, u.Values)
	p.text("}")
	return p.String()
}

// String prints the name and the arguments in parentheses.
func (c *Call) String() string {
	return c.functionName() + enclosed("(", c.Args, ")")
}

// notFunctions are the words that before a parenthesis are not a function unless quoted.
var notFunctions = wordSet("expr ttl writetime maxwritetime key cast json distinct")

// functionName prints the name of the function that is called. With an integer count is count(*).
func (c *Call) functionName() string {
	n := c.Function
	if n.Keyspace != "" {
		return n.functionString()
	}
	if n.Name == "count" && len(c.Args) == 1 {
		if l, ok := c.Args[0].(*Literal); ok && l.Kind == IntegerLiteral {
			return `"count"`
		}
	}
	if notFunctions[n.Name] {
		return `"` + n.Name + `"`
	}
	return n.functionString()
}

// functionString prints a function's name: token is reserved and a function all the same.
func (n QualifiedName) functionString() string {
	name := ident(n.Name)
	if n.Name == "token" {
		name = n.Name
	}
	if n.Keyspace == "" {
		return name
	}
	keyspace := ident(n.Keyspace)
	if notFunctions[n.Name] {
		name = `"` + n.Name + `"`
	}
	return keyspace + "." + name
}

// String prints CAST(value AS type).
func (c *Cast) String() string {
	return "CAST(" + c.Value.String() + " AS " + c.Type.String() + ")"
}

// String prints (type)value.
func (h *TypeHint) String() string { return "(" + h.Type.String() + ")" + h.Value.String() }

// String prints a op b, or -a. A space follows the minus where it would belong to a number or begin a comment.
func (a *Arithmetic) String() string {
	right := a.Right.String()
	if a.Left != nil {
		return a.Left.String() + " " + string(a.Op) + " " + right
	}
	if joinsMinus(right) {
		return "- " + right
	}
	return "-" + right
}

// joinsMinus reports whether a minus right before a text may become part of its first token: of a number, NaN,
// Infinity, a duration as in -P1Y, or a comment.
func joinsMinus(text string) bool { return strings.IndexByte("0123456789-nNiIpP", text[0]) >= 0 }

// String prints the name, quoted if it must be.
func (c *ColumnRef) String() string { return ident(c.Name) }

// String prints type<args>, inside frozen<> if that was written.
func (t TypeName) String() string {
	var p printer
	p.when(t.Frozen, "frozen<")
	switch {
	case t.IsClass():
		p.text(quote.Text(t.Class))
	case t.User:
		p.text(QualifiedName{Keyspace: t.Keyspace, Name: t.Name}.userTypeString())
	default:
		p.text(t.Name)
	}
	if len(t.Args) > 0 {
		p.text("<")
		each(&p, t.Args, ", ", func(arg TypeName) { p.text(arg.String()) })
		p.when(t.Name == "vector", ", "+strconv.Itoa(t.Dimension))
		p.text(">")
	}
	p.when(t.Frozen, ">")
	return p.String()
}

// notUserTypes are the words that need quotes as the unqualified name of a user type: native types, functions of
// cells, and reserved type names.
var notUserTypes = wordSet(`ascii bigint blob boolean counter date decimal double duration float inet int
	smallint text time timestamp timeuuid tinyint uuid varchar varint ttl count writetime maxwritetime cast
	json distinct byte complex enum interval macaddr bitstring`)

func (n QualifiedName) userTypeString() string {
	name := ident(n.Name)
	if notUserTypes[n.Name] {
		name = `"` + n.Name + `"`
	}
	if n.Keyspace == "" {
		return name
	}
	return ident(n.Keyspace) + "." + name
}
