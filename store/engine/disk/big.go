package disk

import (
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/disk/commitlog"
	"github.com/cqld/cqld/store/engine/tree"
)

// bigCommit is from how many bytes on commits come one at a time: a small one then waits for the lock behind one of
// them at most, and not behind all.
const bigCommit = 256 << 10

// How many bytes a value has whose row is made before the lock is taken, and a delta with which it is looked whether
// the value below the tree becomes too long.
const (
	longRow   = 64 << 10
	longDelta = 256 << 10
)

// big is what is made of a big commit before the lock of writers is taken: copying its values takes milliseconds, in
// which others would have to wait. nil: the commit is not big.
type big struct {
	record *commitlog.Record
	rows   []madeRow // of its operations
	layers *layers   // that deltas were folded into, to see how long they become
}

// madeRow is a row that was made before it was applied.
type madeRow struct {
	row  tree.Row // none: it is made when it is applied
	fits bool     // the layers' value does not become too long with it
}

// prepare makes what can be made of a big commit without the lock. Whether the commit is refused is found out under it.
func (e *Engine) prepare(ops []engine.Op) *big {
	b := &big{record: commitlog.Encode(ops), rows: make([]madeRow, len(ops))}
	p, err := e.enter()
	if err != nil {
		return b
	}
	defer p.Leave()
	b.layers = p.Value.layers
	for i := range ops {
		op, made := &ops[i], &b.rows[i]
		if op.Kind == engine.Delete || len(op.Value) < longRow {
			continue
		}
		made.row = newRow(merged, op.Key, op.Value)
		if op.Kind == engine.Merge && len(op.Value) >= longDelta && p.Value.tree.Get(op.Key).None() {
			made.fits = e.checkFold(b.layers, op.Key, op.Value) == nil
		}
	}
	return b
}

// free gives memory back. b may be nil.
func (b *big) free() {
	if b != nil {
		b.record.Free()
	}
}

// row is the row of an operation if it was made before, or none.
func (b *big) row(i int) tree.Row {
	if b == nil {
		return tree.Row{}
	}
	return b.rows[i].row
}

// fits reports whether it is known that the value of a row in the tree, folded into that in layers, is not too long.
func (b *big) fits(i int, r tree.Row, l *layers) bool {
	return b != nil && b.rows[i].fits && b.rows[i].row == r && b.layers == l
}

// checkGrowth refuses merges that make a value below the tree too long.
func (e *Engine) checkGrowth(ops []engine.Op, b *big) error {
	for i := range ops {
		key := ops[i].Key
		if ops[i].Kind != engine.Merge || len(ops[i].Value) < longDelta && !e.large.has(key) {
			continue
		}
		r := e.memtable.tree.Get(key)
		if r.None() || kindOf(r) != merged || b.fits(i, r, e.layers) {
			continue
		}
		_, delta, err := content(r, e.fold)
		if err == nil {
			err = e.checkFold(e.layers, key, delta)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkFold refuses a delta that makes the value that a key has in layers too long.
func (e *Engine) checkFold(l *layers, key, delta []byte) error {
	below := view{tree: tree.New(), layers: l, fold: e.fold}
	_, err := below.Get(key, func(value []byte) (err error) {
		if value, err = e.fold(nil, key, value, delta); err == nil && len(value) > maxCommit {
			err = engine.ErrTooLarge
		}
		return err
	})
	return err
}
