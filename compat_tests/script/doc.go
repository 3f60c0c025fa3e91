// Package script reads and runs the scripts that describe behaviour in CQL.
//
// A Script is a list of blocks: statements, and the answers of the server. Parse reads one, a Runner runs its blocks
// on a connection in one Mode (plain, prepared or with values bound, with pages of some size) and returns the answers
// as text in the form of the expected ones, so one function compares and records. Script.Compare runs a whole script
// and returns each Difference; Script.Record makes the answers the expected ones. A script of a difference has the
// answers of both servers; Script.ExpectOurs makes it expect cqld's. CassandraRelease checks that a server may be
// recorded from. compat_tests/README.md describes the language.
package script
