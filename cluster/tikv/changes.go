package tikv

import (
	"bytes"
	"errors"
	"slices"

	"github.com/cqld/cqld/store/engine"
)

// check refuses what the contract does not allow or a limit forbids.
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

// united returns one operation for each key, sorted by key, which does what the operations on the key do together. It
// leaves ops as they are.
func (e *Engine) united(ops []engine.Op) (all []engine.Op, err error) {
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
		case last.Kind == engine.Delete: // what is merged into nothing
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

// sizeOf is how many bytes operations have.
func sizeOf(ops []engine.Op) (size int) {
	for i := range ops {
		size += len(ops[i].Key) + len(ops[i].Value)
	}
	return size
}
