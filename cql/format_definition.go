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

// String prints every PRIMARY KEY clause where it was written: inside a column or behind all columns.
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

// String prints the partition key in parentheses of its own, also a single column.
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

// String prints DESCRIBE with its words in the order that the grammar wants.
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

// describedName prints the name as its kind is written. In the generic form quotes keep names apart from
// the words of the other forms.
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
