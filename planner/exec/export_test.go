package exec

import (
	"context"
	"testing"
	"time"

	"github.com/cqld/cqld/store/pace"
)

// SetMaxHeld changes what a read may hold until the test ends.
func SetMaxHeld(t testing.TB, n int) {
	before := maxHeld
	maxHeld = n
	t.Cleanup(func() { maxHeld = before })
}

// SetLongestWork changes how long the values of a definition may take until the test ends.
func SetLongestWork(t testing.TB, d time.Duration) {
	before := longestWork
	longestWork = d
	t.Cleanup(func() { longestWork = before })
}

// FunctionMemory is Env.Hold of an execution on a turn, which may be nil.
func (e *Executor) FunctionMemory(ctx context.Context, turn *pace.Turn) func(n int64) error {
	return e.env(ctx, turn, nil).Hold
}
