package expr

import (
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/types"
)

// Hinted is a selected value under the type that a hint gives it: its bytes are a value of that type too.
type Hinted struct {
	Of    types.Type
	Value Expr
}

// Type is the hint's.
func (h *Hinted) Type() types.Type { return h.Of }

// Eval returns the value as it is.
func (h *Hinted) Eval(x *Context) (types.Value, error) { return h.Value.Eval(x) }

// String prints (type)value.
func (h *Hinted) String() string { return "(" + h.Of.String() + ")" + h.Value.String() }

// hinted is the type that a hint names; in a selector it is frozen. From then on texts show the keyspace of user types.
func (c *Checker) hinted(h *cql.TypeHint) (types.Type, error) {
	t, err := c.Names.TypeOf(c.Keyspace, h.Type)
	if err != nil {
		return nil, err
	}
	if c.Keyspace != "" {
		c.of(h).keyspace = c.Keyspace
	}
	if c.Selects {
		t = types.Freeze(t)
	}
	return t, nil
}

// fitHint is how well the type of a hint fits another one. Only here frozen collections are not the others.
func fitHint(to, hint types.Type) functions.Fit {
	switch {
	case types.Equal(to, hint):
		return functions.ExactFit
	case types.IsMultiCell(to) == types.IsMultiCell(hint) && types.ValueCompatible(to, hint):
		return functions.WeakFit
	}
	return functions.NoFit
}

// fitsReversed reports whether a hint fits a clustering column in descending order, of which Cassandra asks less: all
// tuples are user types of the same fields.
func fitsReversed(r Receiver, hint types.Type) bool {
	if r.Column == nil || !r.Column.Desc {
		return false
	}
	elems, ok := components(r.Type)
	return ok && types.ValueCompatible(&types.Tuple{Elems: elems}, hint)
}

// hint checks (type) term: the term must fit the type, and the type the receiver, whose value the term then is.
func (c *Checker) hint(h *cql.TypeHint, r Receiver) (Expr, error) {
	t, err := c.hinted(h)
	if err != nil {
		return nil, err
	}
	switch fit, err := c.fit(h.Value, t); {
	case err != nil:
		return nil, err
	case fit == functions.NoFit:
		return nil, cqlerr.Invalidf("Cannot cast value %s to type %s", c.Text(h.Value), printer{info: c.Info}.hint(h))
	case fitHint(r.Type, t) == functions.NoFit && !fitsReversed(r, t):
		return nil, errNotAssignable(c.Text(h), r.Name, r.Type)
	}
	return c.value(h.Value, r)
}

// errNotAssignable refuses a value whose type does not fit its receiver.
func errNotAssignable(value, receiver string, t types.Type) error {
	return cqlerr.Invalidf("Cannot assign value %s to %s of type %s", value, receiver, t)
}

// selectedHint checks (type) selector.
func (c *Checker) selectedHint(h *cql.TypeHint) (Expr, error) {
	t, err := c.hinted(h)
	if err != nil {
		return nil, err
	}
	if err := c.resolveParts(h.Value, t); err != nil {
		return nil, err
	}
	switch fit, err := c.fit(h.Value, t); {
	case err != nil:
		return nil, err
	case fit == functions.NoFit:
		return nil, errNotAssignable(c.Name(h), c.Name(h), t)
	}
	e, err := c.selector(h.Value, t)
	if err != nil {
		return nil, err
	}
	return &Hinted{Of: t, Value: e}, nil
}

// Settled is the name of a type with frozen<> wherever the type is frozen: everything inside frozen<> is, and so are
// the fields of tuples, but not the elements of vectors.
func Settled(n cql.TypeName) cql.TypeName { return settled(n, false) }

// settled is Settled of a name that may be inside frozen<>.
func settled(n cql.TypeName, frozen bool) cql.TypeName {
	n.Frozen = n.Frozen || frozen && (n.User || len(n.Args) > 0)
	inside := n.Frozen
	if !n.User {
		inside = n.Name == "tuple" || n.Frozen && n.Name != "vector"
	}
	args := make([]cql.TypeName, len(n.Args))
	for i, a := range n.Args {
		args[i] = settled(a, inside)
	}
	n.Args = args
	return n
}

// Qualify writes the keyspace before the names of user types in n that have none. Error texts and names of columns show
// it once a type was looked for.
func Qualify(n *cql.TypeName, keyspace string) {
	if n.User && n.Keyspace == "" {
		n.Keyspace = keyspace
	}
	for i := range n.Args {
		Qualify(&n.Args[i], keyspace)
	}
}

// TypeText is the name of a type as Cassandra's texts show it: settled, without quotes, and without frozen<> where a
// type cannot be anything else.
func TypeText(n cql.TypeName) string { return typeText(Settled(n)) }

// typeText is TypeText of a name that is settled.
func typeText(n cql.TypeName) string {
	text := n.Name
	switch {
	case n.IsClass():
		text = "'" + n.Class + "'"
		if t, err := types.FromClassName(n.Class); err == nil {
			text = "'" + t.ClassName() + "'"
		}
	case n.User && n.Keyspace != "":
		text = n.Keyspace + "." + n.Name
	case len(n.Args) > 0:
		args := make([]string, len(n.Args))
		for i, a := range n.Args {
			args[i] = typeText(a)
		}
		if n.Name == "vector" {
			args = append(args, strconv.Itoa(n.Dimension))
		}
		text += "<" + strings.Join(args, ", ") + ">"
	}
	if n.Frozen && (n.User || n.Name != "tuple" && n.Name != "vector") {
		return "frozen<" + text + ">"
	}
	return text
}

// ErrSetOfDurations refuses a type of sets: durations have no order.
func ErrSetOfDurations(set string) error {
	return cqlerr.Invalidf("Durations are not allowed inside sets: %s", set)
}

// ErrDurationKeys refuses a type of maps whose keys are durations.
func ErrDurationKeys(mapType string) error {
	return cqlerr.Invalidf("Durations are not allowed as map keys: %s", mapType)
}
