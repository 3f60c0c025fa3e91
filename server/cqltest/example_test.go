package cqltest_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/server/cqltest"
)

// The pages README.md and docs/testing.md show parts of these tests, word for word.

// An application's test: a server of its own, and the application's driver.
func TestOrders(t *testing.T) {
	srv := cqltest.RunT(t)
	session, err := gocql.NewCluster(srv.Addr()).CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()

	for _, statement := range []string{
		"CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE shop.orders (customer int, day date, item text, PRIMARY KEY (customer, day))",
		"INSERT INTO shop.orders (customer, day, item) VALUES (1, '2024-02-29', 'tea')",
	} {
		if err := session.Query(statement).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	var item string
	if err := session.Query("SELECT item FROM shop.orders WHERE customer = ?", 1).Scan(&item); err != nil || item != "tea" {
		t.Errorf("%q, %v", item, err)
	}
}

// What has a TTL is gone when the test says so.
func TestExpiry(t *testing.T) {
	var seconds atomic.Int64
	srv := cqltest.RunT(t, cqltest.WithClock(func() time.Time {
		return time.Unix(1_700_000_000+seconds.Load(), 0)
	}))
	session := sessionOf(t, srv)
	run(t, session, "CREATE TABLE test.tokens (id int PRIMARY KEY)")
	run(t, session, "INSERT INTO test.tokens (id) VALUES (1) USING TTL 3600")
	seconds.Add(3601)
	var id int
	err := session.Query("SELECT id FROM test.tokens WHERE id = 1").Scan(&id)
	if !errors.Is(err, gocql.ErrNotFound) {
		t.Errorf("the token is still there: %v", err)
	}
}

// The application sees the error that a cluster in trouble would answer.
func TestUnavailable(t *testing.T) {
	srv := cqltest.RunT(t, cqltest.WithInterceptor(func(ctx context.Context, r server.Intercepted) error {
		if r.Opcode == "EXECUTE" && r.Statements[0] == "SELECT * FROM test.t" {
			return cqlerr.NotEnoughReplicas(cqlerr.Quorum, 2, 1)
		}
		return nil
	}))
	session := sessionOf(t, srv)
	run(t, session, "CREATE TABLE test.t (id int PRIMARY KEY)")
	err := session.Query("SELECT * FROM test.t").Exec()
	var unavailable *gocql.RequestErrUnavailable
	if !errors.As(err, &unavailable) || unavailable.Required != 2 {
		t.Errorf("the error is %v", err)
	}
}

// sessionOf connects to a server, where there is a keyspace test.
func sessionOf(t *testing.T, srv *cqltest.Server) *gocql.Session {
	t.Helper()
	session, err := gocql.NewCluster(srv.Addr()).CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	run(t, session, "CREATE KEYSPACE test WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	return session
}

func run(t *testing.T, session *gocql.Session, statement string) {
	t.Helper()
	if err := session.Query(statement).Exec(); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
