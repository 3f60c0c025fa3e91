package gocqlv2test_test

import (
	"testing"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/gocqlv2test"
)

// TestSessions opens sessions with keyspaces of their own, also on a server with TLS.
func TestSessions(t *testing.T) {
	for name, s := range map[string]*cqltest.Server{"plain": cqltest.RunT(t), "TLS": cqltest.RunT(t, cqltest.WithTLS())} {
		for range 2 {
			session := gocqlv2test.Session(t, s)
			for _, q := range []string{"CREATE TABLE t (k int PRIMARY KEY)", "INSERT INTO t (k) VALUES (1)"} {
				if err := session.Query(q).Exec(); err != nil {
					t.Fatalf("%s: %v", q, err)
				}
			}
			var n int
			if err := session.Query("SELECT count(*) FROM t").Scan(&n); err != nil || n != 1 {
				t.Errorf("%s: %d rows, %v", name, n, err)
			}
		}
		if got := s.Query(t, "SELECT count(*) FROM system_schema.tables WHERE keyspace_name IN (?, ?)",
			"t_sessions_1", "t_sessions_2").Values[0][0]; got != 2 {
			t.Errorf("%s: %v tables", name, got)
		}
	}
}
