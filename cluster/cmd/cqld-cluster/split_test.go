package main

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tikv/client-go/v2/tikvrpc"

	"github.com/cqld/cqld/cluster/tikv/tikvtest"
	"github.com/cqld/cqld/store/cluster"
)

// TestSplit defines a table and loads it, on three stores. If tables are split it gets regions, and the load is spread
// over the stores. If they are not, all of it is for one store.
func TestSplit(t *testing.T) {
	for _, parts := range []int{1, 8} {
		t.Run(fmt.Sprint(parts), func(t *testing.T) {
			t.Parallel()
			c := tikvtest.New(t, 3)
			p := startSplitting(t, c, new(cluster.Options), parts, nil, "--lease", "1m", "--down-after", "1m")
			conn := dial(t, p)
			ask(t, conn, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
			regions := len(c.RegionStarts())
			expect := func(what string, more int) {
				t.Helper()
				if parts == 1 {
					more = 0
				}
				regions += more
				eventually(t, fmt.Sprintf("%s leads to %d regions", what, regions), func() bool {
					return len(c.RegionStarts()) == regions
				})
			}
			ask(t, conn, "CREATE TABLE k.t (a int PRIMARY KEY, b text)")
			expect("a table", parts)
			ask(t, conn, "CREATE INDEX ON k.t (b)")
			expect("an index", 1)
			ask(t, conn, "ALTER TABLE k.t ADD c int")
			ask(t, conn, "CREATE MATERIALIZED VIEW k.v AS SELECT * FROM k.t WHERE b IS NOT NULL AND a IS NOT NULL PRIMARY KEY (b, a)")
			expect("a view", parts)
			ask(t, conn, "TRUNCATE k.t") // the table and its index get other numbers, and so does the view
			expect("TRUNCATE", parts+1+parts)

			ask(t, conn, "CREATE TABLE k.loaded (a int PRIMARY KEY, b text)")
			expect("another table", parts)
			before := c.RequestsPerStore()
			const rows = 60
			for a := range rows {
				ask(t, conn, fmt.Sprintf("INSERT INTO k.loaded (a, b) VALUES (%d, 'b')", a))
			}
			if got := ask(t, conn, "SELECT count(*) FROM k.loaded"); !slices.Equal(got, []string{fmt.Sprint(rows)}) {
				t.Errorf("there are %v rows, want %d", got, rows)
			}
			var busy []int64 // requests of stores that have got a tenth of the load at least
			for name, n := range c.RequestsPerStore() {
				if n -= before[name]; n >= 2*rows/10 {
					busy = append(busy, n)
				}
			}
			if want := map[int]int{1: 1, 8: 3}[parts]; len(busy) != want {
				t.Errorf("%d stores have got the load, with %v requests; want %d", len(busy), busy, want)
			}
		})
	}
}

// TestSplitSlowly has the stores answer nothing to who asks them to split: tables are defined and used all the same.
func TestSplitSlowly(t *testing.T) {
	asked, goOn := make(chan struct{}, 100), make(chan struct{})
	c := tikvtest.New(t, 1)
	p := startSplitting(t, c, new(cluster.Options), 8, func(r *tikvrpc.Request, send func() error) error {
		if r.Type != tikvrpc.CmdSplitRegion {
			return send()
		}
		asked <- struct{}{}
		<-goOn
		return errKilled
	})
	conn := dial(t, p)
	ask(t, conn, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	for i := range 3 {
		ask(t, conn, fmt.Sprintf("CREATE TABLE k.t%d (a int PRIMARY KEY)", i))
		ask(t, conn, fmt.Sprintf("INSERT INTO k.t%d (a) VALUES (1)", i))
	}
	select {
	case <-asked:
	case <-time.After(time.Minute):
		t.Error("no store was asked to split")
	}
	if n := len(c.RegionStarts()); n != 1 {
		t.Errorf("there are %d regions", n)
	}
	close(goOn)
}
