package expr

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/types"
)

// Operands are the sides of an operator; a minus before a term has one.
func Operands(a *cql.Arithmetic) []cql.Term {
	if a.Left == nil {
		return []cql.Term{a.Right}
	}
	return []cql.Term{a.Left, a.Right}
}

// Choose finds a function for arguments. Their texts are made only for a complaint that will be heard: those of deep
// terms are long.
func (b *Binder) Choose(
	terms []cql.Term, text func(cql.Term) string, resolve func([]functions.Arg) (*functions.Function, error),
) (*functions.Function, error) {
	args, err := b.args(terms)
	if err != nil {
		return nil, err
	}
	f, err := resolve(args)
	if b.misplaced != nil {
		return nil, b.misplaced
	}
	if err == nil || b.quiet > 0 {
		return f, err
	}
	for i, t := range terms {
		args[i].Text = text(t)
	}
	return resolve(args)
}

// quietly finds the function of a call whose complaints nobody hears, not even those about lists.
func (b *Binder) quietly(t cql.Term, receiver types.Type) (*functions.Function, error) {
	b.quiet++
	misplaced := b.misplaced
	defer func() { b.quiet, b.misplaced = b.quiet-1, misplaced }()
	return b.function(t, Receiver{Type: receiver})
}

// args are terms as overload choice sees them, without their texts.
func (b *Binder) args(terms []cql.Term) ([]functions.Arg, error) {
	args := make([]functions.Arg, len(terms))
	for i, t := range terms {
		if h, ok := t.(*cql.TypeHint); ok {
			if _, err := b.hinted(h); err != nil {
				return nil, err
			}
		}
		_, marker := t.(*cql.Marker)
		args[i] = functions.Arg{
			Type: b.ExactType(t), Likely: b.CompatibleType(t), Marker: marker, Desc: b.isDescending(t),
			Fits: func(to types.Type) functions.Fit { return b.Fit(t, to) },
		}
		switch t := t.(type) {
		case *cql.ListLiteral:
			args[i].Composed = true
			args[i].List, args[i].Elements = b.Selected != nil, t.Elements.Len()
		case *cql.SetLiteral, *cql.MapLiteral, *cql.UserTypeLiteral:
			args[i].Composed = true
		case *cql.TupleLiteral:
			args[i].Composed = len(t.Elements) > 1
		}
	}
	return args, nil
}

// isDescending reports whether a term is a clustering column in descending order.
func (b *Binder) isDescending(t cql.Term) bool {
	ref, ok := t.(*cql.ColumnRef)
	if !ok || b.Selected == nil {
		return false
	}
	c := b.Table.Visible(ref.Name)
	return c != nil && c.Desc
}

// function finds the function behind a call, CAST or operator whose result is for a receiver.
func (b *Binder) function(t cql.Term, r Receiver) (*functions.Function, error) {
	switch t := t.(type) {
	case *cql.Cast:
		if !functions.CanCast(t.Type.String()) {
			return nil, cqlerr.Invalidf("Unknown function system.%s called", functions.CastName(t.Type.String()))
		}
		return b.native(functions.CastName(t.Type.String()), []cql.Term{t.Value}, r)
	case *cql.Arithmetic:
		return b.native(functions.OperatorName(t.Op, t.Left == nil), Operands(t), r)
	}
	return b.resolve(t.(*cql.Call), r.Type)
}

// native finds a function that has syntax of its own.
func (b *Binder) native(name string, terms []cql.Term, r Receiver) (*functions.Function, error) {
	return b.Choose(terms, Text, func(args []functions.Arg) (*functions.Function, error) {
		for i := range args {
			args[i].Marker = args[i].Marker || r.Column != nil && r.Column.Desc
		}
		return functions.ResolveArgs("system."+name, args, r.Type)
	})
}

// apply binds a CAST or an operator, whose functions are chosen so that their result is for r.
func (b *Binder) apply(t cql.Term, terms []cql.Term, r Receiver) (Expr, error) {
	f, err := b.function(t, r)
	if err != nil {
		return nil, err
	}
	args := make([]Expr, len(terms))
	for i, a := range terms {
		if args[i], err = b.Bind(a, ArgReceiver(r.Keyspace, r.Table, f, i)); err != nil {
			return nil, err
		}
	}
	return computed(&Call{Function: f, Args: args}), nil
}
