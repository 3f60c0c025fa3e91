// Package cql is the syntax tree of the Cassandra Query Language: what was written, before anything is
// known of schemas.
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
