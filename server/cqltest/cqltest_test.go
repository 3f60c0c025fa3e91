package cqltest_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server/cqltest"
)

// A server's clock is the test's: what has a TTL is gone when the test says so.
func TestClock(t *testing.T) {
	var now atomic.Int64
	now.Store(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Unix())
	s := cqltest.RunT(t, cqltest.WithClock(func() time.Time { return time.Unix(now.Load(), 0) }))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c, err := client.Dial(ctx, s.Addr(), client.Options{Version: protocol.V4})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	rows := func(statements ...string) (n int) {
		t.Helper()
		for _, text := range statements {
			r, err := c.Query(ctx, text, nil, nil)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			n = len(r.Rows)
		}
		return n
	}
	n := rows("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE ks.t (k int PRIMARY KEY)", "INSERT INTO ks.t (k) VALUES (1) USING TTL 60", "SELECT * FROM ks.t")
	if n != 1 {
		t.Errorf("%d rows before the time", n)
	}
	now.Add(61)
	if n := rows("SELECT * FROM ks.t"); n != 0 {
		t.Errorf("%d rows after it", n)
	}
}

// Servers do not share anything, and a stopped one stays stopped.
func TestServersAreSeparate(t *testing.T) {
	a, b := cqltest.RunT(t), cqltest.RunT(t)
	if a.Addr() == b.Addr() {
		t.Fatal("one address for two servers")
	}
	ctx := context.Background()
	if err := a.Stop(ctx); err != nil {
		t.Error(err)
	}
	if err := a.Stop(ctx); err != nil {
		t.Errorf("the second Stop: %v", err)
	}
	if _, err := client.Dial(ctx, a.Addr(), client.Options{}); err == nil {
		t.Error("a stopped server can be dialled")
	}
	c, err := client.Dial(ctx, b.Addr(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}
