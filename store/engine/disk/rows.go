package disk

import (
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/tree"
)

// kind is what a row of a tree says of its key. It is the first byte of the row's value.
type kind byte

const (
	holds   kind = iota // the key holds the rest of the value
	deleted             // the key holds nothing
	merged              // the rest of the value is folded into what the key holds below the tree
	fresh               // the key holds the rest of the value, and nothing below the tree
)

// isHeld reports whether a key of that kind holds a value, whatever is below the tree.
func (k kind) isHeld() bool { return k == holds || k == fresh }

// newRow makes a row.
func newRow(k kind, key, value []byte) tree.Row {
	r, room := tree.MakeRow(key, 1+len(value))
	room[0] = byte(k)
	copy(room[1:], value)
	return r
}

// rowOf is the row of an operation: what was made of it before, or a new one.
func rowOf(k kind, op *engine.Op, made tree.Row) tree.Row {
	if made.None() {
		return newRow(k, op.Key, op.Value)
	}
	made.Value()[0] = byte(k)
	return made
}

// kindOf is the kind of a row.
func kindOf(r tree.Row) kind {
	if l := r.Long(); l != nil {
		r = l.Base
	}
	return kind(r.Value()[0])
}

// content is the kind of a row and its value, with its tail folded in.
func content(r tree.Row, fold engine.Fold) (kind, []byte, error) {
	l := r.Long()
	if l == nil {
		v := r.Value()
		return kind(v[0]), v[1:], nil
	}
	base := l.Base.Value()
	value, err := fold(nil, l.Base.Key(), base[1:], l.Tail.Value())
	return kind(base[0]), value, err
}

// rowOverhead is what a row takes in a tree besides its key and value, about.
const rowOverhead = 48

// sizeOf is how much memory a row takes, about.
func sizeOf(r tree.Row) int64 {
	if r.None() {
		return 0
	}
	size := rowOverhead + len(r.Key())
	if l := r.Long(); l != nil {
		return int64(size + rowOverhead + len(l.Base.Value()) + len(l.Tail.Value()) + len(l.Tail.Key()))
	}
	return int64(size + len(r.Value()))
}

// longValue is from how many bytes on a value gets a tail when something short is merged into it: a list that grows
// by one element at a time would be written anew each time.
const longValue = 16 << 10

// tailOf is how long the tail of a value may be before it is folded in.
func tailOf(value []byte) int { return max(2<<10, len(value)/32) }

// mergeInto folds a delta into a row of the memtable that holds something.
func (m *memtable) mergeInto(old tree.Row, key, delta []byte, fold engine.Fold) (tree.Row, error) {
	base := old
	if l := old.Long(); l != nil {
		var err error
		base = l.Base
		if delta, err = fold(nil, key, l.Tail.Value(), delta); err != nil {
			return tree.Row{}, err
		}
	}
	value := base.Value()
	k, value := kind(value[0]), value[1:]
	if k == deleted {
		return newRow(holds, key, delta), nil
	}
	if len(value) >= longValue && len(delta) <= tailOf(value) && len(value)+len(delta) <= maxCommit {
		return tree.NewLongRow(base, tree.NewRow(key, delta)), nil
	}
	value, err := m.folded.Fold(fold, key, value, delta)
	if err == nil && len(value) > maxCommit {
		err = engine.ErrTooLarge
	}
	if err != nil {
		return tree.Row{}, err
	}
	return newRow(k, key, value), nil
}
