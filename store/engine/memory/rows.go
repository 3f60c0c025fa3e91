package memory

import (
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/tree"
)

// kind is the meaning of a memtable's row for its key. It is the first byte of the row's value.
type kind byte

const (
	holds   kind = iota // the key has the rest of the value, whatever the layers below have
	deleted             // a tombstone: the key has no value, whatever the layers below have
	merged              // the rest of the value is a delta, to be folded into the value in the layers below
	fresh               // the key has the rest of the value, and no layer below has the key
)

// newRow makes a row.
func newRow(k kind, key, value []byte) tree.Row {
	r, room := tree.MakeRow(key, 1+len(value))
	room[0] = byte(k)
	copy(room[1:], value)
	return r
}

// kindOf is the kind of a row.
func kindOf(r tree.Row) kind {
	if l := r.Long(); l != nil {
		r = l.Base
	}
	return kind(r.Value()[0])
}

// content is the kind of a row and its value, with the delta of a long row folded in.
func content(r tree.Row, fold engine.Fold) (kind, []byte, error) {
	l := r.Long()
	if l == nil {
		v := r.Value()
		return kind(v[0]), v[1:], nil
	}
	base := l.Base.Value()
	value, err := fold(nil, l.Base.Key(), base[1:], l.Delta.Value())
	return kind(base[0]), value, err
}

// RowOverhead is about how many bytes a row takes in a memtable besides its key and value.
const RowOverhead = 48

// sizeOf is about how many bytes a row takes in a memtable.
func sizeOf(r tree.Row) int64 {
	if r.None() {
		return 0
	}
	size := RowOverhead + len(r.Key())
	if l := r.Long(); l != nil {
		return int64(size + RowOverhead + len(l.Base.Value()) + len(l.Delta.Value()) + len(l.Delta.Key()))
	}
	return int64(size + len(r.Value()))
}

// longValue is from how many bytes on a short delta is kept beside a value and not folded in at once: a list that
// grows by one element at a time would be copied each time.
const longValue = 16 << 10

// maxDelta is how many bytes the delta beside a long value may have.
func maxDelta(value []byte) int { return max(2<<10, len(value)/32) }

// maxFolded is the size of the largest buffer that is kept for the next fold.
const maxFolded = 64 << 10

// mergeInto folds a delta into the row that the memtable has for a key.
func (m *Memtable) mergeInto(old tree.Row, key, delta []byte, fold engine.Fold) (tree.Row, error) {
	base := old
	if l := old.Long(); l != nil {
		var err error
		base = l.Base
		if delta, err = fold(nil, key, l.Delta.Value(), delta); err != nil {
			return tree.Row{}, err
		}
	}
	value := base.Value()
	k, value := kind(value[0]), value[1:]
	if k == deleted {
		return newRow(holds, key, delta), nil
	}
	if len(value) >= longValue && len(delta) <= maxDelta(value) && len(value)+len(delta) <= MaxCommit {
		return tree.NewLongRow(base, tree.NewRow(key, delta)), nil
	}
	value, err := fold(m.folded[:0], key, value, delta)
	if err == nil && len(value) > MaxCommit {
		err = engine.ErrTooLarge
	}
	if err != nil {
		return tree.Row{}, err
	}
	if cap(value) <= maxFolded {
		m.folded = value
	}
	return newRow(k, key, value), nil
}
