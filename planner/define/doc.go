// Package define plans the statements that define, describe or permit: of keyspaces, tables, user types, functions,
// aggregates, indexes, views, triggers and roles; TRUNCATE; and DESCRIBE.
//
// A statement goes through two phases:
//
//	Make              what PREPARE says of it already, without looking at what is defined
//	Definition.Apply  the rules that depend on what is defined when it runs, and the next catalog
//
// A file is named after what its statements define; alter_*.go have the changes of what is there. Shared by them:
//
//	definition.go     what a definition is, and WITH properties
//	permission.go, role.go, not_modifiable.go    who may do what where nobody logs in
//	needs.go          which permissions definitions take where clients log in
//	authorization.go  statements about roles and permissions there; their rules are in package auth/roles
//	type_size.go      how large types may become
//	callable.go       what functions and aggregates have in common
//	view_where.go     the WHERE clause of a view, by the rules of package where
//
// Statements that read or write rows are not here but in package planner, which also decides what is prepared. Options
// and their values are judged by package schema, which keeps them. Nothing here touches the store: package exec applies
// a Definition to the catalog, and empties the table of a Truncate.
package define
