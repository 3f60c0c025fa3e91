package disk

import (
	"sync"

	"github.com/cqld/cqld/store/engine/keys"
	"github.com/cqld/cqld/store/engine/tree"
)

// getting gets several keys.
type getting struct {
	rows  [keys.AtOnce]tree.Row // of a tree
	upper [keys.AtOnce]bool     // whether a tree has the key

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
func (v *view) GetMany(all [][]byte, fn func(i int, value []byte) (bool, error)) error {
	g := gettings.Get().(*getting)
	defer func() {
		g.fn = nil
		gettings.Put(g)
	}()
	g.fn, g.number, g.more = fn, 0, true
	for g.more && g.number < len(all) {
		if err := g.some(v, all[g.number:min(g.number+keys.AtOnce, len(all))]); err != nil {
			return err
		}
	}
	return nil
}

// some gets some of the keys.
func (g *getting) some(v *view, some [][]byte) error {
	g.inTrees(v, some)
	for i := 0; i < len(some) && g.more; i++ {
		var found bool
		var err error
		if g.upper[i] {
			found, err = v.Get(some[i], g.call)
		} else {
			found, err = v.layers.base.Get(some[i], g.call)
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
func (g *getting) inTrees(v *view, some [][]byte) {
	look := func(t *tree.Tree, first bool) {
		t.GetSeveral(some, &g.rows)
		for i := range some {
			g.upper[i] = !g.rows[i].None() || !first && g.upper[i]
			g.rows[i] = tree.Row{}
		}
	}
	look(&v.tree, true)
	for _, m := range v.layers.frozen {
		look(&m.tree, false)
	}
	for i := range some {
		g.upper[i] = g.upper[i] || v.lacks != nil // Get asks lacks
	}
}
