// Package cql is the syntax tree of the Cassandra Query Language: statements as written, without schemas.
//
// A statement is a struct per kind; its parts are names, terms, relations, selectors, assignments and
// conditions. Every node prints itself as CQL that parses to the same node. cql/parser makes the trees,
// planner reads them.
//
//	SELECT v FROM ks.t WHERE k = ? LIMIT 10
//
//	Select{Table: ks.t, Selectors: [ColumnRef v], Where: [Relation{Columns: [k], Op: Eq, Value: Marker}],
//	       Limit: Literal 10}
package cql

import (
	"strings"

	"github.com/cqld/cqld/cql/quote"
)

// Statement is one statement of the language. The kinds are the structs that have a statement method.
type Statement interface {
	statement()
	String() string // the statement as CQL
	Position() Span // in the text that was parsed
}

// Span is the position of a node in the text: byte offsets, the end exclusive.
type Span struct{ Start, End int }

// Position returns the span itself; embedding Span gives every node this method.
func (s Span) Position() Span { return s }

// QualifiedName is the name of a table, type, index or function with an optional keyspace. Names are folded to lower
// case unless quoted.
type QualifiedName struct {
	Keyspace string // "" when not given
	Name     string
}

// String prints keyspace.name, each quoted if it must be.
func (n QualifiedName) String() string {
	if n.Keyspace == "" {
		return ident(n.Name)
	}
	return ident(n.Keyspace) + "." + ident(n.Name)
}

// wordSet returns the set of words in a text.
func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// ident prints a name, quoted if necessary. Unlike Cassandra and quote.Name it also quotes true and false, which
// would not be read as names.
func ident(name string) string {
	if name == "true" || name == "false" {
		return quote.Always(name)
	}
	return quote.Name(name)
}

// Property is one name = value of a WITH clause. Value is a Literal, a MapLiteral, or a ColumnRef for a
// bare word.
type Property struct {
	Span
	Name  string
	Value Term
}

// DescribeKind is the form of a DESCRIBE.
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

// TypeName is a type as written: int, frozen<list<text>>, ks.address, vector<float, 3>, 'some.Class'.
type TypeName struct {
	Span
	Name      string // list, map, set, tuple, vector, a native name, or a user type's; folded unless quoted
	Keyspace  string // of a user type
	Args      []TypeName
	Dimension int    // of a vector
	Frozen    bool   // written inside frozen<>
	User      bool   // a user type, even if a native type has its name: "int"
	Class     string // a custom class name in quotes; Name is then empty
}

// IsClass reports whether a type was written as a class in quotes, which may be empty.
func (t TypeName) IsClass() bool { return t.Name == "" }
