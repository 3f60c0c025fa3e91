package tikv

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// Updates of one process that wait for the same guard are run together: one of them has the lock of the guard, and its
// transaction has the writes of all, in the order in which they came. So a guard that many wait for costs the round
// trips of one update for each group, and not for each update.

// The bounds of a group: how many updates it has, and how long their functions may take before the others are left to
// the next group.
const (
	maxGroup  = 64
	groupTime = 10 * time.Millisecond
)

// update is one call of Update.
type update struct {
	ctx     context.Context // ends the waiting for fn to run
	fn      func(engine.Txn) error
	err     error      // of fn, when it was run last
	outcome chan error // is given the outcome by whoever runs it
}

// updateGroup are updates that are run together.
type updateGroup struct {
	guards  *guards
	guard   *guard    // which all of them have; nil: there is one update, with several guards
	updates []*update // the first one's caller runs all
}

// begin adds the updates that wait, and forgets the errors of a run before.
func (g *updateGroup) begin() {
	if g.guard != nil {
		g.updates = append(g.updates, g.guards.takeWaiting(g.guard, maxGroup-len(g.updates))...)
	}
	for _, u := range g.updates {
		u.err = nil
	}
}

// leaveFrom lets the updates from a place on wait again.
func (g *updateGroup) leaveFrom(n int) {
	if n < len(g.updates) {
		g.guards.giveBack(g.guard, g.updates[n:])
		g.updates = g.updates[:n]
	}
}

var errPanicked = errors.New("another update with this guard has panicked")

// updateTogether runs an update with one guard and others that wait for it, unless somebody else runs it.
func (e *Engine) updateTogether(guard []byte, u *update) error {
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

// lead runs a group, gives all but the first update their outcomes, and returns that of the first one.
func (e *Engine) lead(g *updateGroup, guards [][]byte) error {
	err := errPanicked
	defer func() {
		for _, u := range g.updates[1:] {
			u.outcome <- cmp.Or(u.err, err)
		}
	}()
	err = e.repeatUpdate(g, guards)
	return cmp.Or(g.updates[0].err, err)
}

// run runs the functions of a group in a transaction. What the functions that fail have written is taken back.
func (g *updateGroup) run(x *txn) {
	began := time.Now()
	for i, u := range g.updates {
		if i > 0 && time.Since(began) > groupTime {
			g.leaveFrom(i)
			return
		}
		before := len(x.Ops)
		if u.err = u.ctx.Err(); u.err == nil {
			u.err = errors.Join(u.fn(x), x.Err)
		}
		if u.err == nil {
			u.err = checkSize(x.Ops)
		}
		if u.err == nil {
			continue
		}
		x.takeBack(before)
		if i > 0 && errors.Is(u.err, engine.ErrTooLarge) { // it may be the others that are too large for it
			g.leaveFrom(i)
			return
		}
	}
}
