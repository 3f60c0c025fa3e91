// Package compat_tests compares the server with Cassandra from outside, over TCP.
//
// scripts describes behaviour in CQL, with answers that were recorded from a real Cassandra; script reads and runs
// them, and the test of this package runs each in every mode. differences reads docs/differences.md, which a test holds
// against the scripts of what cqld answers otherwise. transcripts has sessions message by message, wire replays
// recorded bytes, recorded keeps the data of other packages' tests true, differ compares random statements, suites runs
// the clients' own tests, drivers what applications run, and bench measures. schemas feeds what DESCRIBE prints to the
// server again, histories looks for an order of conditional writes, crash kills servers, soak compares every row with a
// model after minutes of mixed load with kills, hostile attacks them, and a web page tries to in browser_test.go.
// oracle starts the real Cassandra, process starts cqld, and tamper falsifies answers for the tests of all these.
// README.md says how to run and how to record.
package compat_tests
