package main

import (
	"context"
	"time"
)

// suite is a client's own tests.
type suite struct {
	name, version string
	protocol      string // the protocol version the tests speak: "v4"
	// folder is the environment variable that names a checkout, for suites that no registry has. If it is not set, the
	// suite is skipped with a message.
	folder string
	// keyspace is dropped before the tests, which drop it too but do not wait for long: a full one takes
	// Cassandra a while.
	keyspace string
	logins   bool // the servers ask for passwords; skipped like folder if there is no such Cassandra
	strict   bool // cqld refuses levels that one replica cannot serve, as Cassandra does: some tests expect it
	run      func(ctx context.Context, e *environment) ([]outcome, error)
}

// environment holds the parameters of one run of a suite.
type environment struct {
	addr   string // host:port of the server
	work   string // the suite's folder for its packages, kept between the two servers and between runs
	log    string // the file that gets the tool's output
	folder string // the value of the suite's environment variable
	cqld   string // the path of the binary
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
	message string // the line that explains a failure
}

// unfinished is the message of a listed test that did not end: it hung, or the process crashed.
const unfinished = "did not finish"

// Timeouts of work that should end by itself.
const (
	suiteLimit = 20 * time.Minute // a suite on one server, installation included
	testLimit  = 3 * time.Minute  // one test, where the tool can tell
)

// suites are all suites, in the order of the table. The last ones need a checkout.
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
	shellTests,
	scyllaRust,
}
