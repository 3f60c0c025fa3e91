package system_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/memory"
	"github.com/cqld/cqld/store/system"
)

// started is when the store under test was opened.
var started = time.UnixMilli(1700000000123)

// open opens a store in memory with the system tables.
func open(t *testing.T, o system.Options) *store.Store {
	t.Helper()
	return openOn(t, o, func() {})
}

// watched is an engine that calls a function before each view.
type watched struct {
	engine.Engine
	beforeView func()
}

func (w watched) View(fn func(engine.Reader) error) error {
	w.beforeView()
	return w.Engine.View(fn)
}

// openOn is open with a function that is called before the store reads from its engine.
func openOn(t *testing.T, o system.Options, beforeView func()) *store.Store {
	t.Helper()
	s, err := store.Open(store.Options{
		Engine: func(fold engine.Fold) (engine.Engine, error) {
			return watched{memory.Open(fold), beforeView}, nil
		},
		System: system.Definitions(),
		Now:    func() time.Time { return started },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	system.Register(s, o)
	return s
}

// row is a row with its values as JSON has them: numbers, texts, UUIDs and blobs as text, maps and lists.
type row map[string]any

// read returns all rows of a table as a client that dialled 127.0.0.2:9042 sees them.
func read(t *testing.T, s *store.Store, keyspace, name string) []row {
	t.Helper()
	table := s.Catalog().Table(keyspace, name)
	if table == nil {
		t.Fatalf("no table %s.%s", keyspace, name)
	}
	var rows []row
	err := s.Read(context.Background(), &store.Read{
		Table: table, Now: started.Unix(),
		Session: store.Session{LocalAddr: netip.MustParseAddrPort("127.0.0.2:9042")},
	}, func(r *store.Row) (bool, error) {
		decoded := row{}
		for i, c := range table.Columns {
			if r.Values[i] != nil {
				if err := c.Type.Validate(r.Values[i]); err != nil {
					t.Errorf("%s.%s.%s: %v", keyspace, name, c.Name, err)
				}
			}
			decoded[c.Name] = decode(c.Type, r.Values[i])
		}
		rows = append(rows, decoded)
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// decode turns a value into what encoding/json makes of the recorded one.
func decode(t types.Type, b []byte) any {
	if b == nil {
		return nil
	}
	switch t := t.(type) {
	case *types.Map:
		m := map[string]any{}
		for k, v := range types.Entries(b) {
			m[fmt.Sprint(decode(t.Key, k))] = decode(t.Value, v)
		}
		return m
	case *types.Set:
		l := []any{}
		for e := range types.Elements(b) {
			l = append(l, decode(t.Elem, e))
		}
		return l
	}
	switch t {
	case types.Int:
		return float64(types.DecodeInt(b))
	case types.BigInt, types.Timestamp:
		return float64(types.DecodeBigInt(b))
	case types.Double:
		return types.DecodeDouble(b)
	case types.Boolean:
		return types.DecodeBoolean(b)
	case types.Text:
		return string(b)
	case types.Blob:
		return hex.EncodeToString(b)
	}
	return t.Format(b)
}

// recorded is a file of rows that Cassandra 5.0.8 returned, by table.
func recorded(t *testing.T, name string) map[string][]row {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var tables map[string]json.RawMessage
	if err := json.Unmarshal(b, &tables); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	delete(tables, "recorded from")
	all := map[string][]row{}
	for table, b := range tables {
		var rows []row
		if err := json.Unmarshal(b, &rows); err != nil {
			t.Fatalf("%s: %s: %v", name, table, err)
		}
		all[table] = rows
	}
	return all
}

// compare checks that rows are those recorded, in whatever order, by the columns that name one.
func compare(t *testing.T, got, want []row, key ...string) {
	t.Helper()
	index := func(rows []row) map[string]row {
		m := map[string]row{}
		for _, r := range rows {
			name := ""
			for _, k := range key {
				name += fmt.Sprint(r[k], ".")
			}
			m[name] = r
		}
		return m
	}
	g, w := index(got), index(want)
	if len(g) != len(got) || len(w) != len(want) {
		t.Errorf("%d and %d rows have %d and %d keys", len(got), len(want), len(g), len(w))
	}
	for _, name := range slices.Sorted(maps.Keys(w)) {
		if g[name] == nil {
			t.Errorf("%s is missing", name)
			continue
		}
		for column, value := range w[name] {
			if !reflect.DeepEqual(g[name][column], value) {
				t.Errorf("%s%s is %v, want %v", name, column, g[name][column], value)
			}
		}
		for column := range g[name] {
			if _, ok := w[name][column]; !ok {
				t.Errorf("%s has a column %s", name, column)
			}
		}
		delete(g, name)
	}
	for name := range g {
		t.Errorf("%s is too many", name)
	}
}

func TestDefinitions(t *testing.T) {
	s := open(t, system.Options{})
	want := recorded(t, "testdata/definitions.json")
	compare(t, read(t, s, "system_schema", "keyspaces"), want["keyspaces"], "keyspace_name")
	compare(t, read(t, s, "system_schema", "tables"), want["tables"], "keyspace_name", "table_name")
	compare(t, read(t, s, "system_schema", "columns"), want["columns"], "keyspace_name", "table_name", "column_name")
	compare(t, read(t, s, "system_schema", "dropped_columns"), want["dropped_columns"], "column_name")
	compare(t, read(t, s, "system_schema", "indexes"), want["indexes"], "index_name")
	compare(t, read(t, s, "system_virtual_schema", "columns"), want["virtual_columns"],
		"keyspace_name", "table_name", "column_name")

	tables := read(t, s, "system_virtual_schema", "tables")
	for _, r := range tables { // DESCRIBE alone tells the ids of virtual tables
		id := s.Catalog().Table(r["keyspace_name"].(string), r["table_name"].(string)).ID
		r["id"] = types.UUID.Format(id[:])
	}
	compare(t, tables, want["virtual_tables"], "keyspace_name", "table_name")
	compare(t, read(t, s, "system_virtual_schema", "keyspaces"),
		[]row{{"keyspace_name": "system_views"}, {"keyspace_name": "system_virtual_schema"}}, "keyspace_name")
}

func TestStoreIDs(t *testing.T) {
	seen := map[uint64]string{}
	for _, k := range system.Definitions() {
		if !schema.IsSystem(k.Name) {
			t.Errorf("%s is not known as a system keyspace", k.Name)
		}
		for _, table := range k.Tables {
			name := k.Name + "." + table.Name
			if other := seen[table.StoreID]; other != "" || table.StoreID == 0 || table.StoreID >= schema.FirstUserStoreID {
				t.Errorf("%s has the number %d, as %q", name, table.StoreID, other)
			}
			seen[table.StoreID] = name
		}
	}
	// Rows of these are on disks under these numbers.
	for id, name := range map[uint64]string{
		100: "system_traces.events", 101: "system_traces.sessions",
		207: "system_auth.roles",
	} {
		if seen[id] != name {
			t.Errorf("%d is the number of %s, want %s", id, seen[id], name)
		}
	}
}

func TestDescribe(t *testing.T) {
	type record struct{ Keyspace, Table, Describe, Internals string }
	f, err := os.Open("testdata/describe.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	catalog := schema.New(system.Definitions()...)
	n := 0
	for lines := json.NewDecoder(f); lines.More(); n++ {
		var r record
		if err := lines.Decode(&r); err != nil {
			t.Fatal(err)
		}
		if r.Keyspace == "" {
			continue // what they were recorded from
		}
		if r.Table == "" {
			if got := catalog.Keyspace(r.Keyspace).CQL(); got != r.Describe {
				t.Errorf("got\n%s\nwant\n%s", got, r.Describe)
			}
			continue
		}
		table := catalog.Table(r.Keyspace, r.Table)
		if got := table.CQL(false); got != r.Describe {
			t.Errorf("got\n%s\nwant\n%s", got, r.Describe)
		}
		if got := table.CQL(true); got != r.Internals && r.Table != "local" { // whose dropped column is Cassandra's
			t.Errorf("got\n%s\nwant\n%s", got, r.Internals)
		}
	}
	if n < 2 {
		t.Error("nothing is recorded")
	}
}

func TestUserTables(t *testing.T) {
	s := open(t, system.Options{})
	want := recorded(t, "testdata/user_tables.json")
	if err := s.Define(userTables); err != nil {
		t.Fatal(err)
	}
	only := func(rows []row) []row {
		return slices.DeleteFunc(rows, func(r row) bool { return r["keyspace_name"] != "shapes" })
	}
	compare(t, only(read(t, s, "system_schema", "keyspaces")), want["keyspaces"], "keyspace_name")
	compare(t, only(read(t, s, "system_schema", "columns")), want["columns"], "table_name", "column_name")
	tables := only(read(t, s, "system_schema", "tables"))
	for _, r := range append(tables, want["tables"]...) { // drawn by chance
		delete(r, "id")
	}
	compare(t, tables, want["tables"], "table_name")
}
