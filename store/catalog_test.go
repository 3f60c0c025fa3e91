package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
	"github.com/cqld/cqld/store/snapshot"
)

// insert writes row c of partition k with value v.
func insert(t testing.TB, s *Store, table *schema.Table, k, c int, v string) {
	t.Helper()
	if err := apply(s, newInsert(table, k, c, v)); err != nil {
		t.Fatal(err)
	}
}

func newInsert(table *schema.Table, k, c int, v string) *Mutation {
	m := NewMutation(table, types.EncodeInt(int32(k)))
	m.Row([][]byte{types.EncodeInt(int32(c))})
	m.Mark(1, Expiry{})
	m.Set(table.Regular[0], []byte(v), 1, Expiry{})
	return m
}

func all(t testing.TB, s *Store, table *schema.Table) string {
	t.Helper()
	return strings.Join(readRows(t, s, &Read{Table: table}), "; ")
}

// storedKeys counts what the engine has of a table.
func storedKeys(t testing.TB, s *Store, id uint64) (n int) {
	t.Helper()
	start := rows.AppendArea(nil, uint32(id), rows.AreaTombstones)
	end := rows.AppendArea(nil, uint32(id)+1, rows.AreaTombstones)
	err := s.engine.Scan(start, end, engine.ScanOptions{KeysOnly: true}, func(_, _ []byte) (bool, error) {
		n++
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never: ", what)
		}
	}
}

func TestCatalogIsKept(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	host := s.HostID()
	if host == ([16]byte{}) || host[6]>>4 != 4 {
		t.Errorf("host id %x", host)
	}
	define(t, s, newTable(t, "t", "k int", "c int", "v text"), newTable(t, "u", "k int", "c int", "v text"))
	first := s.Catalog().Table("ks", "t")
	if first.StoreID == 0 || first.StoreID == s.Catalog().Table("ks", "u").StoreID {
		t.Errorf("numbers %d and %d", first.StoreID, s.Catalog().Table("ks", "u").StoreID)
	}
	insert(t, s, first, 1, 1, "a")
	version := s.Catalog().Version()
	closeStore(t, s)

	s = open(t, dir, Options{System: []*schema.Keyspace{{Name: "system"}}})
	defer func() { closeStore(t, s) }()
	if s.HostID() != host || s.Catalog().Version() != version || s.Catalog().Keyspace("system") == nil {
		t.Error("the store is another after reopening")
	}
	table := s.Catalog().Table("ks", "t")
	if table.StoreID != first.StoreID {
		t.Errorf("number %d was %d", table.StoreID, first.StoreID)
	}
	if got := all(t, s, table); got != "k=1 c=1 v='a'" {
		t.Errorf("rows after reopening: %s", got)
	}
}

func TestDefineFails(t *testing.T) {
	s := open(t, "", Options{})
	defer closeStore(t, s)
	before := s.Catalog()
	refused := errors.New("refused")
	err := s.Define(func(c *schema.Catalog) (*schema.Catalog, error) {
		return c.WithKeyspace(&schema.Keyspace{Name: "x"}), refused
	})
	if !errors.Is(err, refused) || s.Catalog() != before {
		t.Errorf("define returns %v and the catalog changed: %v", err, s.Catalog() != before)
	}
	if err := s.Define(func(c *schema.Catalog) (*schema.Catalog, error) { return c, nil }); err != nil ||
		s.Catalog() != before {
		t.Errorf("nothing to define: %v", err)
	}
}

func TestDropAndTruncate(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	defer func() { closeStore(t, s) }()
	define(t, s, newTable(t, "t", "k int", "c int", "v text"))
	planned := s.Catalog().Table("ks", "t")
	for k := range 50 {
		insert(t, s, planned, k, 1, "a")
	}
	m := NewMutation(planned, types.EncodeInt(3))
	m.DeletePartition(5)
	if err := apply(s, m); err != nil {
		t.Fatal(err)
	}
	if err := s.Truncate(context.Background(), planned); err != nil {
		t.Fatal(err)
	}
	truncated := s.Catalog().Table("ks", "t")
	if truncated.StoreID == planned.StoreID {
		t.Error("a truncated table has its old number")
	}
	// A statement that was planned before the truncation still reads and writes the table.
	insert(t, s, planned, 3, 2, "b")
	for _, table := range []*schema.Table{planned, truncated} {
		if got := all(t, s, table); got != "k=3 c=2 v='b'" {
			t.Errorf("rows after truncating: %s", got)
		}
	}
	eventually(t, "old rows purged", func() bool { return storedKeys(t, s, planned.StoreID) == 0 })

	drop := func(c *schema.Catalog) (*schema.Catalog, error) { return c.WithoutTable("ks", "t"), nil }
	if err := s.Define(drop); err != nil {
		t.Fatal(err)
	}
	err := apply(s, newInsert(planned, 1, 1, "c"))
	if e, ok := cqlerr.As(err); !ok || e.Code != cqlerr.Invalid {
		t.Errorf("write to a dropped table: %v", err)
	}
	if err := s.Truncate(context.Background(), planned); err == nil {
		t.Error("a dropped table is truncated")
	}
	eventually(t, "dropped rows purged", func() bool { return storedKeys(t, s, truncated.StoreID) == 0 })
	eventually(t, "no dead tables", func() bool {
		dead, err := s.deadTables()
		return err == nil && len(dead) == 0
	})

	define(t, s, newTable(t, "t", "k int", "c int", "v text"))
	again := s.Catalog().Table("ks", "t")
	if again.StoreID <= truncated.StoreID {
		t.Errorf("number %d after %d", again.StoreID, truncated.StoreID)
	}
	if got := all(t, s, again); got != "" {
		t.Errorf("rows of a table created again: %s", got)
	}
}

// TestPurgeResumes opens a store in which a table died before its rows were removed.
func TestPurgeResumes(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	define(t, s, newTable(t, "t", "k int", "c int", "v text"))
	id := s.Catalog().Table("ks", "t").StoreID
	insert(t, s, s.Catalog().Table("ks", "t"), 1, 1, "a")
	ops := append(definitionOps(schema.Changes(s.Catalog(), s.Catalog().WithoutTable("ks", "t"))),
		engine.Op{Key: deadTableKey(uint32(id)), Value: []byte{1}}, engine.Op{Key: deadTableKey(99), Value: []byte{1}})
	if err := errors.Join(s.commit(ops), s.keepDefinitions(nil)); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	s = open(t, dir, Options{})
	defer closeStore(t, s)
	eventually(t, "rows purged", func() bool { return storedKeys(t, s, id) == 0 })
}

// TestOtherFormatIsRefused opens data of an earlier and of a later format.
func TestOtherFormatIsRefused(t *testing.T) {
	for _, version := range []uint32{snapshot.Format - 1, snapshot.Format + 1} {
		dir := t.TempDir()
		s := open(t, dir, Options{})
		other := s.meta.op()
		binary.BigEndian.PutUint32(other.Value, version)
		if err := s.commit([]engine.Op{other}); err != nil {
			t.Fatal(err)
		}
		closeStore(t, s)
		want := fmt.Sprintf("its format is %d, this cqld reads format %d", version, snapshot.Format)
		if _, err := tryOpen(t, dir, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("open: %v", err)
		}
	}
}

// TestIncompleteRestoreIsRefused opens data of a restore that was interrupted.
func TestIncompleteRestoreIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	mark := binary.BigEndian.AppendUint32(nil, snapshot.Incomplete)
	err := s.commit([]engine.Op{{Kind: engine.Put, Key: snapshot.MetaKey, Value: mark}})
	if err = errors.Join(err, s.keepDefinitions(nil)); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	if _, err := tryOpen(t, dir, Options{}); !errors.Is(err, snapshot.ErrIncomplete) {
		t.Errorf("open: %v", err)
	}
}

// TestTruncateSystemTable empties a table that keeps its number.
func TestTruncateSystemTable(t *testing.T) {
	table := newTable(t, "events", "k int", "c int", "v text")
	table.Keyspace = "system_traces"
	table = table.WithStoreID(7)
	dir := t.TempDir()
	o := Options{System: []*schema.Keyspace{{Name: "system_traces", Tables: map[string]*schema.Table{"events": table}}}}
	s := open(t, dir, o)
	for i := range 1500 {
		s.Apply([]*Mutation{newInsert(table, i, 1, "a")}, func(err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	insert(t, s, table, 0, 2, "a")
	closeStore(t, s)
	s = open(t, dir, o)
	defer closeStore(t, s)
	if got := len(readRows(t, s, &Read{Table: table})); got != 1501 {
		t.Errorf("%d rows after reopening", got)
	}
	if err := s.Truncate(context.Background(), table); err != nil {
		t.Fatal(err)
	}
	if n := storedKeys(t, s, table.StoreID); n != 0 {
		t.Errorf("%d keys after truncating", n)
	}
}
