package tikv

import (
	"context"
	"sync"
)

// guards are locks in this process for the guards of updates. Updates of one process with the same guard wait for each
// other here, without asking the cluster again and again.
type guards struct {
	mu   sync.Mutex
	held map[string]*guard
}

// guard is the lock of one guard.
type guard struct {
	turn  chan struct{} // has an element while it is locked
	users int           // who have it or wait for it
}

func newGuards() guards { return guards{held: map[string]*guard{}} }

// lock waits for a guard, and returns the function that frees it.
func (g *guards) lock(ctx context.Context, name string) (unlock func(), err error) {
	g.mu.Lock()
	l := g.held[name]
	if l == nil {
		l = &guard{turn: make(chan struct{}, 1)}
		g.held[name] = l
	}
	l.users++
	g.mu.Unlock()
	leave := func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(g.held, name)
		}
	}
	if err := ctx.Err(); err != nil {
		leave()
		return nil, err
	}
	select {
	case l.turn <- struct{}{}:
		return func() {
			<-l.turn
			leave()
		}, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
