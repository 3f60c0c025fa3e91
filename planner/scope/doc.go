// Package scope resolves the names in a statement: of keyspaces, tables, columns, types and functions. A name means
// what it does by the catalog and by the keyspace in use.
//
// A Scope is for one statement. It also records what the statement uses, because the plan has to be made again when any
// of that changes; Prepared in package planner carries the record on.
//
// The package has no rules about statements: what may be done with a table or a type is decided where it is done.
package scope
