// Package planner plans statements, before any I/O: it resolves names against a catalog,
// gives terms their types, applies every rule of the language, and returns an immutable Plan, or the
// error a client gets in Cassandra's words.
//
// Make goes through these phases:
//
//	names       package scope                the table, its columns, types, users' functions
//	WHERE       package where                which partitions and rows are meant
//	SELECT list selection.go                 selectors as expressions, and the names of result columns
//	ORDER BY    ordering.go
//	writes      a file per statement; they share modification.go and assignment.go
//	the rest    package define               definitions, DESCRIBE, roles and permissions
//	markers     planner.go                   names and types of bind markers; which ones are the key's
//
// Plans print themselves (format.go): the files in testdata hold statements and what they become.
//
// The rules here are about SELECT, INSERT, UPDATE, DELETE, BATCH and USE. The meaning of names, WHERE clauses and
// definitions are packages that know nothing of these statements.
package planner
