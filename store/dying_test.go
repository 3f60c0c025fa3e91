package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
	"github.com/cqld/cqld/store/rows"
)

// dying is an engine that dies at one of its writes, before it or just behind it, and does nothing from then on.
type dying struct {
	*enginetest.Memory
	left  atomic.Int64 // writes, with the one that it dies at
	after bool         // that one is done, and nobody is told
}

var errDead = errors.New("the engine is dead")

// write does a write, if it is not dead.
func (d *dying) write(do func() error) error {
	switch left := d.left.Add(-1); {
	case left > 0:
		return do()
	case left == 0 && d.after:
		return errors.Join(errDead, do())
	}
	return errDead
}

func (d *dying) Commit(ops []engine.Op, done func(error)) {
	done(d.write(func() error {
		result := make(chan error, 1)
		d.Memory.Commit(ops, func(err error) { result <- err })
		return <-result
	}))
}

func (d *dying) Update(ctx context.Context, guards [][]byte, fn func(engine.Txn) error, done func(error)) {
	done(d.write(func() error { return engine.Update(ctx, d.Memory, guards[0], fn) }))
}

func (d *dying) DeleteRange(start, end []byte) error {
	return d.write(func() error { return d.Memory.DeleteRange(start, end) })
}

func (d *dying) Sync() error { return d.write(d.Memory.Sync) }

// openDying opens a store on what was in memory, or on nothing, that dies at its last write.
func openDying(t *testing.T, was *enginetest.Memory, writes int64, after bool) (*Store, *dying, error) {
	t.Helper()
	d := &dying{after: after}
	d.left.Store(writes)
	s, err := tryOpen(t, "", Options{Engine: func(f engine.Fold) (engine.Engine, error) {
		if d.Memory = enginetest.NewMemory(f, false); was != nil {
			d.Memory = was.Reopen(f)
		}
		return d, nil
	}})
	return s, d, err
}

// many is more writes than anything here does.
const many = 1 << 40

// definitions are one of every kind, each of what those before it have made.
var definitions = []struct {
	name   string
	change func(t *testing.T, c *schema.Catalog) *schema.Catalog
}{
	{"create keyspace", func(_ *testing.T, c *schema.Catalog) *schema.Catalog {
		return c.WithKeyspace(&schema.Keyspace{Name: "ks", Replication: map[string]string{"class": "SimpleStrategy"}})
	}},
	{"create type", func(_ *testing.T, c *schema.Catalog) *schema.Catalog { return c.WithType(dyingType("x")) }},
	{"create table", func(t *testing.T, c *schema.Catalog) *schema.Catalog {
		return c.WithTable(newTable(t, "t", "k int", "c int", "v text"))
	}},
	{"create two tables", func(t *testing.T, c *schema.Catalog) *schema.Catalog {
		for _, name := range []string{"u", "w"} {
			spec := *newTable(t, name, "k int", "c int", "v text")
			spec.Columns = append(spec.Columns, &schema.Column{
				Name: "w", Type: types.Freeze(c.Type("ks", "y")),
				Kind: schema.Regular,
			})
			c = c.WithTable(schema.NewTable(spec))
		}
		return c
	}},
	{"alter type", func(_ *testing.T, c *schema.Catalog) *schema.Catalog { return c.WithType(dyingType("x", "z")) }},
	{"alter table", func(t *testing.T, c *schema.Catalog) *schema.Catalog {
		spec := *c.Table("ks", "t")
		spec.Options.Comment = "altered"
		return c.WithTable(schema.NewTable(spec))
	}},
	{"alter keyspace", func(_ *testing.T, c *schema.Catalog) *schema.Catalog {
		k := *c.Keyspace("ks")
		k.DurableWrites = true
		return c.WithKeyspace(&k)
	}},
	{"create view", func(t *testing.T, c *schema.Catalog) *schema.Catalog {
		return c.WithTable(viewOf(c.Table("ks", "t"), newTable(t, "view", "c int", "k int", "v text")))
	}},
	{"truncate", func(_ *testing.T, c *schema.Catalog) *schema.Catalog {
		return c.WithTable(c.Table("ks", "t").WithStoreID(0))
	}},
	{"drop view", func(_ *testing.T, c *schema.Catalog) *schema.Catalog { return c.WithoutTable("ks", "view") }},
	{"drop table", func(_ *testing.T, c *schema.Catalog) *schema.Catalog { return c.WithoutTable("ks", "u") }},
	{"drop two tables", func(_ *testing.T, c *schema.Catalog) *schema.Catalog {
		return c.WithoutTable("ks", "t").WithoutTable("ks", "w")
	}},
	{"drop type", func(_ *testing.T, c *schema.Catalog) *schema.Catalog { return c.WithoutType("ks", "y") }},
	{"create table again", func(t *testing.T, c *schema.Catalog) *schema.Catalog {
		return c.WithTable(newTable(t, "t", "k int", "c int", "v text"))
	}},
	{"drop keyspace", func(_ *testing.T, c *schema.Catalog) *schema.Catalog { return c.WithoutKeyspace("ks") }},
}

// dyingType is user type y with the fields named.
func dyingType(fields ...string) *types.UserType {
	u := &types.UserType{Keyspace: "ks", Name: "y"}
	for _, name := range fields {
		u.Fields = append(u.Fields, types.Field{Name: name, Type: types.Int})
	}
	return u
}

// TestDyingDefinitions has a server die at each write of each kind of definition. What is there when it is opened
// again is the schema before or behind it, with the rows of that one.
func TestDyingDefinitions(t *testing.T) {
	for i, d := range definitions {
		t.Run(d.name, func(t *testing.T) {
			for writes := int64(1); ; writes++ {
				before := dieAt(t, i, writes, false)
				after := dieAt(t, i, writes, true)
				if !before && !after {
					if writes == 1 {
						t.Error("it writes nothing")
					}
					break
				}
				if writes > 100 {
					t.Fatal("it never ends")
				}
			}
		})
	}
}

// dieAt runs definition i and those before it, and reports whether the engine died at that write of it.
func dieAt(t *testing.T, i int, writes int64, after bool) (died bool) {
	t.Helper()
	s, d, err := openDying(t, nil, many, after)
	if err != nil {
		t.Fatal(err)
	}
	run := func(i int) error {
		return s.Define(func(c *schema.Catalog) (*schema.Catalog, error) { return definitions[i].change(t, c), nil })
	}
	for j := range i {
		if err := run(j); err != nil {
			t.Fatal(err)
		}
	}
	old := s.Catalog()
	for _, table := range userTables(old) {
		insert(t, s, table, 1, 1, "a")
	}
	d.left.Store(writes)
	err = run(i)
	died = d.left.Load() <= 0
	closed := s.Close()
	if err == nil && closed != nil {
		t.Error(closed)
	}
	next := definitions[i].change(t, old)
	again, _, reopened := openDying(t, d.Memory, many, false)
	if reopened != nil {
		t.Fatalf("dead at write %d (done: %t): %v", writes, after, reopened)
	}
	defer closeStore(t, again)
	got := again.Catalog().Version()
	if got != next.Version() && (err == nil || got != old.Version()) {
		t.Errorf("dead at write %d (done: %t), said %v: the schema is neither the old nor the new one", writes, after, err)
	}
	for _, table := range userTables(again.Catalog()) {
		want := ""
		if was := old.Table("ks", table.Name); was != nil && was.StoreID == table.StoreID {
			want = "k=1 c=1 v='a'"
		}
		if got := all(t, again, table); got != want {
			t.Errorf("dead at write %d (done: %t): table %s has %s, want %s", writes, after, table.Name, got, want)
		}
	}
	define(t, again, newTable(t, "more", "k int", "c int", "v text"))
	if got := all(t, again, again.Catalog().Table("ks", "more")); got != "" {
		t.Errorf("dead at write %d (done: %t): a table made afterwards has %s", writes, after, got)
	}
	return died
}

func userTables(c *schema.Catalog) []*schema.Table {
	if k := c.Keyspace("ks"); k != nil {
		return k.SortedTables()
	}
	return nil
}

// TestDamagedDefinitions opens a folder in which a definition is damaged.
func TestDamagedDefinitions(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	define(t, s, newTable(t, "t", "k int", "c int", "v text"))
	records := schema.Encode(s.Catalog())
	closeStore(t, s)
	for key, record := range records {
		for _, at := range []int{1, len(record) / 2, len(record) - 1} {
			damaged := bytes.Clone(record)
			damaged[at] ^= 4
			rewrite(t, dir, key, damaged)
			want := fmt.Sprintf("load the definitions: definition of %s: it is damaged", strings.ReplaceAll(key, "\x00", "."))
			if _, err := tryOpen(t, dir, Options{}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("byte %d of %d: %v", at, len(record), err)
			}
		}
		rewrite(t, dir, key, record)
	}
	closeStore(t, open(t, dir, Options{}))
}

// rewrite replaces a record of definitions in a folder that is not open, and removes their copy, which would tell.
func rewrite(t *testing.T, dir, key string, record []byte) {
	t.Helper()
	e, err := openEngine(dir, rows.Fold)
	if err != nil {
		t.Fatal(err)
	}
	s := &Store{core: core{engine: e}}
	if err := errors.Join(s.commit(definitionOps(schema.Records{key: record})), e.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "DEFINITIONS")); err != nil { // the engine in memory has none
		t.Fatal(err)
	}
}
