package control

import (
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/cql/types"
)

// Clock is the clock of a server. It runs like the real one until the test moves or stops it. Methods may be called
// while requests are served.
//
// All times of CQL come from it: TTLs, timestamps of writes without USING TIMESTAMP, now() and the other functions of
// time, 'now' in literals, gc_grace_seconds, and times in traces and system tables. Timestamps and now() never go
// back: when the clock does, they go on after the last one in the smallest steps.
//
// Timeouts and the duration of statements use real time: clients wait in real time, and faults make requests time out.
// A driver that sends timestamps with its writes, as most do, takes them from its own clock; package cqltest/gocqltest
// tells its sessions not to.
type Clock struct {
	source  func() time.Time
	setting atomic.Pointer[setting]
}

// setting is the state of a clock: it shows the source plus an offset, or always the same time.
type setting struct {
	offset time.Duration
	frozen time.Time // zero: it runs
}

// NewClock makes a clock that shows the time of source; nil: the real time.
func NewClock(source func() time.Time) *Clock {
	if source == nil {
		source = time.Now
	}
	c := &Clock{source: source}
	c.setting.Store(new(setting))
	return c
}

// Copy makes a clock that shows the same, and is moved on its own.
func (c *Clock) Copy() *Clock {
	d := &Clock{source: c.source}
	d.setting.Store(c.setting.Load())
	return d
}

// Now is the time that it shows.
func (c *Clock) Now() time.Time { return c.setting.Load().time(c.source) }

func (s *setting) time(source func() time.Time) time.Time {
	switch {
	case !s.frozen.IsZero():
		return s.frozen
	case s.offset == 0:
		return source()
	}
	return source().Add(s.offset)
}

// Advance moves the clock, back if d is negative.
func (c *Clock) Advance(d time.Duration) {
	c.change(func(s setting) setting {
		if s.frozen.IsZero() {
			return setting{offset: s.offset + d}
		}
		return setting{frozen: s.frozen.Add(d)}
	})
}

// Set makes the clock show t. It goes on from there, unless it is frozen.
func (c *Clock) Set(t time.Time) {
	c.change(func(s setting) setting {
		if s.frozen.IsZero() {
			return setting{offset: t.Sub(c.source())}
		}
		return setting{frozen: t}
	})
}

// Freeze stops the clock where it is.
func (c *Clock) Freeze() {
	c.change(func(s setting) setting { return setting{frozen: s.time(c.source)} })
}

// Run lets a frozen clock go on from where it is.
func (c *Clock) Run() {
	c.change(func(s setting) setting {
		if s.frozen.IsZero() {
			return s
		}
		return setting{offset: s.frozen.Sub(c.source())}
	})
}

// Reset makes the clock show the time of its source again.
func (c *Clock) Reset() { c.setting.Store(new(setting)) }

// Frozen reports whether the clock is stopped.
func (c *Clock) Frozen() bool { return !c.setting.Load().frozen.IsZero() }

// Ahead is how far the clock is ahead of its source.
func (c *Clock) Ahead() time.Duration {
	now := c.source()
	return c.setting.Load().time(func() time.Time { return now }).Sub(now)
}

// follow sets the clock as another one is set.
func (c *Clock) follow(other *Clock) { c.setting.Store(other.setting.Load()) }

func (c *Clock) change(to func(setting) setting) {
	for {
		old := c.setting.Load()
		next := to(*old)
		if c.setting.CompareAndSwap(old, &next) {
			return
		}
	}
}

// clockTable is the clock as a table of one row:
//
//	UPDATE cqld_control.clock SET advance = 1h WHERE key = 'local'
//	UPDATE cqld_control.clock SET now = '2030-01-01', frozen = true WHERE key = 'local'
//	DELETE FROM cqld_control.clock WHERE key = 'local'
type clockTable struct{ clock *Clock }

// ClockKey is the key of the only row.
const ClockKey = "local"

func (t clockTable) rows() []Row {
	v := values{"now": types.EncodeTimestamp(t.clock.Now())}
	v.setDuration("ahead", t.clock.Ahead().Round(time.Millisecond))
	v.setBool("frozen", t.clock.Frozen())
	return []Row{{textKey(ClockKey), v}}
}

// Write freezes the clock or lets it run, then sets it, then moves it.
func (t clockTable) Write(key []byte, change map[string][]byte) error {
	if err := checkClockKey(key); err != nil {
		return err
	}
	if err := readOnly(change, "advance", "frozen", "now"); err != nil {
		return err
	}
	v := values(change)
	advance, err := v.duration("advance")
	if err != nil {
		return err
	}
	switch {
	case v["frozen"] == nil:
	case v.bool("frozen"):
		t.clock.Freeze()
	default:
		t.clock.Run()
	}
	if now := v["now"]; now != nil {
		t.clock.Set(time.UnixMilli(types.DecodeBigInt(now)))
	}
	if advance != 0 {
		t.clock.Advance(advance)
	}
	return nil
}

// Delete makes the clock show the real time again.
func (t clockTable) Delete(key []byte) error {
	if err := checkClockKey(key); err != nil {
		return err
	}
	return t.Truncate()
}

// Truncate makes the clock show the real time again.
func (t clockTable) Truncate() error {
	t.clock.Reset()
	return nil
}

func checkClockKey(key []byte) error {
	if string(key) != ClockKey {
		return errCannot("There is one clock, with the key '%s'", ClockKey)
	}
	return nil
}
