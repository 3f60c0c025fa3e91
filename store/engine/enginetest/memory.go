package enginetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine"
)

// Memory is the simplest engine: a sorted map in memory. It shows that the suite does not depend on Badger.
//
// A hostile one uses all the freedom of the contract: it folds deltas when they are read and in changing order, runs
// the function of an Update twice and lets others commit meanwhile, reports conflicts, commits in any order, calls
// done before Commit returns or much later, and overwrites the arguments of callbacks when these have returned.
type Memory struct {
	fold    engine.Fold
	hostile bool
	turn    atomic.Uint64 // the state of the random numbers that decide when it is hostile
	under   sync.WaitGroup

	mu     sync.Mutex
	data   *tree
	guards map[string]*sync.Mutex
	closed bool
}

var _ engine.Engine = (*Memory)(nil)

// NewMemory opens an empty engine.
func NewMemory(fold engine.Fold, hostile bool) *Memory {
	return &Memory{fold: fold.Recovering(), hostile: hostile, guards: map[string]*sync.Mutex{}}
}

// Reopen opens an engine with the data of a closed one.
func (m *Memory) Reopen(fold engine.Fold) *Memory {
	n := NewMemory(fold, m.hostile)
	n.data = m.data
	return n
}

// now reports, for a hostile engine, true about once in n times.
func (m *Memory) now(n uint64) bool {
	if !m.hostile {
		return false
	}
	x := m.turn.Add(1) * 0x9E3779B97F4A7C15
	return (x>>32)%n == 0
}

// enter counts a request in, which then has to leave.
func (m *Memory) enter() (*tree, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, engine.ErrClosed
	}
	m.under.Add(1)
	return m.data, nil
}

// View runs fn on the tree as it is.
func (m *Memory) View(fn func(engine.Reader) error) error {
	data, err := m.enter()
	if err != nil {
		return err
	}
	defer m.under.Done()
	return fn(&view{engine: m, data: data})
}

// Get reads a key.
func (m *Memory) Get(key []byte, fn func([]byte) error) (found bool, err error) {
	err = m.View(func(r engine.Reader) error {
		found, err = r.Get(key, fn)
		return err
	})
	return found, err
}

// Scan reads a range.
func (m *Memory) Scan(start, end []byte, o engine.ScanOptions, fn func(k, v []byte) (bool, error)) error {
	return m.View(func(r engine.Reader) error { return r.Scan(start, end, o, fn) })
}

// Commit applies ops at once, or a hostile engine later.
func (m *Memory) Commit(ops []engine.Op, done func(error)) {
	if _, err := m.enter(); err != nil {
		done(err)
		return
	}
	commit := func(wait bool) {
		defer m.under.Done()
		if wait {
			time.Sleep(time.Millisecond)
		}
		done(m.apply(ops, nil))
	}
	if !m.now(2) {
		commit(false)
		return
	}
	go commit(m.now(64))
}

// apply makes the changes, unless one of the keys that they replace has changed since the tree base.
func (m *Memory) apply(ops []engine.Op, base *view) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := &view{engine: m, data: m.data}
	size, longest := 0, 0
	for _, op := range ops {
		if err := check(op); err != nil {
			return err
		}
		if base != nil && op.Kind != engine.Merge && base.data.find(op.Key) != m.data.find(op.Key) {
			return engine.ErrConflict
		}
		if err := next.write(op); err != nil {
			return err
		}
		size += len(op.Key) + len(op.Value)
		longest = max(longest, len(op.Value))
	}
	if l := m.Limits(); size > l.CommitBytes || len(ops) > l.CommitOps || longest > l.Value {
		return engine.ErrTooLarge
	}
	m.data = next.data
	return nil
}

var errChanged = errors.New("the caller has changed an argument")

// check refuses operations that break the contract or a limit.
func check(op engine.Op) error {
	switch {
	case len(op.Key) == 0:
		return errors.New("a key is empty")
	case len(op.Value) == 0 && op.Kind != engine.Delete:
		return errors.New("a value is empty")
	case len(op.Key) > maxKey || len(op.Value) > maxValue:
		return engine.ErrTooLarge
	}
	return nil
}

// Limits of the engine.
const (
	maxKey   = 4096
	maxValue = 1 << 20
)

// Refusing is nil: it takes all commits.
func (*Memory) Refusing() error { return nil }

// Limits returns the limits of a commit.
func (*Memory) Limits() engine.Limits {
	return engine.Limits{Key: maxKey, Value: maxValue, CommitBytes: maxValue, CommitOps: 10000}
}

// Update runs fn and applies its writes to the last tree.
func (m *Memory) Update(ctx context.Context, guards [][]byte, fn func(engine.Txn) error, done func(error)) {
	if _, err := m.enter(); err != nil {
		done(err)
		return
	}
	defer m.under.Done()
	done(m.update(ctx, guards, fn))
}

// lock locks guards in their order. unlock unlocks them.
func (m *Memory) lock(guards [][]byte) (unlock func(), named string) {
	names := make([]string, 0, len(guards))
	for _, guard := range guards {
		names = append(names, string(guard))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	locks := make([]*sync.Mutex, 0, len(names))
	for _, name := range names {
		m.mu.Lock()
		lock := m.guards[name]
		if lock == nil {
			lock = new(sync.Mutex)
			m.guards[name] = lock
		}
		m.mu.Unlock()
		lock.Lock()
		locks = append(locks, lock)
	}
	return func() {
		for _, lock := range locks {
			lock.Unlock()
		}
	}, string(bytes.Join(guards, nil))
}

func (m *Memory) update(ctx context.Context, guards [][]byte, fn func(engine.Txn) error) (err error) {
	defer panics.Into(&err)
	unlock, named := m.lock(guards)
	defer unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if m.now(2) {
		x := m.begin()
		_ = fn(x) // the result does not count
	}
	x := m.begin()
	if err := errors.Join(fn(x), x.err); err != nil {
		return err
	}
	if string(bytes.Join(guards, nil)) != named {
		return errChanged
	}
	if m.now(4) {
		return fmt.Errorf("for no reason: %w", engine.ErrConflict)
	}
	return m.apply(x.ops, x.base)
}

// DeleteRange removes keys a few at a time.
func (m *Memory) DeleteRange(start, end []byte) error {
	for {
		data, err := m.enter()
		if err != nil {
			return err
		}
		var ops []engine.Op
		data.each(start, end, false, func(t *tree) bool {
			ops = append(ops, engine.Op{Kind: engine.Delete, Key: t.key})
			return len(ops) < 100
		})
		err = m.apply(ops, nil)
		m.under.Done()
		if err != nil || len(ops) == 0 {
			return err
		}
		start = append(bytes.Clone(ops[len(ops)-1].Key), 0)
	}
}

// Close waits for all operations under way.
func (m *Memory) Close() error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return engine.ErrClosed
	}
	m.closed = true
	m.mu.Unlock()
	m.under.Wait()
	return nil
}

// Seed makes the further behaviour of a hostile engine depend on n alone, while one goroutine uses it.
func (m *Memory) Seed(n uint64) { m.turn.Store(n << 20) }

// Sync has nothing to do: there is no disk.
func (m *Memory) Sync() error { return m.View(func(engine.Reader) error { return nil }) }
