package cql

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
