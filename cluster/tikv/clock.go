package tikv

import (
	"context"
	"fmt"
	"time"

	"github.com/tikv/client-go/v2/oracle"
	"github.com/tikv/client-go/v2/tikv"

	"github.com/cqld/cqld/store/engine"
)

// The clock of a cluster is PD's. A timestamp has milliseconds, which PD moves on once in each update interval, and a
// counter between.

// defaultClockInterval is PD's tso-update-physical-interval where it is not configured.
const defaultClockInterval = 50 * time.Millisecond

// clockMargin is how much longer than its interval PD may take: a millisecond because it rounds down, another one by
// which it lets its time be late, and the rest for its timer.
const clockMargin = 10 * time.Millisecond

// clockBackoff bounds how long PD is asked for the time, in milliseconds. The node of a store asks again.
const clockBackoff = 2000

var _ engine.Clock = (*Engine)(nil)

// Now returns the time of the cluster's timestamps.
func (e *Engine) Now(ctx context.Context) (time.Time, error) {
	if err := e.enter(); err != nil {
		return time.Time{}, err
	}
	defer e.under.Done()
	ts, err := e.cluster.GetTimestampWithRetry(tikv.NewBackofferWithVars(ctx, clockBackoff, nil), oracle.GlobalTxnScope)
	if err != nil {
		return time.Time{}, fmt.Errorf("ask the cluster for the time: %w", err)
	}
	return oracle.GetTimeFromTS(ts), nil
}

// Step is how far the time of the cluster may be behind.
func (e *Engine) Step() time.Duration { return e.options.ClockInterval + clockMargin }
