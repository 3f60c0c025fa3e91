package cql

// using appends a USING clause, if there is one.
func (p *printer) using(u Using) {
	p.clause(" USING TIMESTAMP ", u.Timestamp)
	keyword := " USING TTL "
	if u.Timestamp != nil {
		keyword = " AND TTL "
	}
	p.clause(keyword, u.TTL)
}

// String prints INSERT INTO with either JSON or columns and VALUES.
func (s *Insert) String() string {
	var p printer
	p.text("INSERT INTO ", s.Table.String())
	if s.JSON != nil {
		p.text(" JSON ", s.JSON.String())
		p.when(s.DefaultUnset, " DEFAULT UNSET")
	} else {
		p.text(" (")
		each(&p, s.Columns, ", ", func(c ColumnRef) { p.text(c.String()) })
		p.text(") VALUES ", enclosed("(", s.Values, ")"))
	}
	p.conditions(s.If)
	p.using(s.Using)
	return p.String()
}

// String prints UPDATE with USING before SET.
func (s *Update) String() string {
	var p printer
	p.text("UPDATE ", s.Table.String())
	p.using(s.Using)
	p.text(" SET ")
	each(&p, s.Set, ", ", func(a Assignment) { p.text(a.String()) })
	p.where(s.Where, s.Custom)
	p.conditions(s.If)
	return p.String()
}

// String prints column = value, or the sum or difference.
func (a Assignment) String() string {
	column, value := a.Column.String(), a.Value.String()
	switch {
	case a.Key != nil:
		return column + "[" + a.Key.String() + "] = " + value
	case a.Field != "":
		return column + "." + ident(a.Field) + " = " + value
	case a.Op == Append:
		return column + " = " + column + " + " + value
	case a.Op == Subtract:
		return column + " = " + column + " - " + value
	case a.Op == Prepend:
		return column + " = " + value + " + " + column
	default:
		return column + " = " + value
	}
}

// String prints DELETE with its targets, none for whole rows.
func (s *Delete) String() string {
	var p printer
	p.text("DELETE ")
	each(&p, s.Targets, ", ", func(t DeleteTarget) { p.text(t.String()) })
	p.when(len(s.Targets) > 0, " ")
	p.text("FROM ", s.Table.String())
	p.using(s.Using)
	p.where(s.Where, s.Custom)
	p.conditions(s.If)
	return p.String()
}

// String prints column, column[key] or column.field.
func (t DeleteTarget) String() string {
	switch {
	case t.Key != nil:
		return t.Column.String() + "[" + t.Key.String() + "]"
	case t.Field != "":
		return t.Column.String() + "." + ident(t.Field)
	default:
		return t.Column.String()
	}
}

// String prints BEGIN BATCH with a semicolon after each statement.
func (s *Batch) String() string {
	var p printer
	p.text("BEGIN ", [...]string{LoggedBatch: "", UnloggedBatch: "UNLOGGED ", CounterBatch: "COUNTER "}[s.Kind], "BATCH")
	p.using(s.Using)
	for _, statement := range s.Statements {
		p.text(" ", statement.String(), ";")
	}
	p.text(" APPLY BATCH")
	return p.String()
}

// String prints TRUNCATE TABLE, whether or not TABLE was written.
func (s *Truncate) String() string { return "TRUNCATE TABLE " + s.Table.String() }
