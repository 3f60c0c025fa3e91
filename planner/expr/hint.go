package expr

import (
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

// hinted is the type that a hint names; in a SELECT list it is frozen.
func (b *Binder) hinted(h *cql.TypeHint) (types.Type, error) {
	t, err := b.NamedType(&h.Type)
	if err != nil || b.Selected == nil {
		return t, err
	}
	return types.Freeze(t), nil
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
	elems, ok := Components(r.Type)
	return ok && types.ValueCompatible(&types.Tuple{Elems: elems}, hint)
}

// hint binds (type) term: the term must fit the type, and the type the receiver, whose value the term then is.
func (b *Binder) hint(h *cql.TypeHint, r Receiver) (Expr, error) {
	t, err := b.hinted(h)
	if err != nil {
		return nil, err
	}
	fit := b.Fit(h.Value, t)
	if b.misplaced != nil {
		return nil, b.misplaced
	}
	if fit == functions.NoFit {
		return nil, cqlerr.Invalidf("Cannot cast value %s to type %s", Text(h.Value), TypeText(h.Type))
	}
	if fitHint(r.Type, t) == functions.NoFit && !fitsReversed(r, t) {
		return nil, cqlerr.Invalidf("Cannot assign value %s to %s of type %s", Text(h), r.Name, r.Type)
	}
	return b.Bind(h.Value, r)
}
