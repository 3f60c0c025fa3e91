package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
	"github.com/cqld/cqld/store/engine/tree"
)

// breaking is durability that panics once.
type breaking struct {
	nothing
	onAppend func() // nil: it works
}

func (b *breaking) Append(ops []engine.Op) (bool, error) {
	if f := b.onAppend; f != nil {
		b.onAppend = nil
		f()
	}
	return b.nothing.Append(ops)
}

// empty is a base without keys. A scan of keys with a prefix panics.
type empty struct{ prefix string }

func (empty) Get([]byte, func([]byte) error) (bool, error) { return false, nil }

func (b empty) Scan(start, _ []byte, _ engine.ScanOptions, _ func(key, value []byte) (bool, error)) error {
	if b.prefix != "" && strings.HasPrefix(string(start), b.prefix) {
		panic("planted")
	}
	return nil
}

func (empty) Release() {}

// TestCommitPanics panics inside the critical section of a commit, at several places: nothing of the commit is read,
// nothing is acknowledged any more, and Close returns. The engine may have to stop reading too, but it says so.
func TestCommitPanics(t *testing.T) {
	many := func(last engine.Op) (ops []engine.Op) {
		for i := range 40 { // several leaves
			ops = append(ops, put(fmt.Sprintf("key %02d", i), "half"), remove(fmt.Sprintf("old %02d", i)))
		}
		return append(ops, last)
	}
	for _, test := range []struct {
		name  string
		base  empty
		plant func(e *Engine, b *breaking)
		ops   []engine.Op
		torn  bool
	}{
		{
			name: "before the last operation", base: empty{"pani"},
			ops: many(engine.Op{Kind: engine.Merge, Key: []byte("panic"), Value: []byte("1")}),
		},
		{
			name: "while it is made durable", plant: func(_ *Engine, b *breaking) { b.onAppend = func() { panic("planted") } },
			ops: many(put("last", "1")),
		},
		{
			name: "and the tree is lost", torn: true, ops: []engine.Op{put("last", "1")},
			plant: func(e *Engine, b *breaking) {
				b.onAppend = func() {
					e.Memtable.tree = tree.Tree{}
					panic("planted")
				}
			},
		},
	} {
		for _, readers := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, readers %v", test.name, readers), func(t *testing.T) {
				b, e := new(breaking), new(Engine)
				e.filter = newFilter(1 << 20)
				e.init(engine.Fold(enginetest.Union).Recovering(), b, tree.New(), &Layers{Base: test.base})
				for i := range 40 {
					commit(t, e, put(fmt.Sprintf("old %02d", i), "kept"))
				}
				before := dump(t, e)
				if test.plant != nil {
					test.plant(e, b)
				}
				try := func() error {
					outcome := make(chan error, 2)
					e.Commit(test.ops, func(err error) { outcome <- err })
					return <-outcome
				}
				var err error
				if readers {
					if viewed := e.View(func(r engine.Reader) error { // the commit copies the nodes that it changes
						err = try()
						expect(t, "the view", r, before)
						return nil
					}); viewed != nil {
						t.Error(viewed)
					}
				} else {
					err = try()
				}
				if !errors.Is(err, engine.ErrUnknown) || !panics.Is(err) {
					t.Errorf("the commit says %v", err)
				}
				if err := e.Refusing(); !errors.Is(err, engine.ErrRefused) || !panics.Is(err) {
					t.Errorf("the engine is refusing for %v", err)
				}
				if err := try(); !errors.Is(err, engine.ErrRefused) {
					t.Errorf("a later commit says %v", err)
				}
				err = engine.Update(context.Background(), e, []byte("g"), func(txn engine.Txn) error {
					txn.Put([]byte("late"), []byte("1"))
					return nil
				})
				if err == nil || !panics.Is(err) {
					t.Errorf("a later update says %v", err)
				}
				if test.torn {
					if _, err := e.Get([]byte("old 01"), func([]byte) error { return nil }); !panics.Is(err) {
						t.Errorf("a read says %v", err)
					}
				} else if after := dump(t, e); after != before {
					t.Errorf("the engine has %s, and had %s", after, before)
				}
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
