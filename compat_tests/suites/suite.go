package main

import (
	"context"
	"time"
)

// suite is a client's own tests.
type suite struct {
	name, version string
	protocol      string // the protocol version the tests speak: "v4"
	// folder is the environment variable that names a checkout, for suites that no registry has. The suite is
	// left out, which is said, where it is not set.
	folder string
	// keyspace is dropped before the tests, which drop it too but do not wait for long: a full one takes
	// Cassandra a while.
	keyspace string
	logins   bool // the servers ask for passwords; left out like folder where there is no such Cassandra
	strict   bool // cqld answers for one replica, as Cassandra does: some tests want levels that it cannot have
	run      func(ctx context.Context, e *environment) ([]outcome, error)
}

// environment is what a suite gets for one run.
type environment struct {
	addr   string // host:port of the server
	work   string // a folder of the suite's own for what it installs, kept between the two servers and between runs
	log    string // the file that gets the tool's output
	folder string // what the suite's environment variable names
}

// result is how a test ended.
type result string

const (
	passed  result = "passed"
	failed  result = "failed"
	skipped result = "skipped"
)

// outcome is one test on one server.
type outcome struct {
	test    string
	result  result
	message string // the first telling line of a failure
}

// unfinished is the message of a test that a suite lists and that has no end: it hung, or the process died.
const unfinished = "did not finish"

// How long things may take that are expected to end by themselves.
const (
	suiteLimit = 20 * time.Minute // a suite on one server, with what it installs
	testLimit  = 3 * time.Minute  // one test, where the tool can tell
)

// suites are all there are, in the order of the table. Those at the end need a checkout.
var suites = []suite{
	gocql("gocql-v4", "v4"),
	gocql("gocql-v3", "v3"),
	apacheGocql("apache-gocql-v5", "v5"),
	apacheGocql("apache-gocql-v4", "v4"),
	scyllaGocql,
	gocqlx,
	migrate,
	cdrsTokio,
	pythonDriver,
	pythonMapper,
	pythonLogins,
	cqlshTests,
	scyllaRust,
}
