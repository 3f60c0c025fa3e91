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
// The name is the name of the keyspace, as CQL writes it. The test creates the keyspace, unless the first statement
// does, and uses it. With "internals" the test asks for DESCRIBE KEYSPACE WITH INTERNALS. A statement ends where a line
// ends with a semicolon. "pending" names a statement that cqld refuses as not supported: when cqld supports it, the
// test fails until the line is removed. "not fed back" gives the reason why Cassandra refuses its own output.
//
//	go test ./compat_tests/schemas                                     against cqld in memory
//	go test ./compat_tests/schemas -addr 127.0.0.1:9042                against a Cassandra, with its definition tables
//	go test ./compat_tests/schemas -addr 127.0.0.1:9042 -record        writes its output to the files
package schemas
