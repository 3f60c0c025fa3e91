// Package scope resolves the names in a statement: of keyspaces, tables, columns, types and functions. The meaning of a
// name depends on the catalog and on the keyspace in use.
//
// A Scope is for one statement. It also records the objects that the statement uses, because the plan is made again
// when one of them changes; Prepared in package planner has the record.
//
// The package has no rules about statements: which of them a table or type allows is decided by their planners.
package scope
