package tikv

import (
	"context"
	"testing"
	"time"

	"github.com/cqld/cqld/cluster/tikv/tikvtest"
	"github.com/cqld/cqld/store/cluster"
	"github.com/cqld/cqld/store/engine"
)

// pdInterval is PD's default for moving its milliseconds on.
const pdInterval = 50 * time.Millisecond

// TestClock takes timestamps on two engines by turns, one or many at a time, while PD's leader changes. Each must be
// later than the one before, and be what its engine has seen.
func TestClock(t *testing.T) {
	c := tikvtest.New(t, 1)
	c.Clock.Step = pdInterval
	engines := []*Engine{open(t, c.Connect(t)), open(t, c.Connect(t))}
	var last engine.Timestamp
	for i := range 300 {
		e, count := engines[i%2], 1+i%3*20
		if i%100 == 50 {
			c.Clock.Transfer(time.Second)
		}
		now, err := e.Timestamp(t.Context(), count)
		must(t, err)
		if !now.After(last) || now.Milliseconds == last.Milliseconds && now.Count < last.Count+int64(count) {
			t.Fatalf("%v is followed by %v after %d", last, now, count)
		}
		if last = now; e.Seen() != now {
			t.Fatalf("the engine has seen %v, and has got %v", e.Seen(), now)
		}
	}
	must(t, engines[0].View(func(engine.Reader) error { return nil }))
	if !engines[0].Seen().After(last) {
		t.Error("a read does not count as seen")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, engines[1].Close())
	if _, err := engines[1].Timestamp(t.Context(), 1); err != engine.ErrClosed {
		t.Errorf("an engine that is closed gives a timestamp: %v", err)
	}
	c.FailTimestamps(true)
	if _, err := engines[0].Timestamp(gone, 1); err == nil {
		t.Error("there is a timestamp without PD")
	}
}

// TestJoin makes two processes nodes of a cluster, whose writes follow each other, while PD's leader changes.
func TestJoin(t *testing.T) {
	c := tikvtest.New(t, 1)
	c.Clock.Step = pdInterval
	var joined []*cluster.Node
	for range 2 {
		n, err := cluster.Join(t.Context(), open(t, c.Connect(t)), cluster.Options{})
		must(t, err)
		joined = append(joined, n)
	}
	var last int64
	for i := range 100 {
		if i%20 == 10 {
			c.Clock.Transfer(time.Duration(i) * 30 * time.Millisecond)
		}
		n := joined[i%2]
		ts, err := n.Timestamp(t.Context())
		must(t, err)
		if ts <= last {
			t.Fatalf("a node takes %d after a timestamp of another one was answered, which was %d", ts, last)
		}
		must(t, n.AwaitPassed(t.Context(), ts))
		last = ts
	}
}
