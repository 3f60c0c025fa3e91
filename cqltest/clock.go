package cqltest

import (
	"time"

	"github.com/cqld/cqld/server/control"
)

// Clock is the clock of a server. It runs like the real one until the test moves it (Advance, Set) or stops it
// (Freeze, Run). It sets all times of CQL: TTLs, timestamps of writes without USING TIMESTAMP, now() and the other
// functions of time, 'now' in literals, gc_grace_seconds, and times in traces and system tables. Timeouts use real
// time.
//
// A driver that sends timestamps with its writes, as most do, takes them from its own clock; sessions of gocqltest and
// gocqlv2test do not send any.
type Clock struct{ c *control.Clock }

// Clock is the server's clock, which the test can move.
func (s *Server) Clock() *Clock { return &Clock{s.controls.Clock} }

// Now is the time that it shows.
func (c *Clock) Now() time.Time { return c.c.Now() }

// Advance moves the clock, back if d is negative.
func (c *Clock) Advance(d time.Duration) { c.c.Advance(d) }

// Set makes the clock show t. It runs on from there, unless it is frozen.
func (c *Clock) Set(t time.Time) { c.c.Set(t) }

// Freeze stops the clock where it is.
func (c *Clock) Freeze() { c.c.Freeze() }

// Run lets a frozen clock run on.
func (c *Clock) Run() { c.c.Run() }

// Frozen reports whether the clock is stopped.
func (c *Clock) Frozen() bool { return c.c.Frozen() }

// Reset makes the clock show the real time again, or that of WithClock.
func (c *Clock) Reset() { c.c.Reset() }

// Ahead is how far the clock is ahead of the real time, or of that of WithClock.
func (c *Clock) Ahead() time.Duration { return c.c.Ahead() }
