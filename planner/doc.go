// Package planner decides what a statement will do, before any I/O: it resolves names against a catalog,
// gives terms their types, applies every rule of the language, and returns an immutable Plan, or the
// error a client gets in Cassandra's words.
//
// Make goes through these phases:
//
//	names       package scope                the table, its columns, types, users' functions
//	WHERE       package where                which partitions and rows are meant
//	SELECT list selection.go                 selectors as expressions, and the names of result columns
//	ORDER BY    ordering.go
//	writes      a file per statement; modification.go and assignment.go have what they share
//	the rest    package define               what defines, describes or permits
//	markers     planner.go                   names and types of bind markers; which ones are the key's
//
// Plans print themselves (format.go): the files in testdata hold statements and what they become.
//
// The rules that are here are those of SELECT, INSERT, UPDATE, DELETE, BATCH and USE. What a name means, what a WHERE
// clause selects and what a definition changes are rooms of their own, which know nothing of these statements.
package planner
