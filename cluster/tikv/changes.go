package tikv

import (
	"bytes"
	"errors"
	"slices"

	"github.com/cqld/cqld/store/engine"
)

func compareKey(op engine.Op, key []byte) int { return bytes.Compare(op.Key, key) }

// within returns the operations on the keys of a range.
func within(ops []engine.Op, start, end []byte) []engine.Op {
	from, _ := slices.BinarySearchFunc(ops, start, compareKey)
	to := len(ops)
	if len(end) > 0 {
		to, _ = slices.BinarySearchFunc(ops, end, compareKey)
	}
	return ops[from:max(from, to)]
}

// merger merges the writes of a transaction into a scan of the cluster.
type merger struct {
	fold    engine.Fold
	o       engine.ScanOptions
	own     []engine.Op // writes that the scan has not reached
	fn      func(key, value []byte) (bool, error)
	stopped bool // by fn
}

// next returns the next write in the direction of the scan, or nil.
func (m *merger) next() *engine.Op {
	switch {
	case len(m.own) == 0:
		return nil
	case m.o.Reverse:
		return &m.own[len(m.own)-1]
	}
	return &m.own[0]
}

// drop removes the write that next returns.
func (m *merger) drop() {
	if m.o.Reverse {
		m.own = m.own[:len(m.own)-1]
	} else {
		m.own = m.own[1:]
	}
}

// take takes the next key of the cluster.
func (m *merger) take(key, value []byte) (bool, error) {
	for op := m.next(); op != nil; op = m.next() {
		order := bytes.Compare(op.Key, key)
		if m.o.Reverse {
			order = -order
		}
		if order > 0 {
			break
		}
		m.drop()
		if order == 0 {
			return m.both(op, value)
		}
		if goOn, err := m.alone(op); err != nil || !goOn {
			return false, err
		}
	}
	return m.give(key, value)
}

// both calls fn with the result of a write to an existing value.
func (m *merger) both(op *engine.Op, value []byte) (bool, error) {
	if op.Kind != engine.Merge || m.o.KeysOnly {
		return m.alone(op)
	}
	folded, err := m.fold(nil, op.Key, value, op.Value)
	if err != nil {
		return false, err
	}
	return m.give(op.Key, folded)
}

// alone calls fn with the result of a write without an existing value.
func (m *merger) alone(op *engine.Op) (bool, error) {
	if op.Kind == engine.Delete {
		return true, nil
	}
	return m.give(op.Key, op.Value)
}

func (m *merger) give(key, value []byte) (bool, error) {
	if m.o.KeysOnly {
		value = nil
	}
	goOn, err := m.fn(key, value)
	m.stopped = !goOn
	return goOn, err
}

// rest calls fn with the writes after the last key of the cluster.
func (m *merger) rest() error {
	for op := m.next(); op != nil; op = m.next() {
		m.drop()
		if goOn, err := m.alone(op); err != nil || !goOn {
			return err
		}
	}
	return nil
}

// check refuses an operation that breaks the contract or exceeds a limit.
func (e *Engine) check(op *engine.Op) error {
	switch {
	case len(op.Key) == 0:
		return errors.New("tikv: a key is empty")
	case len(op.Value) == 0 && op.Kind != engine.Delete:
		return errors.New("tikv: a value is empty")
	case len(op.Key) > e.options.MaxKey || len(op.Value) > maxValue:
		return engine.ErrTooLarge
	}
	return nil
}

// checkSize refuses too many operations, and too many bytes.
func checkSize(ops []engine.Op) error {
	if sizeOf(ops) > maxCommit || len(ops) > maxOps {
		return engine.ErrTooLarge
	}
	return nil
}

// combine returns one operation for each key, sorted by key, with the combined effect. It does not change ops.
func (e *Engine) combine(ops []engine.Op) (all []engine.Op, err error) {
	if len(ops) == 1 {
		return ops, nil
	}
	all = slices.Clone(ops)
	slices.SortStableFunc(all, func(a, b engine.Op) int { return bytes.Compare(a.Key, b.Key) })
	n := 0
	for _, op := range all {
		if n == 0 || !bytes.Equal(all[n-1].Key, op.Key) {
			all[n] = op
			n++
			continue
		}
		last := &all[n-1]
		switch {
		case op.Kind != engine.Merge:
			*last = op
		case last.Kind == engine.Delete:
			*last = engine.Op{Kind: engine.Put, Key: op.Key, Value: op.Value}
		default:
			if last.Value, err = e.fold(nil, op.Key, last.Value, op.Value); err != nil {
				return nil, err
			}
			if len(last.Value) > maxValue {
				return nil, engine.ErrTooLarge
			}
		}
	}
	return all[:n], nil
}

// sizeOf returns the size of operations in bytes.
func sizeOf(ops []engine.Op) (size int) {
	for i := range ops {
		size += len(ops[i].Key) + len(ops[i].Value)
	}
	return size
}
