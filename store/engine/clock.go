package engine

import (
	"context"
	"time"
)

// Clock is an Engine that several processes share and that tells all of them the same time, whatever their own clocks
// say. An engine that is shared has to be one.
type Clock interface {
	Engine

	// Now returns the time of the shared clock at some moment of the call. The clock never goes back.
	Now(ctx context.Context) (time.Time, error)

	// Step is how much the clock may be behind: what Now returns is rounded down to steps of this size at most.
	Step() time.Duration
}
