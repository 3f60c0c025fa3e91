package server_test

import (
	"testing"
	"time"

	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server"
)

// The reads of a client that has gone end, also when its connection waits for something else than input.
func TestHangUp(t *testing.T) {
	e, withEngine := withHeldEngine()
	s := withTable(t, withEngine, inside.Limits(server.Limits{Concurrent: 64, RangeTimeout: time.Minute}))
	const rows = 2000 // no scan ends: that a client has gone would show when it is answered
	fill(t, s, rows, 1)
	for name, n := range map[string]int{"is read from": 40, "is not read from": 300} {
		t.Run(name, func(t *testing.T) {
			before := atRest(t, s)
			c := connect(t, s, client.Options{})
			e.slow(10 * time.Millisecond)
			defer e.slow(0)
			e.scanned.Store(0)
			arrived := inside.Of(s).Metrics().Requests["QUERY"]
			sendAll(t, c, n, queryOf(0, "SELECT c FROM ks.wide WHERE n = -1 ALLOW FILTERING"))
			eventually(t, "scans have arrived", func() bool { return inside.Of(s).Metrics().Requests["QUERY"] >= arrived+uint64(min(n, 64)) })
			eventually(t, "a scan is under way", func() bool { return e.scanned.Load() > 0 })
			c.Close()
			before.expect(t, s)
			if scanned := e.scanned.Load(); scanned > int64(n)*rows/2 {
				t.Errorf("%d rows were read, %d requests have %d", scanned, n, n*rows)
			}
		})
	}
}
