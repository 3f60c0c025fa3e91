package cql

import (
	"strings"

	"github.com/cqld/cqld/cql/quote"
)

// String prints * for no selectors and all clauses in the order of the grammar.
func (s *Select) String() string {
	return "SELECT " + when(s.JSON, "JSON ") + when(s.Distinct, "DISTINCT ") + selectors(s.Selectors) +
		" FROM " + s.Table.String() + where(s.Where, s.Custom) +
		when(len(s.GroupBy) > 0, enclosed(" GROUP BY ", s.GroupBy, "")) +
		when(len(s.OrderBy) > 0, enclosed(" ORDER BY ", s.OrderBy, "")) +
		clause(" PER PARTITION LIMIT ", s.PerPartitionLimit) + clause(" LIMIT ", s.Limit) +
		when(s.AllowFiltering, " ALLOW FILTERING")
}

// selectors prints the SELECT list, * for none. A column json or distinct at its beginning needs quotes, for it could
// be read as the word of the statement.
func selectors(list []Selector) string {
	if len(list) == 0 {
		return "*"
	}
	text := joined(list, ", ")
	for _, word := range []string{"json", "distinct"} {
		if rest, ok := strings.CutPrefix(text, word); ok && (rest == "" || !isWordByte(rest[0])) {
			return `"` + word + `"` + rest
		}
	}
	return text
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
	return o.Column.String() + clause(" ANN OF ", o.AnnOf) + when(o.Desc, " DESC")
}

// String prints count(*), whether * or 1 was written.
func (c *CountAll) String() string { return "count(*)" }

// String prints writetime(column), ttl(column) or maxwritetime(column).
func (f *CellFunction) String() string { return f.Name + "(" + f.Arg.String() + ")" }

// String prints of[key].
func (e *Element) String() string { return e.Of.String() + "[" + e.Key.String() + "]" }

// String prints of[from..to], without an end that is open.
func (s *Slice) String() string {
	from := clause("", s.From)
	return s.Of.String() + "[" + from + when(strings.HasSuffix(from, "."), " ") + ".." + clause("", s.To) + "]"
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

// test is an operator and the right side of a relation or condition.
func test(op Operator, value Term, values Terms) string {
	switch {
	case op == IsNotNull:
		return " " + op.String()
	case values.Parts != nil:
		return " " + op.String() + enclosed(" (", values.Parts, ")")
	default:
		return " " + op.String() + " " + value.String()
	}
}

// String prints column op value, with (a, b) or token(a, b) in the place of the column.
func (r Relation) String() string {
	if r.Tuple || r.Token {
		return when(r.Token, "token") + enclosed("(", r.Columns, ")") + test(r.Op, r.Value, r.Values)
	}
	return r.Columns[0].String() + element(r.Key) + test(r.Op, r.Value, r.Values)
}

// element is the key of column[key], or nothing.
func element(key Term) string { return clause("[", key) + when(key != nil, "]") }

// String prints expr(index, value).
func (e CustomExpression) String() string {
	return "expr(" + ident(e.Index) + ", " + e.Value.String() + ")"
}

// String prints column op value, with column[key] or column.field in the place of the column.
func (c Condition) String() string {
	return c.Column.String() + element(c.Key) + when(c.Field != "", "."+ident(c.Field)) + test(c.Op, c.Value, c.Values)
}

// where is a WHERE clause, or nothing.
func where(relations []Relation, custom []CustomExpression) string {
	return when(len(relations)+len(custom) > 0, " WHERE ") + joined(relations, " AND ") +
		when(len(relations) > 0 && len(custom) > 0, " AND ") + joined(custom, " AND ")
}

// String is an IF clause, or nothing.
func (c Conditions) String() string {
	switch {
	case c.NotExists:
		return " IF NOT EXISTS"
	case c.Exists:
		return " IF EXISTS"
	}
	return when(len(c.List) > 0, " IF ") + joined(c.List, " AND ")
}
