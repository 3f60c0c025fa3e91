package cql

import "github.com/cqld/cqld/cql/quote"

// String prints USE keyspace.
func (s *Use) String() string { return "USE " + ident(s.Keyspace) }

// String prints CREATE KEYSPACE name WITH options.
func (s *CreateKeyspace) String() string {
	return create("KEYSPACE", s.IfNotExists) + ident(s.Name) + " WITH " + joined(s.Properties, " AND ")
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
	return create("TABLE", s.IfNotExists) + s.Table.String() + " (" + joined(s.Columns, ", ") +
		when(len(s.Columns) > 0 && len(s.PrimaryKeys) > 0, ", ") + enclosed("", s.PrimaryKeys, ")") +
		with(when(s.CompactStorage, "COMPACT STORAGE"), clusteringOrder(s.Order), joined(s.Properties, " AND "))
}

// clusteringOrder is the option of a table or a view, or nothing.
func clusteringOrder(order []ClusteringOrder) string {
	return when(len(order) > 0, enclosed("CLUSTERING ORDER BY (", order, ")"))
}

// String prints name type, then STATIC, the mask and PRIMARY KEY if they were written.
func (c ColumnDefinition) String() string {
	text := ident(c.Name) + " " + c.Type.String() + when(c.Static, " STATIC")
	if c.Mask != nil {
		text += " MASKED WITH " + c.Mask.String()
	}
	return text + when(c.PrimaryKey, " PRIMARY KEY")
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
	return "PRIMARY KEY ((" + names(k.Partition) + ")" + when(len(k.Clustering) > 0, ", ") + names(k.Clustering) + ")"
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
	return "DESCRIBE" + when(s.Full, " FULL") + when(s.Only, " ONLY") +
		when(s.Kind != DescribeAny, " "+describeWords[s.Kind]) + when(s.Name.Name != "", " "+s.describedName()) +
		when(s.Internals, " WITH INTERNALS")
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
	return alter("KEYSPACE", s.IfExists) + ident(s.Name) + " WITH " + joined(s.Properties, " AND ")
}

// String prints ALTER TABLE and the change.
func (s *AlterTable) String() string {
	return alter("TABLE", s.IfExists) + s.Table.String() + " " + s.Change.String()
}

// String prints ADD and the columns, in parentheses if there are several.
func (c *AddColumns) String() string {
	many := len(c.Columns) > 1
	return "ADD " + when(c.IfNotExists, "IF NOT EXISTS ") + enclosed(when(many, "("), c.Columns, when(many, ")"))
}

// String prints DROP with the columns in parentheses, also a single one: without them a column called compact would be
// the beginning of COMPACT STORAGE.
func (c *DropColumns) String() string {
	text := "DROP " + when(c.IfExists, "IF EXISTS ") + "(" + names(c.Columns) + ")"
	if c.Timestamp != nil {
		text += " USING TIMESTAMP " + c.Timestamp.String()
	}
	return text
}

// String prints RENAME a TO b, more of them with AND between them.
func (c *RenameColumns) String() string { return renames(c.IfExists, c.Renames) }

// renames prints RENAME a TO b AND c TO d.
func renames(ifExists bool, list []Rename) string {
	return "RENAME " + when(ifExists, "IF EXISTS ") + joined(list, " AND ")
}

// String prints a TO b.
func (r Rename) String() string { return ident(r.From) + " TO " + ident(r.To) }

// String prints ALTER column TYPE type.
func (c *AlterColumnType) String() string {
	return "ALTER " + ident(c.Column) + " TYPE " + c.Type.String()
}

// String prints ALTER column MASKED WITH function, or DROP MASKED where there is no mask.
func (c *MaskColumn) String() string {
	text := "ALTER " + when(c.IfExists, "IF EXISTS ") + ident(c.Column)
	if c.Mask == nil {
		return text + " DROP MASKED"
	}
	return text + " MASKED WITH " + c.Mask.String()
}

// String prints the words of the change, which has no parts.
func (*DropCompactStorage) String() string { return "DROP COMPACT STORAGE" }

// String prints WITH and the options.
func (c *SetTableOptions) String() string { return "WITH " + joined(c.Properties, " AND ") }

// String prints ALTER TYPE and the change.
func (s *AlterType) String() string {
	return alter("TYPE", s.IfExists) + s.Type.userTypeString() + " " + s.Change.String()
}

// String prints ADD field type.
func (c *AddField) String() string {
	return "ADD " + when(c.IfNotExists, "IF NOT EXISTS ") + c.Field.String()
}

// String prints RENAME a TO b, more of them with AND between them.
func (c *RenameFields) String() string { return renames(c.IfExists, c.Renames) }

// String prints ALTER field TYPE type.
func (c *AlterFieldType) String() string {
	return "ALTER " + ident(c.Field) + " TYPE " + c.Type.String()
}

// String prints ALTER MATERIALIZED VIEW name WITH options.
func (s *AlterView) String() string {
	return alter("MATERIALIZED VIEW", s.IfExists) + s.View.String() + " WITH " + joined(s.Properties, " AND ")
}
