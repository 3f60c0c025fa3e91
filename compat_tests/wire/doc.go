// Package wire replays exchanges that were recorded, byte for byte, between a client and an Apache Cassandra
// 5.0.8: every request is sent again, and the answers are compared with Cassandra's.
//
// README.md describes the recordings, one file for each topic. In the order you meet them: exchanges_test.go
// reads them, setup_test.go makes the schema that they assume, connection_test.go brings a connection into the
// state that each needs, segment_test.go is the v5 framing (written for this test, so that it judges the
// server's), compare_test.go leaves out the parts that vary from run to run, and replay_test.go puts it together.
// gaps_test.go finds the differences that follow from unsupported features.
//
// verdicts.txt lists every exchange that is not equal, with the reason: a statement that cqld does not support yet, or
// a deliberate difference. An exchange whose outcome differs from the list fails the test, also when it
// has become equal, so that the list only ever gets shorter.
//
// With -addr the recordings are replayed against another server; a real Cassandra has a separate list,
// cassandra.txt, which shows how accurate the replay is. With -update the list is written again.
package wire
