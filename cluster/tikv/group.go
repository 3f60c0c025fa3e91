package tikv

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine"
)

// Updates of one process that wait for the same guard share a transaction: one of them has the lock of the guard and
// runs all, in the order of their arrival. So contended guards cost round trips per group and not per update.
const (
	maxGroup     = 64                    // updates
	maxGroupTime = 10 * time.Millisecond // for their functions; later updates wait for the next group
)

// update is one call of Update.
type update struct {
	ctx     context.Context // limits the wait for fn to run
	fn      func(engine.Txn) error
	err     error      // of the last run of fn
	outcome chan error // of a leader that runs it
}

// updateGroup is a group of updates in one transaction. The caller of the first one leads.
type updateGroup struct {
	guards  *guards
	guard   *guard // shared by all; nil for a single update with several guards
	updates []*update
}

// collect adds waiting updates and clears errors of an earlier run.
func (g *updateGroup) collect() {
	if g.guard != nil {
		g.updates = append(g.updates, g.guards.takeWaiting(g.guard, maxGroup-len(g.updates))...)
	}
	for _, u := range g.updates {
		u.err = nil
	}
}

// leaveFrom returns the updates from index n on to the queue.
func (g *updateGroup) leaveFrom(n int) {
	if n < len(g.updates) {
		g.guards.giveBack(g.guard, g.updates[n:])
		g.updates = g.updates[:n]
	}
}

// updateGrouped runs an update with one guard: as leader of a group, or in the group of another leader.
func (e *Engine) updateGrouped(guard []byte, u *update) error {
	name := string(guard)
	l := e.guards.use(name, u)
	defer e.guards.leave(name, l)
	if u.ctx.Err() == nil {
		select {
		case l.turn <- struct{}{}:
			defer func() { <-l.turn }()
			if e.guards.withdraw(l, u) {
				return e.lead(&updateGroup{guards: &e.guards, guard: l, updates: []*update{u}}, [][]byte{e.guardKey(guard)})
			}
		case <-u.ctx.Done():
		case err := <-u.outcome:
			return err
		}
	}
	if e.guards.withdraw(l, u) {
		return u.ctx.Err()
	}
	return <-u.outcome
}

// lead runs a group. It sends the outcomes to the followers and returns the outcome of the first update.
func (e *Engine) lead(g *updateGroup, guards [][]byte) error {
	err := panics.Call(func() error { return e.repeatUpdate(g, guards) })
	for _, u := range g.updates[1:] {
		u.outcome <- cmp.Or(u.err, err)
	}
	return cmp.Or(g.updates[0].err, err)
}

// runFunctions runs the functions of a group in a transaction. It drops the writes of functions that fail.
func (g *updateGroup) runFunctions(x *txn) {
	began := time.Now()
	for i, u := range g.updates {
		if i > 0 && time.Since(began) > maxGroupTime {
			g.leaveFrom(i)
			return
		}
		before := len(x.Ops)
		if u.err = u.ctx.Err(); u.err == nil {
			u.err = errors.Join(panics.Call(func() error { return u.fn(x) }), x.Err)
		}
		if u.err == nil {
			u.err = checkSize(x.Ops)
		}
		if u.err == nil {
			continue
		}
		x.truncate(before)
		if i > 0 && errors.Is(u.err, engine.ErrTooLarge) { // perhaps because of the other updates
			g.leaveFrom(i)
			return
		}
	}
}

// guards has local locks for the guards of updates. Updates of one process with the same guard wait here instead of
// asking the cluster again and again.
type guards struct {
	mu   sync.Mutex
	held map[string]*guard
}

// guard is the local lock of a guard.
type guard struct {
	turn    chan struct{} // has an element while it is locked
	users   int           // holders and waiters
	waiting []*update     // to be run by a leader
}

func newGuards() guards { return guards{held: map[string]*guard{}} }

// use begins to wait for a guard. A leader may run u meanwhile; u may be nil.
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

// leave ends use.
func (g *guards) leave(name string, l *guard) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(g.held, name)
	}
}

// withdraw takes an update out of the queue. It reports false if a leader runs it.
func (g *guards) withdraw(l *guard, u *update) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(l.waiting, u)
	if i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	return i >= 0
}

// takeWaiting takes up to limit updates from the front of the queue.
func (g *guards) takeWaiting(l *guard, limit int) []*update {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(len(l.waiting), limit)
	taken := slices.Clone(l.waiting[:n])
	l.waiting = slices.Delete(l.waiting, 0, n)
	return taken
}

// giveBack returns updates to the front of the queue.
func (g *guards) giveBack(l *guard, all []*update) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l.waiting = slices.Insert(l.waiting, 0, all...)
}

// lock waits for a guard and returns the function that unlocks it.
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
