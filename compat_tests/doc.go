// Package compat_tests compares the server with Cassandra from outside, over TCP.
//
// The folder scripts describes behaviour in CQL, with answers recorded from a real Cassandra. Package script reads and
// runs these files, and the test of this package runs each of them in every mode. Package differences reads
// docs/differences.md; a test compares the page with the scripts in scripts/differences.
//
// Other folders compare answers in more detail: transcripts runs sessions message by message, wire replays recorded
// bytes, schemas feeds the output of DESCRIBE to the server again, differ compares random statements, and recorded
// compares the data files of other packages' tests with Cassandra. suites runs the clients' own tests, drivers runs
// small applications, and drivers/bench measures throughput.
//
// Some look for lost data and overload: drivers/histories checks linearizability, crash kills servers, soak compares
// every row with a model after minutes of mixed load and kills, hostile attacks a server with requests, and
// browser_test.go attacks it from a web page.
//
// oracle starts the real Cassandra, process starts cqld, and tamper falsifies answers to test all these tests.
// README.md tells how to run them and how to record.
package compat_tests
