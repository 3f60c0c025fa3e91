package cql

// String is a USING clause, or nothing.
func (u Using) String() string {
	if u.Timestamp == nil {
		return clause(" USING TTL ", u.TTL)
	}
	return clause(" USING TIMESTAMP ", u.Timestamp) + clause(" AND TTL ", u.TTL)
}

// String prints INSERT INTO with either JSON or columns and VALUES.
func (s *Insert) String() string {
	text := "INSERT INTO " + s.Table.String()
	if s.JSON != nil {
		text += " JSON " + s.JSON.String() + when(s.DefaultUnset, " DEFAULT UNSET")
	} else {
		text += enclosed(" (", s.Columns, ")") + enclosed(" VALUES (", s.Values, ")")
	}
	return text + s.If.String() + s.Using.String()
}

// String prints UPDATE with USING before SET.
func (s *Update) String() string {
	return "UPDATE " + s.Table.String() + s.Using.String() + " SET " + joined(s.Set, ", ") + where(s.Where, s.Custom) +
		s.If.String()
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
	return "DELETE " + joined(s.Targets, ", ") + when(len(s.Targets) > 0, " ") + "FROM " + s.Table.String() +
		s.Using.String() + where(s.Where, s.Custom) + s.If.String()
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
	kind := [...]string{LoggedBatch: "", UnloggedBatch: "UNLOGGED ", CounterBatch: "COUNTER "}[s.Kind]
	return "BEGIN " + kind + "BATCH" + s.Using.String() + " " + joined(s.Statements, "; ") +
		when(len(s.Statements) > 0, "; ") + "APPLY BATCH"
}

// String prints TRUNCATE TABLE, whether or not TABLE was written.
func (s *Truncate) String() string { return "TRUNCATE TABLE " + s.Table.String() }
