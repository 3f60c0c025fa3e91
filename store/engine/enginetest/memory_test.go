package enginetest

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/cqld/cqld/store/engine"
)

// memory is the plainest engine: a map that every commit copies. It shows that the suite asks for nothing
// that only Badger has.
type memory struct {
	fold    engine.Fold
	writing sync.Mutex
	mu      sync.Mutex
	reads   sync.WaitGroup
	data    snapshot
	closed  bool
}

type snapshot map[string][]byte

func TestMemory(t *testing.T) {
	Run(t, Harness{Open: func(_ *testing.T, fold engine.Fold) engine.Engine { return &memory{fold: fold, data: snapshot{}} }})
}

func (s snapshot) Get(key []byte, fn func([]byte) error) (bool, error) {
	v, ok := s[string(key)]
	if !ok {
		return false, nil
	}
	return true, fn(v)
}

func (s snapshot) Scan(start, end []byte, o engine.ScanOptions, fn func(k, v []byte) (bool, error)) error {
	keys := slices.Sorted(maps.Keys(s))
	if o.Reverse {
		slices.Reverse(keys)
	}
	for _, k := range keys {
		if k < string(start) || len(end) > 0 && k >= string(end) {
			continue
		}
		v := s[k]
		if o.KeysOnly {
			v = nil
		}
		if more, err := fn([]byte(k), v); err != nil || !more {
			return err
		}
	}
	return nil
}

func (m *memory) View(fn func(engine.Reader) error) error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return engine.ErrClosed
	}
	data := m.data
	m.reads.Add(1)
	m.mu.Unlock()
	defer m.reads.Done()
	return fn(data)
}

func (m *memory) Get(key []byte, fn func([]byte) error) (found bool, err error) {
	err = m.View(func(r engine.Reader) error {
		found, err = r.Get(key, fn)
		return err
	})
	return found, err
}

func (m *memory) Scan(start, end []byte, o engine.ScanOptions, fn func(k, v []byte) (bool, error)) error {
	return m.View(func(r engine.Reader) error { return r.Scan(start, end, o, fn) })
}

// memoryTxn writes to a copy of the map.
type memoryTxn struct {
	snapshot
	fold engine.Fold
	size int
	err  error
}

func (x *memoryTxn) write(key, value []byte) {
	if len(key) == 0 || len(value) == 0 {
		x.err = errors.New("empty key or value")
	}
	if len(key) > 4096 {
		x.err = engine.ErrTooLarge
	}
	x.size += len(key) + len(value)
	x.snapshot[string(key)] = bytes.Clone(value)
}

func (x *memoryTxn) Put(key, value []byte) { x.write(key, value) }
func (x *memoryTxn) Delete(key []byte)     { delete(x.snapshot, string(key)) }
func (x *memoryTxn) Merge(key, delta []byte) {
	if len(delta) == 0 {
		x.err = errors.New("empty delta")
		return
	}
	x.write(key, x.fold(key, x.snapshot[string(key)], delta))
}

func (m *memory) Update(ctx context.Context, _ []byte, fn func(engine.Txn) error) error {
	m.writing.Lock()
	defer m.writing.Unlock()
	return m.View(func(engine.Reader) error {
		x := &memoryTxn{snapshot: maps.Clone(m.data), fold: m.fold}
		if err := errors.Join(ctx.Err(), fn(x)); err != nil {
			return err
		}
		if x.err == nil && x.size > m.Limits().CommitBytes {
			x.err = engine.ErrTooLarge
		}
		if x.err != nil {
			return x.err
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.data = x.snapshot
		return nil
	})
}

func (m *memory) Commit(ops []engine.Op, done func(error)) {
	if len(ops) > m.Limits().CommitOps {
		done(engine.ErrTooLarge)
		return
	}
	done(m.Update(context.Background(), nil, func(x engine.Txn) error {
		for _, op := range ops {
			switch op.Kind {
			case engine.Put:
				x.Put(op.Key, op.Value)
			case engine.Delete:
				x.Delete(op.Key)
			case engine.Merge:
				x.Merge(op.Key, op.Value)
			}
		}
		return nil
	}))
}

func (m *memory) DeleteRange(start, end []byte) error {
	return m.Update(context.Background(), nil, func(x engine.Txn) error {
		for k := range m.data {
			if k >= string(start) && k < string(end) {
				x.Delete([]byte(k))
			}
		}
		return nil
	})
}

func (*memory) Limits() engine.Limits {
	return engine.Limits{Key: 4096, Value: 1 << 20, CommitBytes: 1 << 20, CommitOps: 10000}
}

func (m *memory) Close() error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return engine.ErrClosed
	}
	m.closed = true
	m.mu.Unlock()
	m.reads.Wait()
	return nil
}

// Sync has nothing to do: there is no disk.
func (m *memory) Sync() error { return m.View(func(engine.Reader) error { return nil }) }
