// Package where plans WHERE clauses: relations become a Clause, in the shapes a read or a write uses,
// or the error a client gets in Cassandra's words.
//
// Restrictions is the work on one clause. It goes through these phases:
//
//	relations.go                 each relation becomes a restriction of columns to values
//	relation_checks.go           which operators a column's type takes
//	restrictions.go              restrictions of the same columns merge, or exclude each other
//	key_restrictions.go          partition keys and token ranges; clustering prefixes and slices
//	index_use.go                 which restrictions indexes serve, and which index compares a filter
//	nearest.go                   an order by vectors, which is a restriction to indexes
//	filtering.go                 the other restrictions, which are compared row by row
//
// INSERT has no WHERE clause, but its key is restricted by the same rules: AddValue gives it its values.
//
// The package does not know the rest of a statement: selection, assignments, ORDER BY and LIMIT are in package
// planner. Nothing is evaluated either: a Clause holds expressions, and package exec makes keys and slices of their
// values.
package where
