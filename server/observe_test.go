package server

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func TestObserveAllocatesNothing(t *testing.T) {
	r := request{latency: newLatencies(nil).of("select", nil), began: monotonic()}
	if n := testing.AllocsPerRun(100, r.observe); n != 0 {
		t.Errorf("%v allocations for each execution", n)
	}
}

func BenchmarkObserve(b *testing.B) {
	r := request{latency: newLatencies(nil).of("select", nil), began: monotonic()}
	for b.Loop() {
		r.observe()
	}
}

// durations are the seconds that were observed.
type durations []float64

func (d *durations) Observe(seconds float64) { *d = append(*d, seconds) }

// servedRead is a read that the reader of c serves, of a request that began some time ago.
func servedRead(c *conn, latency prometheus.Observer, ago time.Duration) *request {
	return &request{conn: c, statement: &statement{reads: true}, latency: latency, began: c.arrived - ago}
}

// A read that waited, for the memory of its request, has the time of that as well; the reads behind it have not.
func TestObserveReadThatWaited(t *testing.T) {
	var got durations
	c := &conn{arrived: monotonic()}
	servedRead(c, &got, time.Hour).observe()
	servedRead(c, &got, 0).observe()
	c.observeBurst()
	if len(got) != 2 || got[0] < 3600 || got[1] >= 3600 {
		t.Errorf("%v seconds are observed, want an hour, and less", got)
	}
}

// What a connection keeps of a burst of reads is bounded.
func TestObserveLongBurst(t *testing.T) {
	var got durations
	c := &conn{arrived: monotonic()}
	const n = 10*longestBurst + 1
	for range n {
		servedRead(c, &got, 0).observe()
	}
	if cap(c.burst) > 2*longestBurst {
		t.Errorf("room for %d reads is kept", cap(c.burst))
	}
	if c.observeBurst(); len(got) != n || len(c.burst) != 0 {
		t.Errorf("%d of %d reads are observed, %d are left", len(got), n, len(c.burst))
	}
}
