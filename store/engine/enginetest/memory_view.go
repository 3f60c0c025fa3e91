package enginetest

import (
	"bytes"
	"slices"

	"github.com/cqld/cqld/store/engine"
)

// view reads one version of the tree, or writes others on top of it.
type view struct {
	engine *Memory
	data   *tree
}

// lend calls fn with a copy of bytes, which a hostile engine spoils when fn has returned.
func (v *view) lend(b []byte, fn func([]byte) error) error {
	if !v.engine.hostile || b == nil {
		return fn(b)
	}
	lent := bytes.Clone(b)
	defer spoil(lent)
	return fn(lent)
}

func spoil(b []byte) {
	for i := range b {
		b[i] = 0xDB
	}
}

// Get reads a key.
func (v *view) Get(key []byte, fn func([]byte) error) (bool, error) {
	h := v.data.find(key)
	if h == nil {
		return false, nil
	}
	value, err := v.folded(key, h)
	if err != nil {
		return false, err
	}
	return true, v.lend(value, fn)
}

// GetMany reads keys.
func (v *view) GetMany(keys [][]byte, fn func(i int, value []byte) (bool, error)) error {
	return engine.GetEach(v, keys, fn)
}

// Scan reads a range.
func (v *view) Scan(start, end []byte, o engine.ScanOptions, fn func(k, v []byte) (bool, error)) (err error) {
	from, to := bytes.Clone(start), bytes.Clone(end)
	v.data.each(from, to, o.Reverse, func(t *tree) (more bool) {
		var value []byte
		if !o.KeysOnly {
			if value, err = v.folded(t.key, t.value); err != nil {
				return false
			}
		}
		err = v.lend(t.key, func(key []byte) error {
			return v.lend(value, func(value []byte) (err error) {
				more, err = fn(key, value)
				return err
			})
		})
		return more && err == nil
	})
	if err == nil && (!bytes.Equal(start, from) || !bytes.Equal(end, to)) {
		err = errChanged
	}
	return err
}

// folded is the value of a key with its deltas.
func (v *view) folded(key []byte, h *held) (value []byte, err error) {
	deltas := h.deltas
	if len(deltas) > 1 {
		at := int(v.engine.turn.Add(1) % uint64(len(deltas)))
		deltas = append(slices.Clone(deltas[at:]), deltas[:at]...)
		if at%2 == 1 { // fold two into each other first
			if deltas[1], err = v.fold(key, deltas[1], deltas[0]); err != nil {
				return nil, err
			}
			deltas = deltas[1:]
		}
	}
	value = h.value
	for _, d := range deltas {
		if value, err = v.fold(key, value, d); err != nil {
			return nil, err
		}
	}
	return value, nil
}

// fold calls the engine's, with copies.
func (v *view) fold(key, existing, delta []byte) (value []byte, err error) {
	err = v.lend(key, func(key []byte) error {
		return v.lend(existing, func(existing []byte) error {
			return v.lend(delta, func(delta []byte) error {
				value, err = v.engine.fold(nil, key, existing, delta)
				return err
			})
		})
	})
	return value, err
}

// fewDeltas is how many deltas a key has before they are folded.
const fewDeltas = 8

// write puts an operation on top.
func (v *view) write(op engine.Op) (err error) {
	next := &held{value: bytes.Clone(op.Value)}
	switch op.Kind {
	case engine.Delete:
		next = nil
	case engine.Merge:
		old := v.data.find(op.Key)
		if old == nil {
			old = &held{}
		}
		next = &held{value: old.value, deltas: append(slices.Clone(old.deltas), bytes.Clone(op.Value))}
		if !v.engine.hostile || len(next.deltas) > fewDeltas {
			if next.value, err = v.folded(op.Key, next); err != nil {
				return err
			}
			next.deltas = nil
		}
	}
	v.data = v.data.with(op.Key, next)
	return nil
}

// memoryTxn records its writes.
type memoryTxn struct {
	view
	base *view
	ops  []engine.Op
	err  error // the first
}

func (m *Memory) begin() *memoryTxn {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &memoryTxn{view: view{m, m.data}, base: &view{m, m.data}}
}

func (x *memoryTxn) do(kind engine.OpKind, key, value []byte) {
	op := engine.Op{Kind: kind, Key: bytes.Clone(key), Value: bytes.Clone(value)}
	err := check(op)
	if err == nil {
		err = x.write(op)
	}
	if x.err == nil {
		x.err = err
	}
	x.ops = append(x.ops, op)
}

// Put replaces the value of a key.
func (x *memoryTxn) Put(key, value []byte) { x.do(engine.Put, key, value) }

// Delete removes a key.
func (x *memoryTxn) Delete(key []byte) { x.do(engine.Delete, key, nil) }

// Merge folds a delta in.
func (x *memoryTxn) Merge(key, delta []byte) { x.do(engine.Merge, key, delta) }
