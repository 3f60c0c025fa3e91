package server

import (
	"testing"
	"time"

	"github.com/cqld/cqld/server/observe"
	"github.com/cqld/cqld/server/statements"
)

func TestObserveAllocatesNothing(t *testing.T) {
	r := request{latency: new(observe.Histogram), began: monotonic()}
	if n := testing.AllocsPerRun(100, r.observe); n != 0 {
		t.Errorf("%v allocations for each execution", n)
	}
}

// servedRead is a read that the reader of c serves, of a request that began some time ago.
func servedRead(c *conn, latency *observe.Histogram, ago time.Duration) *request {
	return &request{conn: c, statement: &statements.Statement{Reads: true}, latency: latency, began: c.arrived - ago}
}

// A read that waited for the memory of its request has the time of that as well; the reads after it have not.
func TestObserveReadThatWaited(t *testing.T) {
	l := observe.NewLatencies(nil)
	h := l.Of("select", false, nil)
	c := &conn{arrived: monotonic()}
	servedRead(c, h, time.Hour).observe()
	servedRead(c, h, 0).observe()
	c.observeBurst()
	got := l.List()[0]
	if got.Count != 2 || got.Buckets[10*time.Second] != 1 || got.Total < time.Hour {
		t.Errorf("%+v are observed, want an hour, and less", got)
	}
}

// The memory that a connection keeps of a burst of reads is bounded.
func TestObserveLongBurst(t *testing.T) {
	l := observe.NewLatencies(nil)
	h := l.Of("select", false, nil)
	c := &conn{arrived: monotonic()}
	const n = 10*maxBurst + 1
	for range n {
		servedRead(c, h, 0).observe()
	}
	if cap(c.burst) > 2*maxBurst {
		t.Errorf("room for %d reads is kept", cap(c.burst))
	}
	c.observeBurst()
	if got := l.List()[0].Count; got != n || len(c.burst) != 0 {
		t.Errorf("%d of %d reads are observed, %d are left", got, n, len(c.burst))
	}
}
