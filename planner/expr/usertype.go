package expr

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// userType checks {field: value} for a user type; fields left out are null.
func (c *Checker) userType(l *cql.UserTypeLiteral, r Receiver) (Expr, error) {
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
		fits, err := c.fits(v, f.Type)
		switch {
		case err != nil:
			return nil, err
		case fits:
			continue
		}
		return nil, cqlerr.Invalidf("Invalid user type literal for %s: field %s is not of type %s", r.Name, f.Name, f.Type)
	}
	value := composed(t)
	value.Parts = make([]Expr, len(t.Fields))
	for i, f := range t.Fields {
		value.Parts[i] = Null(f.Type)
		if v := values[f.Name]; v != nil {
			var err error
			if value.Parts[i], err = c.value(v, r.Part(r.Name+"."+f.Name, f.Type)); err != nil {
				return nil, err
			}
		}
	}
	for _, i := range schema.NameOrder(l.Fields) {
		if t.Field(l.Fields[i]) < 0 {
			return nil, unknownField(l.Fields[i], t)
		}
	}
	return compose(value)
}

// unknownField is the answer to a literal with a field that its type does not have.
func unknownField(field string, t *types.UserType) error {
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

// keyColumns are the names before the colons of {a: b} as columns.
func (c *Checker) keyColumns(l *cql.UserTypeLiteral) []cql.Term {
	facts := c.of(l)
	if facts.columns == nil {
		facts.columns = make([]cql.Term, len(l.Fields))
		for i, name := range l.Fields {
			facts.columns[i] = &cql.ColumnRef{Span: l.Span, Name: name}
		}
	}
	return facts.columns
}

// components are the types that a tuple consists of, or a user type, which a tuple's literal is taken for too; ok is
// false for other types.
func components(t types.Type) (elems []types.Type, ok bool) {
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

// lastFields are the places of the fields of a literal, without repetitions: a field that is given again stays where it
// was and has the last place.
func lastFields(fields []string) []int {
	order := make([]int, 0, len(fields))
	at := make(map[string]int, len(fields))
	for i, name := range fields {
		if before, again := at[name]; again {
			order[before] = i
			continue
		}
		at[name] = len(order)
		order = append(order, i)
	}
	return order
}
