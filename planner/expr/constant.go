package expr

import (
	"errors"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// Constant is a value known when the statement is planned.
type Constant struct {
	Of       types.Type
	Value    types.Value
	Computed bool // by functions
}

// Type is the type that the receiver has.
func (c *Constant) Type() types.Type { return c.Of }

// Eval returns the value, which nobody may change.
func (c *Constant) Eval(*Context) (types.Value, error) { return c.Value, nil }

// String prints the value as a literal.
func (c *Constant) String() string {
	switch {
	case c.Value.Unset:
		return "unset"
	case c.Value.IsNull():
		return "null"
	}
	return c.Of.Format(c.Value.Bytes)
}

// Null is the constant null of a type.
func Null(t types.Type) *Constant { return &Constant{Of: t} }

// literal makes a constant of a literal, as the receiver's type reads it.
func (c *Checker) literal(l *cql.Literal, r Receiver) (Expr, error) {
	if l.Kind == cql.NullLiteral && r.Type == types.Counter {
		return nil, cqlerr.Invalidf("Invalid null value for counter increment/decrement")
	}
	if l.Kind == cql.NullLiteral {
		return Null(r.Type), nil
	}
	value, err := c.literalBytes(l, r)
	if err != nil {
		return nil, err
	}
	return &Constant{Of: r.Type, Value: types.Value{Bytes: value}}, nil
}

// literalBytes is the value of a literal that is not null, as the receiver's type reads it.
func (c *Checker) literalBytes(l *cql.Literal, r Receiver) ([]byte, error) {
	kind := types.LiteralKind(l.Kind)
	value, err := c.Clock.ParseLiteral(r.Type, kind, l.Text)
	if errors.Is(err, types.ErrKind) {
		return nil, cqlerr.Invalidf(`Invalid %s constant (%s) for "%s" of type %s`, kind, l.Text, r.Name, r.Type)
	}
	if err != nil {
		return nil, invalidValue(err)
	}
	return value, nil
}

// literalFits reports whether a type takes literals of that kind at all.
func literalFits(l *cql.Literal, t types.Type) bool {
	if l.Kind == cql.NullLiteral {
		return t != types.Counter
	}
	_, err := t.ParseLiteral(types.LiteralKind(l.Kind), l.Text)
	return !errors.Is(err, types.ErrKind)
}

// fold computes an expression that depends on nothing but constants. Where functions are called, what fails does so
// when it is run.
func fold(e Expr, parts []Expr) (Expr, error) {
	_, computed := e.(*Call)
	for _, p := range parts {
		c, ok := p.(*Constant)
		if !ok {
			return e, nil
		}
		computed = computed || c.Computed
	}
	v, err := e.Eval(&Context{})
	switch {
	case err != nil && computed:
		return e, nil
	case err != nil:
		return nil, err
	}
	return &Constant{Of: e.Type(), Value: v, Computed: computed}, nil
}
