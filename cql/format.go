package cql

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/quote"
)

// Statements are printed in one line, keywords in capitals.

// when is s if cond holds: the optional words of a statement.
func when(cond bool, s string) string {
	if cond {
		return s
	}
	return ""
}

// clause is a keyword and a term, or nothing if the term is nil.
func clause(keyword string, t Term) string {
	if t == nil {
		return ""
	}
	return keyword + t.String()
}

// joined prints the items of a list with a separator between them.
func joined[T fmt.Stringer](items []T, separator string) string {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = item.String()
	}
	return strings.Join(texts, separator)
}

// enclosed prints a list between two brackets.
func enclosed[T fmt.Stringer](open string, items []T, end string) string {
	return open + joined(items, ", ") + end
}

// names prints names, quoted where they must be, with commas between them.
func names(all []string) string {
	quoted := make([]string, len(all))
	for i, n := range all {
		quoted[i] = ident(n)
	}
	return strings.Join(quoted, ", ")
}

// with is a WITH clause of the options that are not empty, or nothing.
func with(options ...string) string {
	options = slices.DeleteFunc(options, func(o string) bool { return o == "" })
	return when(len(options) > 0, " WITH ") + strings.Join(options, " AND ")
}

// create begins the statement that defines something.
func create(kind string, ifNotExists bool) string {
	return "CREATE " + kind + " " + when(ifNotExists, "IF NOT EXISTS ")
}

// alter begins the statement that changes something.
func alter(kind string, ifExists bool) string {
	return "ALTER " + kind + " " + when(ifExists, "IF EXISTS ")
}

// drop begins the statement that removes something.
func drop(kind string, ifExists bool) string {
	return "DROP " + kind + " " + when(ifExists, "IF EXISTS ")
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

// String prints [a, b].
func (l *ListLiteral) String() string { return enclosed("[", l.Elements.Parts, "]") }

// String prints {a, b}.
func (s *SetLiteral) String() string { return enclosed("{", s.Elements.Parts, "}") }

// String prints (a, b).
func (t *TupleLiteral) String() string { return enclosed("(", t.Elements, ")") }

// String prints {k: v}. A Run of entries prints both keys and values.
func (m *MapLiteral) String() string {
	entries := make([]string, len(m.Keys.Parts))
	for i, k := range m.Keys.Parts {
		if entries[i] = k.String(); !isRun(k) {
			entries[i] += ": " + m.Values.Parts[i].String()
		}
	}
	return "{" + strings.Join(entries, ", ") + "}"
}

// String prints {field: value}.
func (u *UserTypeLiteral) String() string {
	fields := make([]string, len(u.Fields))
	for i, name := range u.Fields {
		fields[i] = ident(name) + ": " + u.Values[i].String()
	}
	return "{" + strings.Join(fields, ", ") + "}"
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
func (c ColumnRef) String() string { return ident(c.Name) }

// String prints type<args>, inside frozen<> if that was written.
func (t TypeName) String() string {
	text := t.Name
	switch {
	case t.IsClass():
		text = quote.Text(t.Class)
	case t.User:
		text = QualifiedName{Keyspace: t.Keyspace, Name: t.Name}.userTypeString()
	}
	if len(t.Args) > 0 {
		text += enclosed("<", t.Args, when(t.Name == "vector", ", "+strconv.Itoa(t.Dimension))+">")
	}
	if t.Frozen {
		return "frozen<" + text + ">"
	}
	return text
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
