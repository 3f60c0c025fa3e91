package cluster

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/cqld/cqld/internal/tso"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// clocked is an engine with a clock.
type clocked struct {
	engine.Engine
	clock *tso.Oracle
	seen  *engine.Timestamp // nil: it has seen what the clock shows
	err   error             // of Timestamp
}

func (c *clocked) Timestamp(_ context.Context, count int) (engine.Timestamp, error) {
	physical, logical := c.clock.Next(int64(count))
	return engine.Timestamp{Milliseconds: physical, Count: logical}, c.err
}

func (c *clocked) Seen() engine.Timestamp {
	if c.seen != nil {
		return *c.seen
	}
	t, _ := c.Timestamp(context.Background(), 1)
	return t
}

// newClocked returns an engine whose clock moves its milliseconds every 10 ms.
func newClocked() *clocked {
	clock := &tso.Oracle{Step: 10 * time.Millisecond}
	return &clocked{Engine: enginetest.NewMemory(enginetest.Union, true), clock: clock}
}

// TestMicroseconds goes through the counts of a millisecond and to the next one: timestamps of cells never fall, each
// of the first ones is later than the one before, and a timestamp has passed only if all later ones are later.
func TestMicroseconds(t *testing.T) {
	for count := range int64(engine.MaxCount) {
		now, next := engine.Timestamp{Milliseconds: 7, Count: count}, engine.Timestamp{Milliseconds: 7, Count: count + 1}
		if count == engine.MaxCount-1 {
			next = engine.Timestamp{Milliseconds: 8}
		}
		a, b := microseconds(now), microseconds(next)
		if a > b || passed(now) >= b || passed(now) < a-1 || count < ownMicrosecond && (a == b || passed(now) != a) {
			t.Fatalf("%v has the microsecond %d and %d has passed, and %v has %d", now, a, passed(now), next, b)
		}
		if count < ownMicrosecond && passed(now) < a {
			t.Fatalf("%v has not passed when it is given", now)
		}
	}
}

// TestNow looks at the clock's time beside that of the machine, and across a jump: it never goes back, and follows.
func TestNow(t *testing.T) {
	source := newClocked()
	c, err := newClock(t.Context(), source, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	last := c.Now()
	look := func(ahead time.Duration) {
		t.Helper()
		for range 100 {
			if err := c.measure(t.Context()); err != nil {
				t.Fatal(err)
			}
			now := c.Now()
			if off := time.Until(now) - ahead; now.Before(last) || off > 0 {
				t.Fatalf("%v follows %v, which is off by %v", now, last, off)
			}
			last = now
		}
	}
	look(0)
	source.clock.Transfer(time.Hour)
	look(time.Hour)
	if time.Until(last) < time.Hour/2 {
		t.Errorf("the time is %v after another leader has begun an hour later", last)
	}
}

// TestAfter asks for timestamps of decisions: above what was read, and otherwise about now by the machine's clock, but
// never later than the engine's.
func TestAfter(t *testing.T) {
	machine := time.UnixMicro(5_000_000)
	for _, c := range []struct {
		name         string
		milliseconds int64 // of the engine's clock
		newest, want int64
	}{
		{"the engine's clock is ahead", 9000, math.MinInt64, 5_000_000},
		{"the machine's clock is ahead", 2000, math.MinInt64, 2_000_000 - decisionHeadroom},
		{"a row is a little older", 9000, 4_000_000, 5_000_000},
		{"a row is later than the machine", 9000, 7_000_000, 7_000_001},
		{"a row is later than both", 9000, 20_000_000, 20_000_001},
	} {
		source := newClocked()
		source.seen = &engine.Timestamp{Milliseconds: c.milliseconds}
		clock := &Clock{source: source, machine: func() time.Time { return machine }}
		if got := clock.After(c.newest); got != c.want {
			t.Errorf("%s: the timestamp is %d, want %d", c.name, got, c.want)
		}
	}
}

// TestAwaitPassed waits for timestamps that have not passed while the clock stands: it takes timestamps until they
// have. It does not wait for one that only a client can have chosen.
func TestAwaitPassed(t *testing.T) {
	source := newClocked()
	source.clock.Transfer(time.Hour) // it stands for an hour
	n := &Node{Clock: &Clock{source: source}, engine: source, options: Options{Lease: time.Second}}
	for range ownMicrosecond + 2 {
		ts := microseconds(source.Seen()) + 3
		if err := n.AwaitPassed(t.Context(), ts); err != nil {
			t.Fatal(err)
		}
		if now := microseconds(source.Seen()); now <= ts {
			t.Fatalf("%d has passed, and the next timestamp is %d", ts, now)
		}
	}
	future := microseconds(source.Seen()) + time.Minute.Microseconds()
	now := microseconds(source.Seen())
	if limit := n.Future(); limit >= future || limit <= now {
		t.Error("it is not told which timestamps are in the future")
	}
	if err := n.AwaitPassed(t.Context(), future); err != nil || n.HasPassed(future) {
		t.Errorf("a timestamp in a minute has passed: %v, %v", n.HasPassed(future), err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	source.seen = &engine.Timestamp{Milliseconds: 1}
	if err := n.AwaitPassed(gone, 2000); err == nil {
		t.Error("the wait does not end with its context")
	}
}
