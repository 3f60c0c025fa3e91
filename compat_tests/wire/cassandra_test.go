package wire

import (
	"testing"
	"time"

	"github.com/cqld/cqld/compat_tests/script"
)

// A replay to a real Cassandra shows how accurate the replay is: cassandra.txt lists the answers that differ from the
// recording.
const (
	verdictsFile  = "verdicts.txt"
	cassandraFile = "cassandra.txt"
)

// answerWait is how long to wait for an answer that is due.
var answerWait = 3 * time.Second

// listFor names the list of exchanges that the server at -addr answers differently.
func listFor(t *testing.T) string {
	t.Helper()
	if *addr == "" {
		return verdictsFile
	}
	if _, err := script.CassandraRelease(t.Context(), *addr); err != nil {
		t.Logf("compared with cqld's answers: %v", err)
		return verdictsFile
	}
	answerWait = 10 * time.Second // it compiles functions of users
	return cassandraFile
}
