// Package script reads and runs the scripts that describe behaviour in CQL.
//
// A Script is a list of blocks: statements, and the answers of the server. Parse reads one, a Runner runs its blocks
// on a connection in one Mode (plain, prepared or with values bound, with pages of some size) and returns what came
// as text of the same form as the expected one, so that comparing and recording are the same thing. Script.Compare
// runs a whole script and returns each Difference, Script.Record takes the answers as expected; A script of a
// difference has the answers of both servers; Script.ExpectOurs makes it expect those of cqld. CassandraRelease tells
// whether a server may be recorded from. compat_tests/README.md describes the language.
package script
