package planner

import (
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
)

// field plans x.name, which only user types have. A single term in parentheses is no tuple here.
func (s *selecting) field(t *cql.Field) (expr.Expr, error) {
	var expected types.Type
	if tuple, ok := t.Of.(*cql.TupleLiteral); ok {
		expected = s.binder.ExactType(tuple.Elements[0])
	}
	of, err := s.expression(t.Of, expected)
	if err != nil {
		return nil, err
	}
	u, ok := of.Type().(*types.UserType)
	if !ok {
		return nil, cqlerr.Invalidf("Invalid field selection: %s of type %s is not a user type", s.name(t.Of), of.Type())
	}
	i := u.Field(t.Name)
	if i < 0 {
		return nil, cqlerr.Invalidf("%s of type %s has no field %s", s.name(t.Of), u, t.Name)
	}
	return &expr.Field{Of: of, Index: i}, nil
}

// fieldType is the type of x.name, or nil if it is not known before x is planned: Cassandra does not see that a clustering
// column in descending order is of a user type.
func (s *selecting) fieldType(t *cql.Field) types.Type {
	if ref, ok := t.Of.(*cql.ColumnRef); ok {
		if c := s.table.Visible(ref.Name); c != nil && c.Desc {
			return nil
		}
	}
	if u, ok := s.binder.ExactType(t.Of).(*types.UserType); ok {
		if i := u.Field(t.Name); i >= 0 {
			return u.Fields[i].Type
		}
	}
	return nil
}

// prepareParts resolves what stands in a literal of that type.
func (s *selecting) prepareParts(t cql.Term, of types.Type) error {
	l, ok := t.(*cql.UserTypeLiteral)
	u, isUser := of.(*types.UserType)
	if !ok || !isUser {
		return s.prepareEntries(t)
	}
	s.userTypes[l] = true
	for i, name := range l.Fields {
		if u.Field(name) < 0 {
			return expr.UnknownField(name, u)
		}
		if err := s.prepare(l.Values[i]); err != nil {
			return err
		}
	}
	return nil
}

// userType plans {field: value}; fields left out are null.
func (s *selecting) userType(t cql.Term, u *types.UserType) (expr.Expr, error) {
	l, ok := t.(*cql.UserTypeLiteral)
	if !ok {
		first := t.(*cql.MapLiteral).Keys.Parts[0]
		return nil, cqlerr.Invalidf("%s is not a valid field identifier of type %s ", expr.Text(first), u.Name)
	}
	if err := s.prepareParts(l, u); err != nil {
		return nil, err
	}
	parts := make([]expr.Expr, len(u.Fields))
	for i, f := range u.Fields {
		parts[i] = expr.Null(f.Type)
	}
	for i, name := range l.Fields {
		at := u.Field(name)
		e, err := s.expression(l.Values[i], u.Fields[at].Type)
		if err != nil {
			return nil, err
		}
		parts[at] = e
	}
	return expr.NewComposed(u, parts), nil
}

// fieldsName is the name of a literal of a user type. A field given twice is shown once, with the last value.
func (s *selecting) fieldsName(l *cql.UserTypeLiteral) string {
	var fields []string
	last := map[string]int{}
	for i, name := range l.Fields {
		last[name] = i
	}
	for _, name := range l.Fields {
		if i, left := last[name]; left {
			fields = append(fields, name+": "+s.name(l.Values[i]))
			delete(last, name)
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}
