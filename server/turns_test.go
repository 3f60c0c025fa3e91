package server_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server"
)

// A client with one scan does not wait for one that has 64 under way.
func TestModestAndGreedy(t *testing.T) {
	e, withEngine := withHeldEngine()
	s := withTable(t, withEngine)
	fill(t, s, 20, 1)
	greedy, modest := connect(t, s, client.Options{}), connect(t, s, client.Options{})
	const scan = "SELECT c FROM ks.wide WHERE n = -1 ALLOW FILTERING"
	run(t, modest, scan)
	e.slow(500 * time.Microsecond)
	const n = 64
	before := inside.Of(s).Metrics().Requests["QUERY"]
	sendAll(t, greedy, n, queryOf(0, scan))
	var answered atomic.Int64
	ended := make(chan error, 1)
	go func() {
		for range n {
			if _, err := greedy.Receive(testContext(t)); err != nil {
				ended <- err
				return
			}
			answered.Add(1)
		}
		ended <- nil
	}()
	eventually(t, "the scans have arrived", func() bool { return inside.Of(s).Metrics().Requests["QUERY"] == before+n })
	eventually(t, "some are answered", func() bool { return answered.Load() > 0 })
	began := answered.Load()
	run(t, modest, scan)
	if got := answered.Load() - began; got > n/4 {
		t.Errorf("%d scans of the greedy client were answered before the modest one's, behind %d", got, began)
	}
	e.slow(0)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Reads end when their time is over, and the error has what Cassandra's has.
func TestReadTimeouts(t *testing.T) {
	e, withEngine := withHeldEngine()
	s := withTable(t, withEngine, inside.Limits(server.Limits{
		RangeTimeout: 20 * time.Millisecond, ReadTimeout: 20 * time.Millisecond, WriteTimeout: time.Minute,
	}))
	const rows = 2000
	fill(t, s, rows, 1)
	e.slow(time.Millisecond)
	defer e.slow(0)
	for _, v := range []protocol.Version{protocol.V3, protocol.V4, protocol.V5} {
		c := connect(t, s, client.Options{Version: v})
		for _, text := range []string{
			"SELECT c FROM ks.wide WHERE n = -1 ALLOW FILTERING",
			"SELECT c FROM ks.wide WHERE p = 1 AND n = -1 ALLOW FILTERING",
		} {
			began := e.scanned.Load()
			m := queryOf(0, "%s", text)
			m.Parameters.Consistency = cqlerr.LocalOne
			_, err := c.Do(testContext(t), m)
			expectError(t, err, cqlerr.ReadTimeout, "Operation timed out - received only 0 responses.")
			if told, ok := cqlerr.As(err); ok && told.Detail != (cqlerr.TimeoutDetail{Consistency: cqlerr.LocalOne, BlockFor: 1}) {
				t.Errorf("%s: %+v", v, told.Detail)
			}
			if n := e.scanned.Load() - began; n >= rows {
				t.Errorf("%s: all %d rows were read, although each takes a millisecond and there were 20", v, n)
			}
		}
	}
	if n := inside.Of(s).Metrics().Errors["read_timeout"]; n != 6 {
		t.Errorf("%d timeouts are counted", n)
	}
}

// The time that is given is that of a page: an aggregate reads as many as there are.
func TestAggregatesHaveTime(t *testing.T) {
	t.Parallel()
	// All rows take 1.4 times the limit and a page a fifth of it, as long as the machine has time for the test. If it has
	// not, a longer limit is tried; an aggregate that had one limit for all pages would fail with each.
	for limit := 250 * time.Millisecond; ; limit *= 4 {
		err := aggregateSlowly(t, limit)
		if err == nil {
			return
		}
		if limit > 3*time.Second {
			t.Fatalf("with a limit of %v: %v", limit, err)
		}
	}
}

// aggregateSlowly counts rows that are read slowly, with a limit for the time of reads.
func aggregateSlowly(t *testing.T, limit time.Duration) error {
	t.Helper()
	e, withEngine := withHeldEngine()
	s := withTable(t, withEngine, inside.Limits(server.Limits{
		RangeTimeout: limit, ReadTimeout: limit, WriteTimeout: time.Minute,
	}))
	fill(t, s, 70, 1)
	c := connect(t, s, client.Options{})
	e.slow(limit / 50)
	defer e.slow(0)
	_, err := c.Do(testContext(t), queryOf(10, "SELECT c FROM ks.wide WHERE n = -1 ALLOW FILTERING"))
	expectError(t, err, cqlerr.ReadTimeout, "")
	for _, text := range []string{"SELECT count(*) FROM ks.wide", "SELECT count(c) FROM ks.wide WHERE p = 1"} {
		a, err := c.Do(testContext(t), queryOf(10, "%s", text))
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		if rows := a.Response.(*protocol.Rows); string(rows.Cells) != "\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00\x46" {
			t.Errorf("%s: %x", text, rows.Cells)
		}
	}
	return nil
}
