package cql

// DescribeKind is what a DESCRIBE asks for.
type DescribeKind uint8

// The forms of DESCRIBE: the lists, the elements by kind, the generic form and the cluster.
const (
	DescribeKeyspaces DescribeKind = iota
	DescribeTables
	DescribeTypes
	DescribeFunctions
	DescribeAggregates
	DescribeSchema
	DescribeKeyspace
	DescribeTable
	DescribeIndex
	DescribeView
	DescribeType
	DescribeFunction
	DescribeAggregate
	DescribeAny
	DescribeCluster
)

// Describe shows schema objects.
//
//	DESCRIBE KEYSPACES | TABLES | TYPES | FUNCTIONS | AGGREGATES | CLUSTER
//	DESCRIBE [FULL] SCHEMA | [ONLY] KEYSPACE [name] | TABLE name | ... [WITH INTERNALS]
type Describe struct {
	Span
	Kind      DescribeKind
	Name      QualifiedName // empty where the form has none
	Full      bool
	Only      bool
	Internals bool
}

func (*Describe) statement() {}
