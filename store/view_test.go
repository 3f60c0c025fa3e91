package store

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/rows"
)

// viewOf makes a table, whose columns are named as in the base, a view.
func viewOf(base, table *schema.Table, where ...schema.ViewRelation) *schema.Table {
	spec := *table
	spec.View = &schema.View{BaseID: base.ID, Base: base.Name, Where: where}
	return schema.NewTable(spec)
}

func intPoints(values ...int32) (points [][][]byte) {
	for _, v := range values {
		points = append(points, [][]byte{types.EncodeInt(v)})
	}
	return points
}

// TestViews writes random rows to a table and compares every kind of read of its views with the same read of a table
// that was given the view's rows.
func TestViews(t *testing.T) {
	s := open(t, "", Options{SweepEvery: time.Hour}) // what expires has expired long ago by its clock
	defer closeStore(t, s)
	base := newTable(t, "base", "k int", "c int, d int desc", "s int static, v int, w text, m map<int:text>")
	listed := schema.ViewRelation{Columns: []string{"k"}, Test: schema.OneOf, Values: intPoints(1, 2)}
	above := schema.ViewRelation{Columns: []string{"c", "d"}, Tuple: true, Test: schema.Greater, Values: [][][]byte{{
		types.EncodeInt(0), types.EncodeInt(1),
	}}}
	tables := []struct {
		twin  *schema.Table
		where []schema.ViewRelation
	}{
		{newTable(t, "byv", "v int", "c int desc, k int, d int", "w text, m map<int:text>"), nil},
		{newTable(t, "byc", "c int", "d int, k int desc", "m map<int:text>"), []schema.ViewRelation{listed}},
		{newTable(t, "bykc", "k int, c int", "d int", "v int, w text"), []schema.ViewRelation{above}},
		{newTable(t, "bykw", "k int", "w text desc, d int, c int", "v int"), nil},
		{newTable(t, "all", "k int, c int, d int, v int", "", "w text"), nil},
	}
	define(t, s, base)
	random := rand.New(rand.NewPCG(1, 1))
	for range 60 {
		writeRandomly(t, s, base, random)
	}
	for i, test := range tables {
		stored, view := *test.twin, *test.twin
		stored.Name, stored.ID, view.ID = "stored"+test.twin.Name, [16]byte{byte(i), 1}, [16]byte{byte(i), 2}
		twin, made := schema.NewTable(stored), viewOf(base, &view, test.where...)
		define(t, s, twin, made)
		for range 3 {
			copyRows(t, s, base, twin, made)
			twin, made = s.Catalog().Table("ks", twin.Name), s.Catalog().Table("ks", made.Name)
			waitForIndexes(t, s)
			compareReads(t, s, twin, made, random)
			for range 10 {
				writeRandomly(t, s, base, random)
			}
			if err := s.Truncate(t.Context(), twin); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(s.state.Load().indexes[uint32(s.Catalog().Table("ks", "base").StoreID)]); n != len(tables) {
		t.Errorf("%d views are kept", n)
	}
}

// TestViewRowsArePlain writes rows in the ways that are common, and looks at what is stored for a view: the rows are
// those that a reader takes in the common case, and those of an INSERT are what a table would have.
func TestViewRowsArePlain(t *testing.T) {
	s := open(t, "", Options{})
	defer closeStore(t, s)
	base := newTable(t, "base", "k int", "", "v int, w int, x text")
	view := viewOf(base, newTable(t, "byw", "w int", "k int", "v int, x text"))
	twin := newTable(t, "twin", "w int", "k int", "v int, x text")
	define(t, s, base, view, twin)
	waitForIndexes(t, s)
	k, w := types.EncodeInt(1), types.EncodeInt(2)
	write := func(table *schema.Table, marked bool, times map[string]int64) {
		m := NewMutation(table, k)
		if table == twin {
			m = NewMutation(table, w)
			m.Row([][]byte{k})
		} else {
			m.Row(nil)
		}
		if marked {
			m.Mark(times["w"], Expiry{})
		}
		for _, c := range table.Regular {
			if ts, given := times[c.Name]; given {
				m.Set(c, w, ts, Expiry{})
			}
		}
		if err := apply(s, m); err != nil {
			t.Fatal(err)
		}
	}
	stored := func(table *schema.Table) (value []byte) {
		id := s.state.Load().ids[table.ID]
		key := append(rows.AppendPartition(nil, table, id, w), rows.KindRow)
		if _, err := s.engine.Get(rows.AppendClustering(key, table, [][]byte{k}), func(v []byte) error {
			value = slices.Clone(v)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return value
	}
	for i, test := range []struct {
		marked bool
		times  map[string]int64
	}{
		{true, map[string]int64{"v": 5, "w": 5, "x": 5}},
		{false, map[string]int64{"x": 9}},
		{true, map[string]int64{"w": 12, "x": 12}},
		{false, map[string]int64{"v": 15}},
	} {
		write(base, test.marked, test.times)
		if i == 0 {
			write(twin, true, test.times)
			if got, want := stored(view), stored(twin); string(got) != string(want) {
				t.Errorf("the view has %x, a table %x", got, want)
			}
		}
		var a rowAssembly
		a.begin(&Read{Table: view})
		a.coveredBy(new(rows.PartitionTombstones))
		if value := stored(view); !a.plainRow(value) {
			t.Errorf("write %d: %x is not plain", i, value)
		}
	}
}

// writeRandomly writes a few random cells, rows and deletions.
func writeRandomly(t *testing.T, s *Store, base *schema.Table, r *rand.Rand) {
	small := func() []byte { return types.EncodeInt(int32(r.IntN(4))) }
	m, ts, expiry := NewMutation(base, small()), int64(r.IntN(20)), Expiry{}
	if r.IntN(3) == 0 {
		expiry = Expiry{TTL: 10, At: int64(995 + r.IntN(10))}
	}
	if r.IntN(4) == 0 {
		m.Static()
		m.Set(base.Column("s"), small(), ts, expiry)
	}
	m.Row([][]byte{small(), small()})
	switch r.IntN(12) {
	case 0:
		m.DeleteRow(ts)
	case 1:
		c := [][]byte{small()}
		m.DeleteRange(Slice{Start: c, End: c, StartInclusive: true, EndInclusive: true}, ts)
		m.Row([][]byte{small(), small()})
	case 2:
		m.Set(base.Column("v"), nil, ts, expiry)
	case 3, 4, 5:
		m.Mark(ts, expiry)
	}
	if r.IntN(4) > 0 {
		m.Set(base.Column("v"), small(), ts, expiry)
	}
	if r.IntN(2) > 0 {
		m.Set(base.Column("w"), []byte(strings.Repeat("w", r.IntN(3))), ts, expiry)
		m.SetPart(base.Column("m"), small(), []byte("part"), ts, expiry)
	}
	if err := apply(s, m); err != nil {
		t.Fatal(err)
	}
}

// copyRows stores the rows that the view should have in its twin.
func copyRows(t *testing.T, s *Store, base, twin, view *schema.Table) {
	var ms []*Mutation
	read := &Read{Table: base, Now: 1000, Meta: true}
	err := s.Read(t.Context(), read, func(row *Row) (bool, error) {
		whole := !row.Static
		for _, relation := range view.View.Where {
			whole = whole && relation.Holds(base, row.Values)
		}
		key := make([][]byte, 0, len(twin.Columns))
		for _, c := range slices.Concat(twin.PartitionKey, twin.Clustering) {
			value := row.Values[base.Column(c.Name).Index]
			whole = whole && value != nil
			key = append(key, slices.Clone(value))
		}
		if !whole {
			return true, nil
		}
		m := NewMutation(twin, index.JoinKey(nil, key[:len(twin.PartitionKey)]))
		m.Row(key[len(twin.PartitionKey):])
		m.Mark(1, Expiry{})
		for _, c := range twin.Regular {
			at := base.Column(c.Name).Index
			copyCell(m, c, slices.Clone(row.Values[at]), row.Meta[at])
		}
		ms = append(ms, m)
		return true, nil
	})
	if err == nil && len(ms) > 0 {
		err = apply(s, ms...)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(ms) < 3 {
		t.Errorf("%s has %d rows only", view.Name, len(ms))
	}
}

// copyCell writes the cells of a column as they are in another table.
func copyCell(m *Mutation, c *schema.Column, value []byte, meta CellMeta) {
	if value == nil {
		return
	}
	if meta.Parts == nil {
		m.Set(c, value, meta.Timestamp, Expiry{TTL: meta.TTL, At: meta.ExpiresAt})
		return
	}
	i := 0
	for k, v := range types.Entries(value) {
		part := meta.Parts[i]
		m.SetPart(c, k, v, part.Timestamp, Expiry{TTL: part.TTL, At: part.ExpiresAt})
		i++
	}
}

// compareReads reads a view and its twin in many ways.
func compareReads(t *testing.T, s *Store, twin, view *schema.Table, r *rand.Rand) {
	keys := partitions(t, s, twin)
	for range 75 {
		read := Read{Now: 1000, Meta: r.IntN(2) == 0}
		switch r.IntN(4) {
		case 0:
		case 1:
			token := types.Token(pick(r, keys...))
			read.Tokens = TokenRange{Bounded: true, Start: token, End: 1 << 62, StartInclusive: r.IntN(2) == 0}
		default:
			for _, i := range r.Perm(len(keys))[:1+r.IntN(min(3, len(keys)))] {
				read.Keys = append(read.Keys, keys[i])
			}
			read.Reverse = r.IntN(2) == 0
		}
		if len(twin.Clustering) > 0 && r.IntN(2) == 0 {
			read.Slices = randomSlices(twin, r)
		}
		want, got := read, read
		want.Table, got.Table = twin, view
		expected := readRows(t, s, &want)
		if made := readRows(t, s, &got); !slices.Equal(made, expected) {
			t.Fatalf("%s, %+v\ngot:  %s\nwant: %s", view.Name, got, strings.Join(made, "; "), strings.Join(expected, "; "))
		}
		if after := positionWithin(t, s, &want, r); after != nil {
			want.After, got.After = after, after
			expected := readRows(t, s, &want)
			if made := readRows(t, s, &got); !slices.Equal(made, expected) {
				t.Fatalf("%s behind %v, %+v\ngot:  %q\nwant: %q", view.Name, after, got, made, expected)
			}
		}
	}
}

// partitions are the keys of a table's partitions.
func partitions(t *testing.T, s *Store, table *schema.Table) (keys [][]byte) {
	err := s.Read(t.Context(), &Read{Table: table, Now: 1000}, func(row *Row) (bool, error) {
		if len(keys) == 0 || string(keys[len(keys)-1]) != string(row.Partition) {
			keys = append(keys, slices.Clone(row.Partition))
		}
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// randomSlices are one slice, or two with a gap between them.
func randomSlices(table *schema.Table, r *rand.Rand) []Slice {
	first := table.Clustering[0]
	value := func(n int) [][]byte {
		if first.Type == types.Text {
			return [][]byte{[]byte(strings.Repeat("w", n))}
		}
		return [][]byte{types.EncodeInt(int32(n))}
	}
	low, high := 0, 2
	if first.Desc {
		low, high = 2, 0
	}
	one := Slice{Start: value(low), End: value(low), StartInclusive: true, EndInclusive: true}
	switch r.IntN(4) {
	case 0:
		return []Slice{one}
	case 1:
		return []Slice{{Start: value(low), StartInclusive: r.IntN(2) == 0}}
	case 2:
		return []Slice{{Start: value(low), End: value(high), EndInclusive: r.IntN(2) == 0}}
	}
	return []Slice{one, {Start: value(high), End: value(high), StartInclusive: true, EndInclusive: true}}
}

// positionWithin is where one of the rows of a read is, or nil.
func positionWithin(t *testing.T, s *Store, read *Read, r *rand.Rand) (after *Position) {
	n := 0
	err := s.Read(t.Context(), read, func(row *Row) (bool, error) {
		n++
		if r.IntN(n) == 0 {
			after = &Position{Partition: slices.Clone(row.Partition)}
			for _, c := range read.Table.Clustering {
				after.Clustering = append(after.Clustering, slices.Clone(row.Values[c.Index]))
			}
		}
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return after
}

// A view follows its base through TRUNCATE, and is gone when it is dropped.
func TestViewOfTruncated(t *testing.T) {
	s := open(t, "", Options{})
	defer closeStore(t, s)
	base := newTable(t, "base", "k int", "", "v int")
	view := viewOf(base, newTable(t, "byv", "v int", "k int", ""))
	define(t, s, base, view)
	m := NewMutation(base, types.EncodeInt(1))
	m.Row(nil)
	m.Set(base.Column("v"), types.EncodeInt(2), 1, Expiry{})
	if err := apply(s, m); err != nil {
		t.Fatal(err)
	}
	read := &Read{Table: view}
	if got := readRows(t, s, read); !slices.Equal(got, []string{"v=2 k=1"}) {
		t.Errorf("rows %q", got)
	}
	if err := s.Truncate(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	if got := readRows(t, s, read); len(got) > 0 {
		t.Errorf("rows after TRUNCATE: %q", got)
	}
	err := s.Define(func(c *schema.Catalog) (*schema.Catalog, error) { return c.WithoutTable("ks", "byv"), nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Read(t.Context(), read, func(*Row) (bool, error) { return true, nil }); err == nil {
		t.Error("a view that was dropped can be read")
	}
}

// TestDeletionsWithViews deletes partitions of a table with a view: one that is too large for that, and one that is
// not.
func TestDeletionsWithViews(t *testing.T) {
	s := open(t, "", Options{})
	defer closeStore(t, s)
	base := newTable(t, "base", "k int", "c int", "")
	view := viewOf(base, newTable(t, "byc", "c int", "k int", ""))
	define(t, s, base)
	const many = maxViewRows + 1
	for k, n := range []int{many, 10} {
		for c := 0; c < n; {
			m := NewMutation(base, types.EncodeInt(int32(k)))
			for end := min(c+5000, n); c < end; c++ {
				m.Row([][]byte{types.EncodeInt(int32(c))})
				m.Mark(1, Expiry{})
			}
			if err := apply(s, m); err != nil {
				t.Fatal(err)
			}
		}
	}
	define(t, s, view)
	waitForIndexes(t, s)
	remove := func(k int32) error {
		m := NewMutation(base, types.EncodeInt(k))
		m.DeletePartition(2)
		return apply(s, m)
	}
	if err := remove(0); err == nil || !strings.Contains(err.Error(), "more than 65536 rows") {
		t.Errorf("deleting %d rows: %v", many, err)
	}
	if err := remove(1); err != nil {
		t.Error(err)
	}
	for _, table := range []*schema.Table{base, view} {
		if n := len(readRows(t, s, &Read{Table: table})); n != many {
			t.Errorf("%s has %d rows, want %d", table.Name, n, many)
		}
	}
	if _, found := verifyAll(t, s); len(found) > 0 {
		t.Errorf("%q", found)
	}
}
