// Package parser turns the text of a statement into its tree.
//
// Parse is the way in. It lexes the whole text, checks its size and nesting (limits.go), and runs the
// generated parser of package grammar, with the fast prediction and, only when that refuses, with the full
// one. A refusal is said in Cassandra's words (syntax_errors.go, decisions.go, follow.go). The parser keeps no
// parse tree: the builders, a file for each statement as in package cql, read the labels of the grammar's rules.
//
// The rules that Cassandra checks while it parses are here too: what a SET may look like, properties
// given twice, names of types that are reserved. All other rules are the planner's.
//
// The errors are *cqlerr.Error of kind SyntaxError in Cassandra's words.
package parser
