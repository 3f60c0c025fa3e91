package cqltest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/store"
)

const createShop = "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"

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

// TestFork starts servers from one snapshot, also when the server that it is of is stopped. They and the server have
// rows, definitions, clocks and host ids of their own.
func TestFork(t *testing.T) {
	s := cqltest.RunT(t)
	s.Clock().Freeze()
	s.Exec(t, createShop+"; CREATE TABLE shop.t (k int PRIMARY KEY, n int); INSERT INTO shop.t (k, n) VALUES (1, 1) USING TTL 60")
	snapshot := s.Snapshot()
	s.Exec(t, "UPDATE shop.t SET n = 2 WHERE k = 1")
	s.Clock().Advance(time.Hour)
	hosts := map[string]bool{s.Query(t, "SELECT host_id FROM system.local").String(): true}
	if err := s.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			fork := snapshot.Fork(t)
			if got := fork.Query(t, "SELECT n FROM shop.t").String(); got != "1" {
				t.Errorf("n is %s", got)
			}
			if id := fork.Query(t, "SELECT host_id FROM system.local").String(); hosts[id] {
				t.Error("two servers have one host id")
			} else {
				hosts[id] = true
			}
			fork.Exec(t, "UPDATE shop.t SET n = 3 WHERE k = 1; DROP TABLE shop.t")
			child := fork.Fork(t)
			child.Exec(t, "CREATE TABLE shop.t (other int PRIMARY KEY)")
			fork.Clock().Advance(time.Minute)
			if d := fork.Clock().Now().Sub(child.Clock().Now()); d != time.Minute {
				t.Errorf("the clocks are %v apart", d)
			}
		})
	}
}

// BenchmarkMillionRows makes, restores and forks a snapshot of 1,000,000 rows, which are written to between. It
// reports the median times.
func BenchmarkMillionRows(b *testing.B) {
	s := cqltest.RunT(b)
	s.Exec(b, createShop, "CREATE TABLE shop.t (k int, c int, v text, PRIMARY KEY (k, c))")
	table := inside.Of(s).Store.Catalog().Table("shop", "t")
	for k := range int32(1000) {
		m := store.NewMutation(table, types.EncodeInt(k))
		for c := range int32(1000) {
			m.Row([][]byte{types.EncodeInt(c)})
			m.Set(table.Column("v"), []byte("value"), 1, store.Expiry{})
		}
		done := make(chan error, 1)
		inside.Of(s).Store.Apply([]*store.Mutation{m}, func(err error) { done <- err })
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
	write := func(s *cqltest.Server) { s.Exec(b, "INSERT INTO shop.t (k, c, v) VALUES (1, 1, 'changed')") }
	snapshot := s.Snapshot()
	measure := func(name string, do func() *cqltest.Server) {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				changed := do()
				took = append(took, time.Since(began))
				write(changed)
				if changed != s {
					if err := changed.Stop(context.Background()); err != nil {
						b.Fatal(err)
					}
				}
			}
			slices.Sort(took)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "median-µs")
		})
	}
	measure("snapshot", func() *cqltest.Server { s.Snapshot(); return s })
	measure("restore", func() *cqltest.Server { s.Restore(snapshot); return s })
	measure("fork", func() *cqltest.Server { return snapshot.Fork(b) })
	if n := s.Query(b, "SELECT count(*) FROM shop.t").String(); n != "1000000" {
		b.Errorf("%s rows", n)
	}
}
