package store_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine"
)

// fullEngine is an engine whose disk is full as long as it is told so.
type fullEngine struct {
	engine.Engine
	full *atomic.Bool
}

func (e fullEngine) Commit(ops []engine.Op, done func(error)) {
	if e.full.Load() {
		done(fmt.Errorf("%w: 1 MiB is free", engine.ErrFull))
		return
	}
	e.Engine.Commit(ops, done)
}

// TestFullDisk writes and defines on a full disk: clients are told, and nothing is there of it.
func TestFullDisk(t *testing.T) {
	var full atomic.Bool
	s, err := store.Open(store.Options{Engine: func(f engine.Fold) (engine.Engine, error) {
		e, err := openEngine("", f)
		return fullEngine{e, &full}, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, s)
	before := s.Catalog()
	full.Store(true)
	err = s.Define(func(c *schema.Catalog) (*schema.Catalog, error) {
		return c.WithKeyspace(&schema.Keyspace{Name: "ks"}), nil
	})
	expectNoRoom(t, err)
	if s.Catalog() != before {
		t.Error("the catalog has changed")
	}
	full.Store(false)
	table := newTable(t, "t", "k int", "", "v int")
	define(t, s, table)
	full.Store(true)
	m := store.NewMutation(table, types.EncodeInt(1))
	m.DeletePartition(1)
	expectNoRoom(t, apply(s, m))
}

func expectNoRoom(t *testing.T, err error) {
	t.Helper()
	told, ok := cqlerr.As(err)
	if !ok || told.Code != cqlerr.ServerError || !strings.Contains(err.Error(), "no room on the disk: 1 MiB is free") {
		t.Errorf("a full disk answers %v", err)
	}
}
