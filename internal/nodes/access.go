package nodes

import (
	"context"
	"sync"

	"github.com/cqld/cqld/internal/tso"
	"github.com/cqld/cqld/store/engine"
)

// access is the engine as one node sees it. It is the gate at which nodes are stopped and killed, and it has the clock
// of the cluster.
type access struct {
	engine.Engine
	clock  *tso.Oracle
	mu     sync.Mutex
	change *sync.Cond
	paused bool
	dead   bool

	seen    engine.Timestamp
	stopped int // commits that wait
}

var _ engine.Clock = (*access)(nil)

func newAccess(e engine.Engine, clock *tso.Oracle) *access {
	a := &access{Engine: e, clock: clock}
	a.change = sync.NewCond(&a.mu)
	return a
}

func (a *access) set(paused, dead bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.paused, a.dead = paused && !dead, a.dead || dead
	a.change.Broadcast()
}

func (a *access) pause()  { a.set(true, false) }
func (a *access) resume() { a.set(false, false) }
func (a *access) kill()   { a.set(false, true) }

func (a *access) killed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.dead
}

// pass waits while the node is stopped. It fails if the node was killed.
func (a *access) pass() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.paused {
		a.change.Wait()
	}
	if a.dead {
		return engine.ErrClosed
	}
	return nil
}

// waits counts commits that are about to pass, or have passed.
func (a *access) waits(more int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopped += more
}

// back wraps done so that it waits while the node is stopped, in a new goroutine: the engine does not wait for the
// node.
func (a *access) back(done func(error)) func(error) {
	return func(err error) {
		a.mu.Lock()
		paused := a.paused
		a.mu.Unlock()
		if !paused {
			done(err)
			return
		}
		go func() {
			_ = a.pass() // the engine has done it
			done(err)
		}()
	}
}

// Get reads a key.
func (a *access) Get(key []byte, fn func([]byte) error) (found bool, err error) {
	if err := a.pass(); err != nil {
		return false, err
	}
	found, err = a.Engine.Get(key, fn)
	_ = a.pass()
	return found, err
}

// Scan reads a range.
func (a *access) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	if err := a.pass(); err != nil {
		return err
	}
	return a.Engine.Scan(start, end, o, fn)
}

// View reads a snapshot. The node may be stopped when the snapshot is chosen.
func (a *access) View(fn func(engine.Reader) error) error {
	if err := a.pass(); err != nil {
		return err
	}
	return a.Engine.View(func(r engine.Reader) error {
		_ = a.pass()
		return fn(r)
	})
}

// Commit writes.
func (a *access) Commit(ops []engine.Op, done func(error)) {
	a.waits(1)
	err := a.pass()
	a.waits(-1)
	if err != nil {
		done(err)
		return
	}
	a.Engine.Commit(ops, a.back(done))
}

// Update reads and writes.
func (a *access) Update(ctx context.Context, guards [][]byte, fn func(engine.Txn) error, done func(error)) {
	if err := a.pass(); err != nil {
		done(err)
		return
	}
	a.Engine.Update(ctx, guards, func(txn engine.Txn) error {
		a.next(1) // as a transaction of a cluster begins
		return fn(txn)
	}, a.back(done))
}

// DeleteRange removes a range.
func (a *access) DeleteRange(start, end []byte) error {
	if err := a.pass(); err != nil {
		return err
	}
	return a.Engine.DeleteRange(start, end)
}

// Sync waits for the disk.
func (a *access) Sync() error {
	if err := a.pass(); err != nil {
		return err
	}
	return a.Engine.Sync()
}

// Close ends the node's use of the engine, which others go on to use.
func (a *access) Close() error {
	a.set(false, true)
	return nil
}

// Timestamp takes timestamps of the cluster's clock. A write that is stopped on its way has its timestamp already.
func (a *access) Timestamp(_ context.Context, count int) (engine.Timestamp, error) {
	if a.killed() {
		return engine.Timestamp{}, engine.ErrClosed
	}
	return a.next(count), nil
}

func (a *access) next(count int) engine.Timestamp {
	physical, logical := a.clock.Next(int64(count))
	t := engine.Timestamp{Milliseconds: physical, Count: logical}
	a.mu.Lock()
	defer a.mu.Unlock()
	if t.After(a.seen) {
		a.seen = t
	}
	return t
}

// Seen is the latest timestamp that the node has got.
func (a *access) Seen() engine.Timestamp {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen
}
