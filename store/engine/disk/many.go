package disk

import (
	"sync"

	"github.com/cqld/cqld/store/engine/badger"
	"github.com/cqld/cqld/store/engine/tree"
)

// atOnce is how many keys are looked for at the same time.
const atOnce = min(tree.AtOnce, badger.AtOnce)

// getting gets several keys.
type getting struct {
	rows  [tree.AtOnce]tree.Row // of a tree
	upper [atOnce]bool          // whether a tree has the key
	below [][]byte              // keys that no tree has

	number int // of the key that fn is called for
	fn     func(i int, value []byte) (bool, error)
	more   bool
	call   func(value []byte) error // calls fn
}

var gettings = sync.Pool{New: func() any {
	g := new(getting)
	g.call = func(value []byte) (err error) {
		g.more, err = g.fn(g.number, value)
		return err
	}
	return g
}}

// GetMany reads keys.
func (v *view) GetMany(keys [][]byte, fn func(i int, value []byte) (bool, error)) error {
	g := gettings.Get().(*getting)
	defer func() {
		g.fn = nil
		gettings.Put(g)
	}()
	g.fn, g.number, g.more = fn, 0, true
	for g.more && g.number < len(keys) {
		if err := g.some(v, keys[g.number:min(g.number+atOnce, len(keys))]); err != nil {
			return err
		}
	}
	return nil
}

// some gets some of the keys.
func (g *getting) some(v *view, keys [][]byte) error {
	g.inTrees(v, keys)
	below := v.layers.base.Several(g.below)
	defer below.Close()
	next := 0
	for i := 0; i < len(keys) && g.more; i++ {
		var found bool
		var err error
		if g.upper[i] {
			found, err = v.Get(keys[i], g.call)
		} else {
			found, err = below.Get(next, g.call)
			next++
		}
		if !found && err == nil {
			g.more, err = g.fn(g.number, nil)
		}
		if err != nil {
			return err
		}
		g.number++
	}
	return nil
}

// inTrees finds out which keys are in trees.
func (g *getting) inTrees(v *view, keys [][]byte) {
	look := func(t *tree.Tree, first bool) {
		t.GetSeveral(keys, &g.rows)
		for i := range keys {
			g.upper[i] = !g.rows[i].None() || !first && g.upper[i]
			g.rows[i] = tree.Row{}
		}
	}
	look(&v.tree, true)
	for _, m := range v.layers.frozen {
		look(&m.tree, false)
	}
	g.below = g.below[:0]
	for i, key := range keys {
		if g.upper[i] = g.upper[i] || v.lacks != nil; !g.upper[i] { // Get asks lacks
			g.below = append(g.below, key)
		}
	}
}
