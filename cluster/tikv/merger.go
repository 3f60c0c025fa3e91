package tikv

import (
	"bytes"
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

// merger gives a scan what a transaction has written between what is in the cluster.
type merger struct {
	fold    engine.Fold
	o       engine.ScanOptions
	own     []engine.Op // that the scan has not come to
	fn      func(key, value []byte) (bool, error)
	stopped bool // fn wants no more
}

// next returns the operation that comes next in the direction of the scan, or nil.
func (m *merger) next() *engine.Op {
	switch {
	case len(m.own) == 0:
		return nil
	case m.o.Reverse:
		return &m.own[len(m.own)-1]
	}
	return &m.own[0]
}

// drop forgets the operation that next returns.
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

// both gives what an operation makes of a value.
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

// alone gives what an operation makes of nothing.
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

// rest gives what was written behind the last key of the cluster.
func (m *merger) rest() error {
	for op := m.next(); op != nil; op = m.next() {
		m.drop()
		if goOn, err := m.alone(op); err != nil || !goOn {
			return err
		}
	}
	return nil
}
