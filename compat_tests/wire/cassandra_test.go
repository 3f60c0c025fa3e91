package wire

import (
	"testing"
	"time"

	"github.com/cqld/cqld/compat_tests/script"
)

// A real Cassandra is asked whether the replay is true: what it does not answer as recorded is in cassandra.txt.
const (
	verdictsFile  = "verdicts.txt"
	cassandraFile = "cassandra.txt"
)

// answerWait is how long to wait for an answer that is due.
var answerWait = 3 * time.Second

// listFor names the list of what the server at -addr does not answer as recorded.
func listFor(t *testing.T) string {
	t.Helper()
	if *addr == "" {
		return verdictsFile
	}
	if _, err := script.CassandraRelease(t.Context(), *addr); err != nil {
		t.Logf("compared with what cqld answers: %v", err)
		return verdictsFile
	}
	answerWait = 10 * time.Second // it compiles functions of users
	return cassandraFile
}
