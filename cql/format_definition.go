package cql

import "github.com/cqld/cqld/cql/quote"

// String prints USE keyspace.
func (s *Use) String() string { return "USE " + ident(s.Keyspace) }

// String prints CREATE KEYSPACE name WITH options.
func (s *CreateKeyspace) String() string {
	var p printer
	p.text("CREATE KEYSPACE ")
	p.when(s.IfNotExists, "IF NOT EXISTS ")
	p.text(ident(s.Name), " WITH ")
	p.properties(s.Properties)
	return p.String()
}

func (p *printer) properties(list []Property) {
	each(p, list, " AND ", func(o Property) { p.text(o.String()) })
}

// String prints name = value; a bare word as value keeps its spelling.
func (o Property) String() string { return ident(o.Name) + " = " + o.wordOrValue() }

// wordOrValue prints a bare word as it was written: only words of the language are values, none in quotes.
func (o Property) wordOrValue() string {
	if word, ok := o.Value.(*ColumnRef); ok {
		return word.Name
	}
	return o.Value.String()
}

// String prints every PRIMARY KEY clause where it was written: in a column or after all columns.
func (s *CreateTable) String() string {
	var p printer
	p.text("CREATE TABLE ")
	p.when(s.IfNotExists, "IF NOT EXISTS ")
	p.text(s.Table.String(), " (")
	each(&p, s.Columns, ", ", func(c ColumnDefinition) { p.text(c.String()) })
	p.when(len(s.Columns) > 0 && len(s.PrimaryKeys) > 0, ", ")
	each(&p, s.PrimaryKeys, ", ", func(k PrimaryKey) { p.text(k.String()) })
	p.text(")")
	p.tableOptions(s.CompactStorage, s.Order, s.Properties)
	return p.String()
}

// tableOptions appends the WITH clause of a table or a view, if there is one.
func (p *printer) tableOptions(compact bool, clustering []ClusteringOrder, properties []Property) {
	var options []string
	if compact {
		options = append(options, "COMPACT STORAGE")
	}
	if len(clustering) > 0 {
		var order printer
		order.text("CLUSTERING ORDER BY (")
		each(&order, clustering, ", ", func(o ClusteringOrder) { order.text(o.String()) })
		order.text(")")
		options = append(options, order.String())
	}
	for _, o := range properties {
		options = append(options, o.String())
	}
	p.when(len(options) > 0, " WITH ")
	each(p, options, " AND ", func(o string) { p.text(o) })
}

// String prints name type, then STATIC, the mask and PRIMARY KEY if they were written.
func (c ColumnDefinition) String() string {
	var p printer
	p.text(ident(c.Name), " ", c.Type.String())
	p.when(c.Static, " STATIC")
	if c.Mask != nil {
		p.text(" MASKED WITH ", c.Mask.String())
	}
	p.when(c.PrimaryKey, " PRIMARY KEY")
	return p.String()
}

// String prints DEFAULT or the call of the masking function.
func (m *Mask) String() string {
	if m.Default {
		return "DEFAULT"
	}
	return m.Call.String()
}

// String prints the partition key in separate parentheses, also a single column.
func (k PrimaryKey) String() string {
	var p printer
	p.text("PRIMARY KEY ((")
	p.names(k.Partition)
	p.text(")")
	for _, name := range k.Clustering {
		p.text(", ", ident(name))
	}
	p.text(")")
	return p.String()
}

// String prints column ASC or column DESC.
func (o ClusteringOrder) String() string {
	if o.Desc {
		return ident(o.Column) + " DESC"
	}
	return ident(o.Column) + " ASC"
}

var describeWords = [...]string{
	DescribeKeyspaces: "KEYSPACES", DescribeTables: "TABLES", DescribeTypes: "TYPES",
	DescribeFunctions: "FUNCTIONS", DescribeAggregates: "AGGREGATES", DescribeSchema: "SCHEMA",
	DescribeKeyspace: "KEYSPACE", DescribeTable: "TABLE", DescribeIndex: "INDEX",
	DescribeView: "MATERIALIZED VIEW", DescribeType: "TYPE", DescribeFunction: "FUNCTION",
	DescribeAggregate: "AGGREGATE", DescribeAny: "", DescribeCluster: "CLUSTER",
}

// String prints DESCRIBE with its words in the order of the grammar.
func (s *Describe) String() string {
	var p printer
	p.text("DESCRIBE")
	p.when(s.Full, " FULL")
	p.when(s.Only, " ONLY")
	p.when(s.Kind != DescribeAny, " "+describeWords[s.Kind])
	p.when(s.Name.Name != "", " "+s.describedName())
	p.when(s.Internals, " WITH INTERNALS")
	return p.String()
}

// describedName prints the name for its kind. In the generic form quotes distinguish names from the words of other
// forms.
func (s *Describe) describedName() string {
	switch s.Kind {
	case DescribeType:
		return s.Name.userTypeString()
	case DescribeFunction, DescribeAggregate:
		return s.Name.functionString()
	case DescribeAny:
		name := quote.Always(s.Name.Name)
		if s.Name.Keyspace != "" {
			name = quote.Always(s.Name.Keyspace) + "." + name
		}
		return name
	}
	return s.Name.String()
}

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
