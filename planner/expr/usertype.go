package expr

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// userType binds {field: value} for a user type; fields left out are null.
func (b *Binder) userType(l *cql.UserTypeLiteral, r Receiver) (Expr, error) {
	t, ok := r.Type.(*types.UserType)
	if !ok {
		return nil, cqlerr.Invalidf("Invalid user type literal for %s of type %s", r.Name, r.Type)
	}
	values := fieldValues(l)
	for _, f := range t.Fields {
		v := values[f.Name]
		if v == nil {
			continue
		}
		fit := b.Fit(v, f.Type)
		switch {
		case b.misplaced != nil:
			return nil, b.misplaced
		case fit != functions.NoFit:
			continue
		}
		return nil, cqlerr.Invalidf("Invalid user type literal for %s: field %s is not of type %s", r.Name, f.Name, f.Type)
	}
	parts := make([]Expr, len(t.Fields))
	for i, f := range t.Fields {
		parts[i] = Null(f.Type)
		if v := values[f.Name]; v != nil {
			var err error
			if parts[i], err = b.Bind(v, r.Part(r.Name+"."+f.Name, f.Type)); err != nil {
				return nil, err
			}
		}
	}
	for _, i := range schema.NameOrder(l.Fields) {
		if t.Field(l.Fields[i]) < 0 {
			return nil, UnknownField(l.Fields[i], t)
		}
	}
	return compose(&Composed{Of: t, Parts: parts, make: types.NewTuple})
}

// UnknownField is the answer to a literal with a field that its type does not have.
func UnknownField(field string, t *types.UserType) error {
	return cqlerr.Invalidf("Unknown field '%s' in value of user defined type %s", field, t.Name)
}

// fieldValues are the values of a literal by field. Of a field given twice the last one counts.
func fieldValues(l *cql.UserTypeLiteral) map[string]cql.Term {
	values := make(map[string]cql.Term, len(l.Fields))
	for i, name := range l.Fields {
		values[name] = l.Values[i]
	}
	return values
}

// fitFields is Fit of {a: b}: a user type's value, or in a SELECT list a map whose keys are columns.
func (b *Binder) fitFields(l *cql.UserTypeLiteral, to types.Type) functions.Fit {
	switch to := to.(type) {
	case *types.UserType:
		for name, v := range fieldValues(l) {
			switch i := to.Field(name); {
			case i < 0 && b.Selected != nil, i >= 0 && b.Fit(v, to.Fields[i].Type) == functions.NoFit:
				return functions.NoFit
			}
		}
		return functions.WeakFit
	case *types.Map:
		if b.checkEntries(l); b.Selected == nil {
			break
		}
		return min(
			b.fitAll(true, cql.Terms{Parts: FieldColumns(l)}, func() types.Type { return to.Key }),
			b.fitAll(true, cql.Terms{Parts: l.Values}, func() types.Type { return to.Value }),
		)
	default:
		b.checkEntries(l)
	}
	return functions.NoFit
}

// FieldColumns are the names before the colons of {a: b} as columns.
func FieldColumns(l *cql.UserTypeLiteral) []cql.Term {
	columns := make([]cql.Term, len(l.Fields))
	for i, name := range l.Fields {
		columns[i] = &cql.ColumnRef{Span: l.Span, Name: name}
	}
	return columns
}

// Components are the types that a tuple consists of, or a user type, which a tuple's literal is taken for too; ok is
// false for other types.
func Components(t types.Type) (elems []types.Type, ok bool) {
	switch t := t.(type) {
	case *types.Tuple:
		return t.Elems, true
	case *types.UserType:
		for _, f := range t.Fields {
			elems = append(elems, f.Type)
		}
		return elems, true
	}
	return nil, false
}

// IsTuple reports whether a term is a tuple's literal, perhaps behind hints.
func IsTuple(t cql.Term) bool {
	if h, ok := t.(*cql.TypeHint); ok {
		return IsTuple(h.Value)
	}
	_, ok := t.(*cql.TupleLiteral)
	return ok
}
