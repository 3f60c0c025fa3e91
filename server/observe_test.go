package server

import (
	"testing"
	"time"
)

func TestObserveAllocatesNothing(t *testing.T) {
	r := request{latency: newLatencies(nil).of("select", false, nil), began: monotonic()}
	if n := testing.AllocsPerRun(100, r.observe); n != 0 {
		t.Errorf("%v allocations for each execution", n)
	}
}

func BenchmarkObserve(b *testing.B) {
	r := request{latency: newLatencies(nil).of("select", false, nil), began: monotonic()}
	for b.Loop() {
		r.observe()
	}
}

// servedRead is a read that the reader of c serves, of a request that began some time ago.
func servedRead(c *conn, latency *histogram, ago time.Duration) *request {
	return &request{conn: c, statement: &statement{reads: true}, latency: latency, began: c.arrived - ago}
}

// A read that waited, for the memory of its request, has the time of that as well; the reads behind it have not.
func TestObserveReadThatWaited(t *testing.T) {
	var h histogram
	c := &conn{arrived: monotonic()}
	servedRead(c, &h, time.Hour).observe()
	servedRead(c, &h, 0).observe()
	c.observeBurst()
	var got timings
	got.add(&h)
	if n := got.buckets[len(latencyBounds)]; got.count() != 2 || n != 1 || got.longest < time.Hour {
		t.Errorf("%+v are observed, want an hour, and less", got)
	}
}

// What a connection keeps of a burst of reads is bounded.
func TestObserveLongBurst(t *testing.T) {
	var h histogram
	c := &conn{arrived: monotonic()}
	const n = 10*longestBurst + 1
	for range n {
		servedRead(c, &h, 0).observe()
	}
	if cap(c.burst) > 2*longestBurst {
		t.Errorf("room for %d reads is kept", cap(c.burst))
	}
	c.observeBurst()
	var got timings
	if got.add(&h); got.count() != n || len(c.burst) != 0 {
		t.Errorf("%d of %d reads are observed, %d are left", got.count(), n, len(c.burst))
	}
}
