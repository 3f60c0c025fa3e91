//go:build unix

package command

import (
	"context"
	"os"
	"time"
)

// parentEvery is how often a process looks whether its parent is still there.
const parentEvery = 200 * time.Millisecond

// withParent makes a context that ends when the process that started this one ends: another process is the parent then.
func withParent(ctx context.Context) (context.Context, context.CancelFunc, error) {
	ctx, cancel := context.WithCancel(ctx)
	parent := os.Getppid()
	go func() {
		tick := time.NewTicker(parentEvery)
		defer tick.Stop()
		for os.Getppid() == parent {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
		cancel()
	}()
	return ctx, cancel, nil
}
