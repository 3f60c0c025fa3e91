package cqltest_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol/client"
)

// oneTest stands for a test within a benchmark: end does what the end of the test would do, so that nothing of it
// stays in memory.
type oneTest struct {
	testing.TB
	mu   sync.Mutex
	ends []func()
}

// Cleanup implements testing.TB.
func (t *oneTest) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ends = append(t.ends, f)
}

// end calls the functions given to Cleanup, the last one first.
func (t *oneTest) end() {
	for _, f := range slices.Backward(t.ends) {
		f()
	}
}

// BenchmarkRunT starts and stops servers.
func BenchmarkRunT(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		t := &oneTest{TB: b}
		cqltest.RunT(t)
		t.end()
	}
}

// BenchmarkFirstAnswer starts servers and asks each of them something. It reports the median time from the start to
// the answer.
func BenchmarkFirstAnswer(b *testing.B) {
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		t := &oneTest{TB: b}
		s := cqltest.RunT(t)
		c, err := client.Dial(b.Context(), s.Addr(), client.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := c.Query(b.Context(), "SELECT release_version FROM system.local", nil, nil); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
		c.Close()
		t.end()
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "median-µs")
}

// BenchmarkParallelTests runs 500 tests at the same time, each with a server, a schema and 100 rows of its own. It
// reports the memory of the process while all servers are up.
func BenchmarkParallelTests(b *testing.B) {
	const tests, rows = 500, 100
	for b.Loop() {
		var group sync.WaitGroup
		all := make([]*oneTest, tests)
		for i := range all {
			all[i] = &oneTest{TB: b}
			group.Go(func() {
				s := cqltest.RunT(all[i])
				s.Exec(b, createShop, "CREATE TABLE shop.t (k int, c int, v text, PRIMARY KEY (k, c))",
					"CREATE TYPE shop.u (a int, b text)", "CREATE TABLE shop.u (k int PRIMARY KEY, v frozen<u>)")
				c, err := client.Dial(b.Context(), s.Addr(), client.Options{})
				if err != nil {
					b.Error(err)
					return
				}
				defer c.Close()
				p, err := c.Prepare(b.Context(), "INSERT INTO shop.t (k, c, v) VALUES (?, ?, ?)", "")
				for n := range int32(rows) {
					if err == nil {
						_, err = c.Execute(b.Context(), p, []types.Value{
							{Bytes: types.EncodeInt(n % 10)}, {Bytes: types.EncodeInt(n)}, {Bytes: fmt.Append(nil, "value ", n)},
						}, nil)
					}
				}
				if err != nil {
					b.Error(err)
				}
			})
		}
		group.Wait()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.Sys)/(1<<20), "MiB")
		for _, t := range all {
			group.Go(t.end)
		}
		group.Wait()
	}
}
