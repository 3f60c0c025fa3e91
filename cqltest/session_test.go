package cqltest_test

import (
	"testing"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/gocqltest"
	"github.com/cqld/cqld/cqltest/gocqlv2test"
)

// TestSessions opens sessions of both lines of gocql, each with a keyspace of its own.
func TestSessions(t *testing.T) {
	s := cqltest.RunT(t)
	one, two, other := gocqltest.Session(t, s), gocqltest.Session(t, s), gocqlv2test.Session(t, s)
	for _, run := range []func(string) error{
		func(q string) error { return one.Query(q).Exec() },
		func(q string) error { return two.Query(q).Exec() },
		func(q string) error { return other.Query(q).Exec() },
	} {
		for _, q := range []string{"CREATE TABLE t (k int PRIMARY KEY)", "INSERT INTO t (k) VALUES (1)"} {
			if err := run(q); err != nil {
				t.Errorf("%s: %v", q, err)
			}
		}
	}
	var n int
	if err := other.Query("SELECT count(*) FROM t").Scan(&n); err != nil || n != 1 {
		t.Errorf("%d rows, %v", n, err)
	}
	if err := one.Query("SELECT count(*) FROM system_schema.keyspaces WHERE keyspace_name IN (?, ?, ?)",
		"t_sessions_1", "t_sessions_2", "t_sessions_3").Scan(&n); err != nil || n != 3 {
		t.Errorf("%d keyspaces, %v", n, err)
	}
}
