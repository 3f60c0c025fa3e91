// Package schemas compares the output of DESCRIBE for whole keyspaces with that of Cassandra, character by character,
// and feeds it back to an empty server, which must print the same again.
//
// The files in testdata hold schemas, each with a name, the statements that make it, and the output of DESCRIBE
// KEYSPACE answers:
//
//	== name [internals]
//	pending: CREATE INDEX
//	CREATE TABLE t (k int PRIMARY KEY);
//	----
//	-- keyspace name
//	CREATE KEYSPACE name ...
//
// The name is that of the keyspace, as CQL writes it; it is made and in use unless the first statement makes it. With
// "internals" what is asked is WITH INTERNALS. A statement ends where a line ends with a semicolon. "pending" names a
// statement that cqld refuses as not supported: once it does not, the test fails and the line has to go. "not fed
// back" says why Cassandra does not take its own text.
//
//	go test ./compat_tests/schemas                                     against cqld in memory
//	go test ./compat_tests/schemas -addr 127.0.0.1:9042                against a Cassandra, also its definition tables
//	go test ./compat_tests/schemas -addr 127.0.0.1:9042 -record        writes what it prints
package schemas
