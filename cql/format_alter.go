package cql

func (s *AlterKeyspace) String() string {
	var p printer
	p.text("ALTER KEYSPACE ")
	p.when(s.IfExists, "IF EXISTS ")
	p.text(ident(s.Name), " WITH ")
	p.properties(s.Properties)
	return p.String()
}

func (s *AlterTable) String() string {
	var p printer
	p.text("ALTER TABLE ")
	p.when(s.IfExists, "IF EXISTS ")
	p.text(s.Table.String(), " ", s.Change.String())
	return p.String()
}

func (c *AddColumns) String() string {
	var p printer
	p.text("ADD ")
	p.when(c.IfNotExists, "IF NOT EXISTS ")
	p.when(len(c.Columns) > 1, "(")
	each(&p, c.Columns, ", ", func(d ColumnDefinition) { p.text(d.String()) })
	p.when(len(c.Columns) > 1, ")")
	return p.String()
}

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

func (c *RenameColumns) String() string { return renames(c.IfExists, c.Renames) }

// renames prints RENAME a TO b AND c TO d.
func renames(ifExists bool, list []Rename) string {
	var p printer
	p.text("RENAME ")
	p.when(ifExists, "IF EXISTS ")
	each(&p, list, " AND ", func(r Rename) { p.text(ident(r.From), " TO ", ident(r.To)) })
	return p.String()
}

func (c *AlterColumnType) String() string {
	return "ALTER " + ident(c.Column) + " TYPE " + c.Type.String()
}

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

func (*DropCompactStorage) String() string { return "DROP COMPACT STORAGE" }

func (c *SetTableOptions) String() string {
	var p printer
	p.text("WITH ")
	p.properties(c.Properties)
	return p.String()
}

func (s *AlterType) String() string {
	var p printer
	p.text("ALTER TYPE ")
	p.when(s.IfExists, "IF EXISTS ")
	p.text(s.Type.userTypeString(), " ", s.Change.String())
	return p.String()
}

func (c *AddField) String() string {
	var p printer
	p.text("ADD ")
	p.when(c.IfNotExists, "IF NOT EXISTS ")
	p.text(c.Field.String())
	return p.String()
}

func (c *RenameFields) String() string { return renames(c.IfExists, c.Renames) }

func (c *AlterFieldType) String() string {
	return "ALTER " + ident(c.Field) + " TYPE " + c.Type.String()
}

func (s *AlterView) String() string {
	var p printer
	p.text("ALTER MATERIALIZED VIEW ")
	p.when(s.IfExists, "IF EXISTS ")
	p.text(s.View.String(), " WITH ")
	p.properties(s.Properties)
	return p.String()
}
