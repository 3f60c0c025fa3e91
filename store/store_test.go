package store

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
	"github.com/cqld/cqld/store/engine/memory"
)

// clock is a clock that tests move.
type clock struct{ micros atomic.Int64 }

func (c *clock) now() time.Time { return time.UnixMicro(c.micros.Load()) }

// full has the tests do all that they can: as many rows, rounds and histories, on every engine. CI sets it.
var full = os.Getenv("TEST_CQLD_FULL") != ""

// sized is the size of a test: full, or so much smaller as is quick everywhere.
func sized(usual, whole int) int {
	if full {
		return whole
	}
	return usual
}

// engineName is the engine that the tests of this package open. TestOnOtherEngines runs the test binary again with
// hostile. A test of store/engine/disk runs these tests with disk.
var engineName = flag.String("engine", "memory", "run the tests on this engine: memory, hostile or disk")

// otherEngines open engines of other modules by their names. Such a module runs these tests with -overlay, which adds
// a file to them.
var otherEngines = map[string]func(dir string, f engine.Fold) (engine.Engine, error){}

// openDisk opens the engine disk with trees of a size; 0: the usual one. It is nil unless a file is added to these
// tests that sets it, because what the tests of a package import is required by the modules that import the package:
// go test -overlay with the file store.json of store/engine/disk/testdata.
var openDisk func(dir string, memtable int64, f engine.Fold) (engine.Engine, error)

// needsDisk skips a test or benchmark that is of the engine disk.
func needsDisk(t testing.TB) {
	t.Helper()
	if openDisk == nil {
		t.Skip("needs -overlay store/engine/disk/testdata/store.json")
	}
}

// folders are the engines in memory that stand for folders.
var folders sync.Map

// openEngine opens the engine of the tests in a folder, or in memory if dir is empty.
func openEngine(dir string, f engine.Fold) (engine.Engine, error) {
	if open, ok := otherEngines[*engineName]; ok {
		return open(dir, f)
	}
	kept, ok := folders.Load(dir)
	ok = ok && dir != ""
	switch *engineName {
	case "memory":
		e := memory.Open(f)
		if ok {
			if err := e.Restore(kept.(*memory.Engine).Snapshot()); err != nil {
				return nil, err
			}
		}
		folders.Store(dir, e)
		return e, nil
	case "hostile":
		e := enginetest.NewMemory(f, true)
		if ok {
			e = kept.(*enginetest.Memory).Reopen(f)
		}
		folders.Store(dir, e)
		return e, nil
	default:
		return openSmallDisk(dir, f)
	}
}

// openSmallDisk opens the engine disk in a folder, or in one that is removed when the process ends. Its trees are so
// small that they are flushed again and again.
func openSmallDisk(dir string, f engine.Fold) (engine.Engine, error) {
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp(scratch, "disk"); err != nil {
			return nil, err
		}
	}
	return openDisk(dir, 16<<10, f)
}

// scratch has the folders of engines that are given none.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "cqld-store-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(scratch)
	os.Exit(code)
}

// TestOnOtherEngines runs the other tests on an engine that does all that the contract allows and the others never do.
func TestOnOtherEngines(t *testing.T) {
	if *engineName != "memory" {
		t.Skipf("this process runs the tests on the engine %s already", *engineName)
	}
	if !full {
		t.Skip("TEST_CQLD_FULL is not set")
	}
	timeout := "-test.timeout=0"
	if deadline, ok := t.Deadline(); ok {
		timeout = fmt.Sprintf("-test.timeout=%s", time.Until(deadline))
	}
	for _, name := range []string{"hostile"} {
		t.Run(name, func(t *testing.T) {
			out, err := exec.CommandContext(t.Context(), os.Args[0], "-engine="+name, "-histories=0", timeout).CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// open opens a store in a folder, or in memory if dir is empty.
func open(t testing.TB, dir string, o Options) *Store {
	t.Helper()
	s, err := tryOpen(t, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func tryOpen(t testing.TB, dir string, o Options) (*Store, error) {
	if o.Engine == nil {
		o.Engine = func(f engine.Fold) (engine.Engine, error) { return openEngine(dir, f) }
	}
	o.Log = zerolog.New(zerolog.NewTestWriter(t))
	return Open(o)
}

func closeStore(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// newTable is a table as the tests write it: "k int, c int desc, s static text, v text" with the parts
// of the partition key and the clustering key separated by semicolons.
func newTable(t testing.TB, name, partition, clustering, others string) *schema.Table {
	t.Helper()
	spec := schema.Table{Keyspace: "ks", Name: name}
	copy(spec.ID[:], name+strings.Repeat("-", 16))
	for kind, text := range []string{partition, clustering, others} {
		for _, def := range strings.FieldsFunc(strings.TrimSpace(text), func(r rune) bool { return r == ',' }) {
			words := strings.Fields(def)
			typ, ok := types.Native(words[1])
			if !ok {
				typ = collectionType(t, words[1])
			}
			c := &schema.Column{Name: words[0], Type: typ, Kind: schema.ColumnKind(kind)}
			if kind == 2 {
				c.Kind = schema.Regular
			}
			for _, w := range words[2:] {
				switch w {
				case "desc":
					c.Desc = true
				case "static":
					c.Kind = schema.Static
				default:
					t.Fatalf("no property %q", w)
				}
			}
			spec.Columns = append(spec.Columns, c)
		}
	}
	return schema.NewTable(spec)
}

// collectionType is the type that list<int>, set<int> or map<int:text> stands for.
func collectionType(t testing.TB, text string) types.Type {
	t.Helper()
	kind, args, _ := strings.Cut(strings.TrimSuffix(text, ">"), "<")
	first, second, _ := strings.Cut(args, ":")
	key, ok := types.Native(first)
	value, isMap := types.Native(second)
	switch {
	case ok && kind == "list":
		return &types.List{Elem: key}
	case ok && kind == "set":
		return &types.Set{Elem: key}
	case ok && isMap && kind == "map":
		return &types.Map{Key: key, Value: value}
	}
	t.Fatalf("no type %q", text)
	return nil
}

// define adds tables to keyspace ks and returns them as the store has them.
func define(t testing.TB, s *Store, tables ...*schema.Table) {
	t.Helper()
	err := s.Define(func(c *schema.Catalog) (*schema.Catalog, error) {
		if c.Keyspace("ks") == nil {
			c = c.WithKeyspace(&schema.Keyspace{Name: "ks", Replication: map[string]string{"class": "SimpleStrategy"}})
		}
		for _, table := range tables {
			c = c.WithTable(table)
		}
		return c, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// apply applies mutations and waits.
func apply(s *Store, ms ...*Mutation) error {
	done := make(chan error, 1)
	s.Apply(ms, func(err error) { done <- err })
	return <-done
}

// literal reads a value: null, or a literal of the type.
func literal(t testing.TB, typ types.Type, text string) []byte {
	t.Helper()
	if text == "null" {
		return nil
	}
	kind := types.StringLiteral
	switch typ {
	case types.Int, types.BigInt, types.SmallInt, types.TinyInt, types.VarInt:
		kind = types.IntegerLiteral
	case types.Decimal, types.Double, types.Float:
		kind = types.FloatLiteral
	case types.Blob:
		kind = types.HexLiteral
	}
	b, err := typ.ParseLiteral(kind, text)
	if err != nil {
		t.Fatalf("%s is not a %s: %v", text, typ, err)
	}
	return b
}

// readRows runs a read and prints what comes: "static k=1 s=a" or "k=1 c=2 v=b".
func readRows(t testing.TB, s *Store, r *Read) []string {
	t.Helper()
	var out []string
	err := s.Read(context.Background(), r, func(row *Row) (bool, error) {
		out = append(out, formatRow(r.Table, row))
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func formatRow(table *schema.Table, row *Row) string {
	var b strings.Builder
	if row.Static {
		b.WriteString("static")
	}
	for i, c := range table.Columns {
		v := row.Values[i]
		if v == nil {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s=%s", c.Name, c.Type.Format(v))
		if row.Meta != nil && !c.Kind.IsKey() {
			m := row.Meta[i]
			fmt.Fprintf(&b, "@%d", m.Timestamp)
			if m.ExpiresAt != 0 {
				fmt.Fprintf(&b, "+%d/%d", m.TTL, m.ExpiresAt)
			}
			for _, part := range m.Parts {
				fmt.Fprintf(&b, ",%d", part.Timestamp)
				if part.ExpiresAt != 0 {
					fmt.Fprintf(&b, "+%d/%d", part.TTL, part.ExpiresAt)
				}
			}
		}
	}
	return b.String()
}
