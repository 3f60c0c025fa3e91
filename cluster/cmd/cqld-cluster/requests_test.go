package main

import (
	"context"
	"testing"
	"time"

	"github.com/cqld/cqld/cluster/tikv/tikvtest"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
)

// TestRequests counts what prepared statements ask of the stores and of PD. The counts are those of docs/cluster.md,
// with one more of each for writes: this store does not commit with one request.
func TestRequests(t *testing.T) {
	c := tikvtest.New(t, 1)
	conn := dial(t, serve(t, c, "--lease", "1m", "--down-after", "1m")) // it renews its lease seldom
	defineRequests(t, conn)
	countRequests(t, c, conn, []requests{
		{"SELECT b FROM k.one WHERE a = ?", 1, 1, 0},
		{"SELECT c FROM k.many WHERE a = ? AND b = ?", 2, 1, 0},
		{"SELECT c FROM k.many WHERE a = ?", 1, 1, 1},
		{"INSERT INTO k.one (a, b) VALUES (?, ?)", 2, 2, 2},
		{"UPDATE k.many SET c = ? WHERE a = ? AND b = ?", 3, 2, 2},
		{"UPDATE k.one SET b = ? WHERE a = ? IF b = ?", 3, 3, 2},
		{"INSERT INTO k.one (a, b) VALUES (?, ?) IF NOT EXISTS", 2, 1, 1},
		{"UPDATE k.n SET n = n + 1 WHERE a = ?", 1, 3, 2},
	})
}

// TestRequestsOfTwo counts them on one of two servers: a write without a condition and without a client's timestamp
// takes one more timestamp of PD.
func TestRequestsOfTwo(t *testing.T) {
	c := tikvtest.New(t, 1)
	c.Clock.Step = 50 * time.Millisecond
	conn := dial(t, serve(t, c, "--lease", "4s"))
	second := dial(t, serve(t, c, "--lease", "4s"))
	defineRequests(t, second) // it returns when the first server knows the second one
	countRequests(t, c, conn, []requests{
		{"INSERT INTO k.one (a, b) VALUES (?, ?)", 2, 2, 3},
		{"INSERT INTO k.one (a, b) VALUES (?, ?) USING TIMESTAMP 1", 2, 2, 2},
		{"UPDATE k.many SET c = ? WHERE a = ? AND b = ?", 3, 2, 3},
		{"UPDATE k.one SET b = ? WHERE a = ? IF b = ?", 3, 3, 2},
		{"INSERT INTO k.one (a, b) VALUES (?, ?) IF NOT EXISTS", 2, 1, 1},
		{"UPDATE k.n SET n = n + 1 WHERE a = ?", 1, 3, 3},
	})
}

func defineRequests(t *testing.T, conn *client.Conn) {
	t.Helper()
	for _, text := range []string{
		"CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE k.one (a int PRIMARY KEY, b int)",
		"CREATE TABLE k.many (a int, b int, c int, PRIMARY KEY (a, b))",
		"CREATE TABLE k.n (a int PRIMARY KEY, n counter)",
		"INSERT INTO k.one (a, b) VALUES (1, 1)",
		"INSERT INTO k.many (a, b, c) VALUES (1, 1, 1)",
		"UPDATE k.n SET n = n + 1 WHERE a = 1",
	} {
		ask(t, conn, text)
	}
}

// requests are what a statement asks of the stores and of PD.
type requests struct {
	text               string
	values             int // each of which is 1
	stores, timestamps int64
}

func countRequests(t *testing.T, c *tikvtest.Cluster, conn *client.Conn, all []requests) {
	t.Helper()
	one := types.Value{Bytes: []byte{0, 0, 0, 1}}
	for _, s := range all {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		prepared, err := conn.Prepare(ctx, s.text, "")
		if err != nil {
			t.Fatal(err)
		}
		values := make([]types.Value, s.values)
		for i := range values {
			values[i] = one
		}
		least := [2]int64{1 << 30, 1 << 30}
		want := [2]int64{s.stores, s.timestamps}
		for n := 0; n < 6 || n < 60 && least != want; n++ { // leases are renewed in the background, often on a busy machine
			before := settled(c)
			if _, err := conn.Execute(ctx, prepared, values, nil); err != nil {
				t.Fatalf("%s: %v", s.text, err)
			}
			after := settled(c)
			least = [2]int64{min(least[0], after[0]-before[0]), min(least[1], after[1]-before[1])}
		}
		if least != want {
			t.Errorf("%s: %d requests to stores and %d for timestamps, want %d and %d", s.text, least[0], least[1],
				s.stores, s.timestamps)
		}
	}
}

// settled returns how many requests stores and PD have got, when there are no more.
func settled(c *tikvtest.Cluster) (now [2]int64) {
	for {
		before := now
		if now = [2]int64{c.Requests.Load(), c.Timestamps.Load()}; now == before {
			return now
		}
		time.Sleep(30 * time.Millisecond)
	}
}
