// Package planner decides what a statement will do, before any I/O: it resolves names against a catalog,
// gives terms their types, applies every rule of the language, and returns an immutable Plan, or the
// error a client gets in Cassandra's words.
//
// Make goes through these phases:
//
//	names       package scope                the table, its columns, types, users' functions
//	WHERE       relations.go                 each relation becomes a restriction of columns to values
//	            restrictions.go              restrictions of the same columns merge, or exclude each other
//	            partition_restrictions.go    what makes partition keys and token ranges
//	            clustering_restrictions.go   what makes clustering prefixes and slices
//	            index_use.go                 which of them indexes serve
//	            filtering.go                 what is left to be compared row by row
//	            index_filters.go             and which index would compare it
//	relations   relation_checks.go           which operators a column's type takes
//	SELECT list selection.go                 selectors as expressions, and the names of result columns
//	ORDER BY    ordering.go, nearest.go
//	the rest    a file per statement; callable.go has what functions and aggregates share
//	markers     markers.go                   names and types of bind markers; which ones are the key's
//
// Plans print themselves (format.go): the files in testdata hold statements and what they become.
package planner
