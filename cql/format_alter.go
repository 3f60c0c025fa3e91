package cql

// String prints ALTER KEYSPACE name WITH options.
func (s *AlterKeyspace) String() string {
	var p printer
	p.text("ALTER KEYSPACE ")
	p.when(s.IfExists, "IF EXISTS ")
	p.text(ident(s.Name), " WITH ")
	p.properties(s.Properties)
	return p.String()
}

// String prints ALTER TABLE and the change.
func (s *AlterTable) String() string {
	var p printer
	p.text("ALTER TABLE ")
	p.when(s.IfExists, "IF EXISTS ")
	p.text(s.Table.String(), " ", s.Change.String())
	return p.String()
}

// String prints ADD and the columns, in parentheses if there are several.
func (c *AddColumns) String() string {
	var p printer
	p.text("ADD ")
	p.when(c.IfNotExists, "IF NOT EXISTS ")
	p.when(len(c.Columns) > 1, "(")
	each(&p, c.Columns, ", ", func(d ColumnDefinition) { p.text(d.String()) })
	p.when(len(c.Columns) > 1, ")")
	return p.String()
}

// String prints DROP with the columns in parentheses, also a single one.
func (c *DropColumns) String() string {
	var p printer
	p.text("DROP ")
	p.when(c.IfExists, "IF EXISTS ")
	// In parentheses a column called compact is not the beginning of COMPACT STORAGE.
	p.text("(")
	p.names(c.Columns)
	p.text(")")
	if c.Timestamp != nil {
		p.text(" USING TIMESTAMP ", c.Timestamp.String())
	}
	return p.String()
}

// String prints RENAME a TO b, more of them with AND between them.
func (c *RenameColumns) String() string { return renames(c.IfExists, c.Renames) }

// renames prints RENAME a TO b AND c TO d.
func renames(ifExists bool, list []Rename) string {
	var p printer
	p.text("RENAME ")
	p.when(ifExists, "IF EXISTS ")
	each(&p, list, " AND ", func(r Rename) { p.text(ident(r.From), " TO ", ident(r.To)) })
	return p.String()
}

// String prints ALTER column TYPE type.
func (c *AlterColumnType) String() string {
	return "ALTER " + ident(c.Column) + " TYPE " + c.Type.String()
}

// String prints ALTER column MASKED WITH function, or DROP MASKED where there is no mask.
func (c *MaskColumn) String() string {
	var p printer
	p.text("ALTER ")
	p.when(c.IfExists, "IF EXISTS ")
	p.text(ident(c.Column))
	if c.Mask == nil {
		p.text(" DROP MASKED")
	} else {
		p.text(" MASKED WITH ", c.Mask.String())
	}
	return p.String()
}

// String prints the words of the change, which has no parts.
func (*DropCompactStorage) String() string { return "DROP COMPACT STORAGE" }

// String prints WITH and the options.
func (c *SetTableOptions) String() string {
	var p printer
	p.text("WITH ")
	p.properties(c.Properties)
	return p.String()
}

// String prints ALTER TYPE and the change.
func (s *AlterType) String() string {
	var p printer
	p.text("ALTER TYPE ")
	p.when(s.IfExists, "IF EXISTS ")
	p.text(s.Type.userTypeString(), " ", s.Change.String())
	return p.String()
}

// String prints ADD field type.
func (c *AddField) String() string {
	var p printer
	p.text("ADD ")
	p.when(c.IfNotExists, "IF NOT EXISTS ")
	p.text(c.Field.String())
	return p.String()
}

// String prints RENAME a TO b, more of them with AND between them.
func (c *RenameFields) String() string { return renames(c.IfExists, c.Renames) }

// String prints ALTER field TYPE type.
func (c *AlterFieldType) String() string {
	return "ALTER " + ident(c.Field) + " TYPE " + c.Type.String()
}

// String prints ALTER MATERIALIZED VIEW name WITH options.
func (s *AlterView) String() string {
	var p printer
	p.text("ALTER MATERIALIZED VIEW ")
	p.when(s.IfExists, "IF EXISTS ")
	p.text(s.View.String(), " WITH ")
	p.properties(s.Properties)
	return p.String()
}
