package store_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine"
)

// restless is an engine on which something is committed between any two things that are read.
type restless struct {
	engine.Engine
	between atomic.Pointer[func()] // nil: nothing is
	acting  sync.Mutex
}

func (e *restless) Get(key []byte, fn func([]byte) error) (bool, error) {
	defer e.act()
	return e.Engine.Get(key, fn)
}

func (e *restless) Scan(start, end []byte, o engine.ScanOptions, fn func(k, v []byte) (bool, error)) error {
	defer e.act()
	return e.Engine.Scan(start, end, o, fn)
}

func (e *restless) View(fn func(engine.Reader) error) error {
	defer e.act()
	return e.Engine.View(func(r engine.Reader) error { return fn(restlessReader{r, e}) })
}

// act does what is done between reads, unless it is being done.
func (e *restless) act() {
	if between := e.between.Load(); between != nil && e.acting.TryLock() {
		defer e.acting.Unlock()
		(*between)()
	}
}

type restlessReader struct {
	engine.Reader
	engine *restless
}

func (r restlessReader) Get(key []byte, fn func([]byte) error) (bool, error) {
	defer r.engine.act()
	return r.Reader.Get(key, fn)
}

func (r restlessReader) Scan(start, end []byte, o engine.ScanOptions, fn func(k, v []byte) (bool, error)) error {
	defer r.engine.act()
	return r.Reader.Scan(start, end, o, fn)
}

// TestReadsAreOfOneSnapshot replaces a partition between any two things that a read looks at: tombstones, the static
// row, rows. Each time the old partition is deleted and a new one written at once, so all that a read delivers has one
// number, and it delivers a row.
func TestReadsAreOfOneSnapshot(t *testing.T) {
	var e *restless
	s := open(t, "", store.Options{Engine: func(f engine.Fold) (engine.Engine, error) {
		under, err := openEngine("", f)
		e = &restless{Engine: under}
		return e, err
	}})
	defer closeStore(t, s)
	define(t, s, newTable(t, "t", "k int", "c int", "s int static, v int"))
	define(t, s, newTable(t, "p", "k int", "", "v int"))
	wide, plain := s.Catalog().Table("ks", "t"), s.Catalog().Table("ks", "p")
	var last atomic.Int32
	replace := func() {
		n := last.Add(1)
		ts, number := int64(n)*10, types.EncodeInt(n)
		w := store.NewMutation(wide, types.EncodeInt(1))
		w.DeletePartition(ts)
		w.Static()
		w.Set(wide.Static[0], number, ts+1, store.Expiry{})
		for c := range int32(3) {
			w.Row([][]byte{types.EncodeInt(c)})
			w.Mark(ts+1, store.Expiry{})
			w.Set(wide.Regular[0], number, ts+1, store.Expiry{})
		}
		p := store.NewMutation(plain, types.EncodeInt(1))
		p.DeletePartition(ts)
		p.Row(nil)
		p.Mark(ts+1, store.Expiry{})
		p.Set(plain.Regular[0], number, ts+1, store.Expiry{})
		if err := apply(s, w, p); err != nil {
			t.Error(err)
		}
	}
	replace()
	e.between.Store(&replace)
	defer e.between.Store(nil)
	keys := [][]byte{types.EncodeInt(1)}
	one := [][]byte{types.EncodeInt(1)}
	for name, r := range map[string]*store.Read{
		"a row":                 {Table: wide, Keys: keys, Slices: []store.Slice{{one, one, true, true}}},
		"a partition":           {Table: wide, Keys: keys},
		"a partition, reversed": {Table: wide, Keys: keys, Reverse: true},
		"a scan":                {Table: wide},
		"a table without rows":  {Table: plain, Keys: keys},
		"a scan of it":          {Table: plain},
	} {
		for committed := 0; committed < 20; { // not if the store itself reads at that moment
			before := last.Load()
			seen := map[string]int{}
			err := s.Read(t.Context(), r, func(row *store.Row) (bool, error) {
				for _, c := range slices.Concat(r.Table.Static, r.Table.Regular) {
					if v := row.Values[c.Index]; v != nil {
						seen[fmt.Sprint(types.DecodeInt(v))]++
					}
				}
				return true, nil
			})
			if err != nil || len(seen) != 1 {
				t.Fatalf("%s sees values of partitions %v, error %v", name, seen, err)
			}
			if last.Load() != before {
				committed++
			}
		}
	}
}
