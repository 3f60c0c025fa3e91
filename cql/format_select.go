package cql

import (
	"strings"

	"github.com/cqld/cqld/cql/quote"
)

// String prints * for no selectors and all clauses in the order of the grammar.
func (s *Select) String() string {
	var p printer
	p.text("SELECT ")
	p.when(s.JSON, "JSON ")
	p.when(s.Distinct, "DISTINCT ")
	p.when(len(s.Selectors) == 0, "*")
	p.selectors(s.Selectors)
	p.text(" FROM ", s.Table.String())
	p.where(s.Where, s.Custom)
	if len(s.GroupBy) > 0 {
		p.text(" GROUP BY ")
		p.terms(s.GroupBy)
	}
	if len(s.OrderBy) > 0 {
		p.text(" ORDER BY ")
		each(&p, s.OrderBy, ", ", func(o Ordering) { p.text(o.String()) })
	}
	p.clause(" PER PARTITION LIMIT ", s.PerPartitionLimit)
	p.clause(" LIMIT ", s.Limit)
	p.when(s.AllowFiltering, " ALLOW FILTERING")
	return p.String()
}

// selectors appends the SELECT list. A column json or distinct at its beginning needs quotes, for it could
// be read as the word of the statement.
func (p *printer) selectors(list []Selector) {
	for i, s := range list {
		text := s.String()
		if i > 0 {
			p.text(", ")
		} else {
			for _, word := range []string{"json", "distinct"} {
				if rest, ok := strings.CutPrefix(text, word); ok && (rest == "" || !isWordByte(rest[0])) {
					text = `"` + word + `"` + rest
				}
			}
		}
		p.text(text)
	}
}

func isWordByte(c byte) bool { return quote.IsPlain("a" + string(c)) }

// String prints the expression, with AS if it has an alias.
func (s Selector) String() string {
	if s.Alias == "" {
		return s.Expr.String()
	}
	return s.Expr.String() + " AS " + ident(s.Alias)
}

// String prints column, ANN OF with the vector, and DESC; ASC is left out.
func (o Ordering) String() string {
	var p printer
	p.text(o.Column.String())
	p.clause(" ANN OF ", o.AnnOf)
	p.when(o.Desc, " DESC")
	return p.String()
}

// String prints count(*), whether * or 1 was written.
func (c *CountAll) String() string { return "count(*)" }

// String prints writetime(column), ttl(column) or maxwritetime(column).
func (f *CellFunction) String() string { return f.Name + "(" + f.Arg.String() + ")" }

// String prints of[key].
func (e *Element) String() string { return e.Of.String() + "[" + e.Key.String() + "]" }

// String prints of[from..to], without an end that is open.
func (s *Slice) String() string {
	var p printer
	p.text(s.Of.String(), "[")
	p.clause("", s.From)
	p.when(s.From != nil && strings.HasSuffix(s.From.String(), "."), " ")
	p.text("..")
	p.clause("", s.To)
	p.text("]")
	return p.String()
}

// String prints of.name, with a space in front of the dot where it would belong to a number.
func (f *Field) String() string {
	if _, literal := f.Of.(*Literal); literal {
		return f.Of.String() + " ." + ident(f.Name)
	}
	return f.Of.String() + "." + ident(f.Name)
}

var operatorText = [...]string{
	Eq: "=", NotEq: "!=", Less: "<", LessEq: "<=", Greater: ">", GreaterEq: ">=", In: "IN",
	Contains: "CONTAINS", ContainsKey: "CONTAINS KEY", Like: "LIKE", IsNotNull: "IS NOT NULL",
}

// String is the operator as written: <=, CONTAINS KEY.
func (o Operator) String() string { return operatorText[o] }

// test appends an operator and the right side of a relation or condition.
func (p *printer) test(op Operator, value Term, values Terms) {
	p.text(" ", op.String())
	switch {
	case op == IsNotNull:
	case values.Parts != nil:
		p.text(" ", enclosed("(", values.Parts, ")"))
	default:
		p.text(" ", value.String())
	}
}

// String prints column op value, with (a, b) or token(a, b) in the place of the column.
func (r Relation) String() string {
	var p printer
	if r.Tuple || r.Token {
		p.when(r.Token, "token")
		p.text("(")
		each(&p, r.Columns, ", ", func(c ColumnRef) { p.text(c.String()) })
		p.text(")")
	} else {
		p.text(r.Columns[0].String())
		p.element(r.Key)
	}
	p.test(r.Op, r.Value, r.Values)
	return p.String()
}

// element appends the key of column[key], if there is one.
func (p *printer) element(key Term) {
	if key != nil {
		p.text("[", key.String(), "]")
	}
}

// String prints expr(index, value).
func (e CustomExpression) String() string {
	return "expr(" + ident(e.Index) + ", " + e.Value.String() + ")"
}

// String prints column op value, with column[key] or column.field in the place of the column.
func (c Condition) String() string {
	var p printer
	p.text(c.Column.String())
	p.element(c.Key)
	if c.Field != "" {
		p.text(".", ident(c.Field))
	}
	p.test(c.Op, c.Value, c.Values)
	return p.String()
}

// where appends a WHERE clause, if there is one.
func (p *printer) where(relations []Relation, custom []CustomExpression) {
	if len(relations)+len(custom) == 0 {
		return
	}
	p.text(" WHERE ")
	each(p, relations, " AND ", func(r Relation) { p.text(r.String()) })
	p.when(len(relations) > 0 && len(custom) > 0, " AND ")
	each(p, custom, " AND ", func(e CustomExpression) { p.text(e.String()) })
}

// conditions appends an IF clause, if there is one.
func (p *printer) conditions(c Conditions) {
	switch {
	case c.NotExists:
		p.text(" IF NOT EXISTS")
	case c.Exists:
		p.text(" IF EXISTS")
	case len(c.List) > 0:
		p.text(" IF ")
		each(p, c.List, " AND ", func(c Condition) { p.text(c.String()) })
	}
}
