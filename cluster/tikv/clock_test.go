package tikv

import (
	"context"
	"testing"
	"time"

	"github.com/cqld/cqld/cluster/tikv/tikvtest"
	"github.com/cqld/cqld/store/cluster"
	"github.com/cqld/cqld/store/engine"
)

// TestClock reads the clock on two engines by turns, while PD's time moves in steps of its default interval.
func TestClock(t *testing.T) {
	c := tikvtest.New(t, 1)
	c.Interval = defaultClockInterval
	engines := []*Engine{open(t, c.Connect(t)), open(t, c.Connect(t))}
	var last time.Time
	steps := 0
	for i := 0; steps < 5; i++ {
		e := engines[i%2]
		before := time.Now().Truncate(time.Millisecond)
		now, err := e.Now(t.Context())
		must(t, err)
		after := time.Now()
		if now.Before(before.Add(-e.Step())) || now.After(after) {
			t.Fatalf("the clock shows %v between %v and %v", now, before, after)
		}
		if now.Before(last) {
			t.Fatalf("the clock goes back from %v to %v", last, now)
		}
		if now.After(last) {
			steps++
		}
		last = now
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, engines[1].Close())
	if _, err := engines[1].Now(t.Context()); err != engine.ErrClosed {
		t.Errorf("an engine that is closed tells the time: %v", err)
	}
	c.FailTimestamps(true)
	if _, err := engines[0].Now(gone); err == nil {
		t.Error("the time is told without PD")
	}
}

// TestClockInterval has PD move its time more rarely than the default says.
func TestClockInterval(t *testing.T) {
	c := tikvtest.New(t, 1)
	e, err := Open(c.Connect(t), Options{Prefix: "test", KeepVersions: true, ClockInterval: 300 * time.Millisecond}, nil)
	must(t, err)
	t.Cleanup(func() { _ = e.Close() })
	if e.Step() < 300*time.Millisecond {
		t.Errorf("the step is %v", e.Step())
	}
}

// TestJoin makes two processes nodes of a cluster: each knows bounds of the time that the other one has.
func TestJoin(t *testing.T) {
	c := tikvtest.New(t, 1)
	c.Interval = defaultClockInterval
	var joined []*cluster.Node
	for range 2 {
		n, err := cluster.Join(t.Context(), open(t, c.Connect(t)), cluster.Options{})
		must(t, err)
		joined = append(joined, n)
	}
	for i := range 50 {
		written := joined[i%2].Now().UnixMicro()
		for wait := joined[i%2].Until(written); wait > 0; wait = joined[i%2].Until(written) {
			time.Sleep(wait)
		}
		if later := joined[(i+1)%2].Now().UnixMicro(); later <= written {
			t.Fatalf("a node's time is %d after a timestamp of another one has passed, which was %d", later, written)
		}
	}
}
