package tikv

import (
	"context"
	"slices"
	"sync"
)

// guards are locks in this process for the guards of updates. Updates of one process with the same guard wait for each
// other here, without asking the cluster again and again. Whoever has the lock of its only guard runs others that wait
// for it too (group.go).
type guards struct {
	mu   sync.Mutex
	held map[string]*guard
}

// guard is the lock of one guard.
type guard struct {
	turn    chan struct{} // has an element while it is locked
	users   int           // who have it or wait for it
	waiting []*update     // which somebody else who has the lock may run
}

func newGuards() guards { return guards{held: map[string]*guard{}} }

// use notes that somebody is about to wait for a guard. u may be run by somebody else meanwhile; nil: there is none.
func (g *guards) use(name string, u *update) *guard {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.held[name]
	if l == nil {
		l = &guard{turn: make(chan struct{}, 1)}
		g.held[name] = l
	}
	l.users++
	if u != nil {
		l.waiting = append(l.waiting, u)
	}
	return l
}

// leave ends what use began.
func (g *guards) leave(name string, l *guard) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(g.held, name)
	}
}

// withdraw takes an update from those that wait. It reports false if somebody runs it.
func (g *guards) withdraw(l *guard, u *update) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(l.waiting, u)
	if i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	return i >= 0
}

// takeWaiting takes some of the updates that wait, the first ones.
func (g *guards) takeWaiting(l *guard, most int) []*update {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(len(l.waiting), most)
	taken := slices.Clone(l.waiting[:n])
	l.waiting = slices.Delete(l.waiting, 0, n)
	return taken
}

// giveBack lets updates wait again that were taken, before all others.
func (g *guards) giveBack(l *guard, all []*update) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l.waiting = slices.Insert(l.waiting, 0, all...)
}

// lock waits for a guard, and returns the function that frees it.
func (g *guards) lock(ctx context.Context, name string) (unlock func(), err error) {
	l := g.use(name, nil)
	if err := ctx.Err(); err != nil {
		g.leave(name, l)
		return nil, err
	}
	select {
	case l.turn <- struct{}{}:
		return func() {
			<-l.turn
			g.leave(name, l)
		}, nil
	case <-ctx.Done():
		g.leave(name, l)
		return nil, ctx.Err()
	}
}
