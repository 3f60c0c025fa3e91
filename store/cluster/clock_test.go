package cluster

import (
	"context"
	"testing"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// stepping is an engine whose clock shows steps of ten milliseconds.
type stepping struct {
	engine.Engine
	ahead time.Duration // of the clock of the process
}

const steps = 10 * time.Millisecond

func (s *stepping) now() time.Time { return time.Unix(1_800_000_000, 0).Add(monotonic() + s.ahead) }

func (s *stepping) Now(context.Context) (time.Time, error) { return s.now().Truncate(steps), nil }

func (s *stepping) Step() time.Duration { return steps }

func TestClock(t *testing.T) {
	source := &stepping{ahead: time.Hour}
	c, err := newClock(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		if i > 0 {
			time.Sleep(500 * time.Microsecond)
			if err := c.measure(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		before := source.now()
		earliest, latest := c.bounds.Load().when(monotonic())
		after := source.now()
		if earliest.After(after) || latest.Before(before) {
			t.Fatalf("the clock is between %v and %v, and the bounds are %v and %v", before, after, earliest, latest)
		}
	}
	earliest, latest := c.bounds.Load().when(monotonic())
	if d := latest.Sub(earliest); d > steps/2 {
		t.Errorf("after many readings the bounds are %v apart", d)
	}
	last := c.Now().UnixMicro()
	if d := c.Until(last); d <= 0 || d > steps {
		t.Errorf("the time now is past in %v", d)
	}
	for c.Until(last) > 0 {
		time.Sleep(time.Millisecond)
	}
	if now := source.now().UnixMicro(); now <= last {
		t.Errorf("%d has passed, and the time is %d", last, now)
	}

	source.ahead = 2 * time.Hour // as when another server of the engine gives the time
	if err := c.measure(t.Context()); err != nil {
		t.Fatal(err)
	}
	if off := c.Now().Sub(source.now()); off < -steps || off > steps {
		t.Errorf("when the clock was moved, the time is off by %v", off)
	}
}
