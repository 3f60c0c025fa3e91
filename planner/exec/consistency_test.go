package exec_test

import (
	"fmt"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner/exec"
)

// TestConsistency asks for levels at which one node can and cannot answer.
func TestConsistency(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY")
	s.must("CREATE KEYSPACE three WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3}")
	s.must("CREATE TABLE three.t (k int PRIMARY KEY)")
	const serial = "error 2200: You must use conditional updates for serializable writes\n"
	const serialRead = "error 2200: SERIAL/LOCAL_SERIAL consistency may only be requested for one partition at a time\n"
	for _, test := range []struct {
		statement string
		level     cqlerr.Consistency
		want      string
	}{
		{"SELECT * FROM t WHERE k = 1", cqlerr.Two, "TWO 2 1"},
		{"SELECT * FROM t", cqlerr.Three, "THREE 3 1"},
		{"SELECT * FROM t", cqlerr.EachQuorum, ""},
		{"SELECT * FROM t", cqlerr.All, ""},
		{"SELECT * FROM t", cqlerr.Serial, ""},
		{"SELECT * FROM t WHERE k IN (1, 1)", cqlerr.Serial, ""},
		{"SELECT * FROM t WHERE k IN (1, 2)", cqlerr.Serial, serialRead},
		{"SELECT * FROM t WHERE k IN (1, 2)", cqlerr.LocalSerial, serialRead},
		{"SELECT * FROM t", cqlerr.NodeLocal, "error 2200: NODE_LOCAL consistency level is highly dangerous and should be used only for debugging purposes\n"},
		{"INSERT INTO t (k) VALUES (1)", cqlerr.Two, "TWO 2 1"},
		{"INSERT INTO t (k) VALUES (1)", cqlerr.Serial, serial},
		{"BEGIN BATCH INSERT INTO t (k) VALUES (1); APPLY BATCH", cqlerr.Serial, ""},
		{"BEGIN BATCH INSERT INTO t (k) VALUES (1); APPLY BATCH", cqlerr.Three, "THREE 3 1"},
		{"SELECT * FROM three.t WHERE k = 1", cqlerr.Quorum, "QUORUM 2 1"},
		{"SELECT * FROM three.t WHERE k = 1", cqlerr.Serial, "QUORUM 2 1"},
		{"SELECT * FROM three.t WHERE k = 1", cqlerr.LocalSerial, "LOCAL_QUORUM 2 1"},
		{"SELECT * FROM three.t", cqlerr.Serial, "SERIAL 2 1"},
		{"SELECT * FROM three.t WHERE k = 1", cqlerr.LocalOne, ""},
		{"INSERT INTO three.t (k) VALUES (1)", cqlerr.All, "ALL 3 1"},
		{"SELECT key FROM system.local", cqlerr.Two, "TWO 2 1"},
		{"SELECT * FROM three.t WHERE k = 1", cqlerr.EachQuorum, "EACH_QUORUM 2 0"},
		{"INSERT INTO three.t (k) VALUES (1)", cqlerr.EachQuorum, "EACH_QUORUM 2 0"},
		{"SELECT name FROM system_views.settings", cqlerr.Three, ""},
	} {
		_, err := s.run(test.statement, exec.Options{Consistency: test.level})
		got := ""
		if e, ok := cqlerr.As(err); ok && e.Code == cqlerr.Unavailable {
			d := e.Detail.(cqlerr.UnavailableDetail)
			got = fmt.Sprintf("%s %d %d", d.Consistency, d.Required, d.Alive)
		} else if err != nil {
			got = errorText(err)
		}
		if got != test.want {
			t.Errorf("%s at %s: got %q, want %q", test.statement, test.level, got, test.want)
		}
	}
}
