package gocqltest_test

import (
	"context"
	"testing"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/gocqltest"
	"github.com/cqld/cqld/protocol/client"
)

// TestSessions opens sessions with keyspaces of their own, also on a server with TLS.
func TestSessions(t *testing.T) {
	for name, s := range map[string]*cqltest.Server{"plain": cqltest.RunT(t), "TLS": cqltest.RunT(t, cqltest.WithTLS())} {
		for range 2 {
			session := gocqltest.Session(t, s)
			run(t, session, "CREATE TABLE t (k int PRIMARY KEY)")
			run(t, session, "INSERT INTO t (k) VALUES (1)")
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

// dial opens a connection that is closed with the test.
func dial(t testing.TB, s *cqltest.Server, o client.Options) *client.Conn {
	t.Helper()
	c, err := client.Dial(context.Background(), s.Addr(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}
