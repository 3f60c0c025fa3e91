// Package compat_tests compares the server with Cassandra from outside, over TCP.
//
// scripts describes behaviour in CQL, with answers that were recorded from a real Cassandra; script reads
// and runs them, and the test of this package runs each in every mode. wire replays recorded bytes, drivers
// runs what applications run, and bench measures. README.md says how to run and how to record.
package compat_tests
