package store

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/rows"
	"github.com/cqld/cqld/store/tombstones"
)

// fuzzTable has columns of all kinds, as far as stored rows know any: cells, parts of each sort, counters.
func fuzzTable(t testing.TB) *schema.Table {
	spec := *newTable(t, "t", "k int", "c int, d decimal desc",
		"s text static, l list<text>, m map<int:text>, n counter, q set<decimal>, u text, y set<int>")
	user := &types.UserType{Name: "t", Fields: []types.Field{{Name: "a", Type: types.Text}, {Name: "b", Type: types.Text}}}
	spec.Columns = append(slices.Clone(spec.Columns), &schema.Column{Name: "z", Type: user, Kind: schema.Regular})
	return schema.NewTable(spec)
}

// addRows gives a fuzz target rows as they are stored to begin with.
func addRows(f *testing.F, add func(row []byte)) {
	table := newTable(f, "t", "k int", "c int", "u text, v text, w map<blob:text>, x text")
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		add(randomRow(r, table))
	}
	table = fuzzTable(f)
	m := NewMutation(table, types.EncodeInt(1))
	m.At(7)
	m.Row([][]byte{types.EncodeInt(1), {0, 0, 0, 1, 5}})
	m.Mark(9, Expiry{TTL: 3, At: 12})
	for i, c := range table.Regular {
		switch {
		case c.Type == types.Counter:
			m.Add(c, 5, 9)
		case types.IsMultiCell(c.Type):
			m.Clear(c, 4)
			m.SetPart(c, [][]byte{AppendPlace(nil, 1, 2), types.EncodeInt(3), AppendField(nil, 1)}[i%3], []byte("v"), 9,
				Expiry{})
		default:
			m.Set(c, []byte("v"), 10, Expiry{TTL: 3, At: 13})
		}
	}
	ops := m.appendOps(nil, 1)
	add(ops[0].Value)
}

// decoded is all that a row's value says.
func decoded(value []byte) (h rows.Head, cells []rows.Cell, err error) {
	var r rows.Reader
	if err := r.ReadHead(value); err != nil {
		return h, nil, err
	}
	for r.ReadCell() {
		cells = append(cells, r.Cell)
	}
	return r.Head, cells, r.Err
}

func encoded(h rows.Head, cells []rows.Cell) []byte {
	w := rows.Writer{Head: h}
	for i := range cells {
		w.WriteCell(&cells[i])
	}
	return w.Finish()
}

// FuzzRow reads, folds, counts and purges what may be a row or not: an error, never a panic, and what is read is
// written again as it was.
func FuzzRow(f *testing.F) {
	addRows(f, func(row []byte) { f.Add(row) })
	table := fuzzTable(f)
	key := rows.AppendPartition(nil, table, 0, types.EncodeInt(1))
	static := append(bytes.Clone(key), rows.KindStatic)
	row := rows.AppendClustering(append(bytes.Clone(key), rows.KindRow), table,
		[][]byte{types.EncodeInt(1), {0, 0, 0, 1, 5}})
	f.Fuzz(func(t *testing.T, value []byte) {
		h, cells, err := decoded(value)
		if len(cells) > len(value) {
			t.Fatalf("%d cells", len(cells))
		}
		if err == nil {
			again := encoded(h, cells)
			h2, cells2, err := decoded(again)
			same := slices.EqualFunc(cells, cells2, func(a, b rows.Cell) bool {
				return bytes.Equal(a.Path, b.Path) && bytes.Equal(a.Value, b.Value) && a.Column == b.Column &&
					a.Deleted == b.Deleted && a.Counter == b.Counter && a.Timestamp == b.Timestamp && a.Expiry == b.Expiry
			})
			if err != nil || !same || h2.Marker != h.Marker || h2.Deletion.Timestamp != h.Deletion.Timestamp ||
				!bytes.Equal(encoded(h2, cells2), again) {
				t.Fatalf("%x is read as %v %v, written as %x and read as %v %v, error %v", value, h, cells, again, h2, cells2, err)
			}
		}
		refuses := func(what string, got error) {
			if (got == nil) != (err == nil) {
				t.Fatalf("%s: error %v of a row with error %v", what, got, err)
			}
		}
		_, got := rows.FoldRows(value, value)
		refuses("fold", got)
		_, _, got = (&rows.Purger{Now: 100, Grace: 10, Table: table}).Purge(value, rows.Tombstone{Timestamp: 2})
		refuses("purge", got)
		_, _, got = rows.NextPurge(value, 10, 100)
		refuses("estimate", got)
		if totals, err := rows.CounterTotals(value); err == nil {
			_, _ = rows.AddToTotals(value, totals)
		}
		rd := newReader()
		rd.prepare(context.Background(), new(core), &Read{Table: table, Now: 100, Meta: true}, 0,
			func(*Row) (bool, error) { return true, nil })
		read := rd.readSnapshot(sortedRows{{Key: static, Value: value}, {Key: row, Value: value}})
		if err != nil && len(cells) == 0 && read == nil {
			t.Fatalf("a row with error %v is read", err)
		}
	})
}

// lawful is a row with the cells of another, as far as a table can have such cells together: a column has one cell, or
// a counter, or parts and a tombstone of all.
func lawful(value []byte) []byte {
	h, cells, _ := decoded(value)
	if len(h.Clustering) == 0 {
		h.Clustering = nil
	}
	for i := range cells {
		c := &cells[i]
		c.Counter = c.Column%3 == 1
		if c.Column%3 != 2 {
			c.Path = nil
		} else if c.Path == nil {
			c.Deleted = true
		}
		if c.Counter {
			c.Value = append(bytes.Clone(c.Value), make([]byte, rows.TotalSize)...)[:rows.TotalSize]
			c.Expiry.TTL, c.Expiry.At = 0, 0
		}
		if c.Deleted {
			c.Value, c.Expiry.TTL = nil, 0
		}
	}
	m := Mutation{head: h, cells: cells, elements: true}
	m.normalize()
	return encoded(m.head, m.cells)
}

// FuzzFold checks the laws of folding, and that a purge takes out all that it may at once.
func FuzzFold(f *testing.F) {
	var seeds [][]byte
	addRows(f, func(row []byte) { seeds = append(seeds, row) })
	for i := range seeds {
		f.Add(seeds[i], seeds[(i+7)%len(seeds)], seeds[(i+11)%len(seeds)])
	}
	f.Fuzz(func(t *testing.T, x, y, z []byte) {
		a, b, c := lawful(x), lawful(y), lawful(z)
		fold := func(x, y []byte) []byte { return mustFold(t, x, y) }
		same := func(law string, x, y []byte) {
			if !bytes.Equal(x, y) {
				t.Fatalf("not %s: %x %x %x gives %x and %x", law, a, b, c, x, y)
			}
		}
		same("commutative", fold(a, b), fold(b, a))
		same("associative", fold(fold(a, b), c), fold(a, fold(b, c)))
		same("idempotent", fold(a, a), a)
		same("absorbing", fold(fold(a, b), b), fold(a, b))
		p := rows.Purger{Now: 100, Grace: 10, Table: new(schema.Table)}
		kept, less, err := p.Purge(a, rows.Tombstone{Timestamp: 1, Second: 95})
		if err != nil || !less && !bytes.Equal(kept, a) {
			t.Fatalf("a purge of %x leaves %x: %v", a, kept, err)
		}
		if kept == nil {
			return
		}
		if again, less, err := p.Purge(kept, rows.Tombstone{Timestamp: 1, Second: 95}); err != nil || less ||
			!bytes.Equal(again, kept) {
			t.Fatalf("a purge of %x leaves %x, and another %x: %v", a, kept, again, err)
		}
	})
}

// FuzzKeys reads a table with a damaged key among its rows, and one among its tombstones.
func FuzzKeys(f *testing.F) {
	table := fuzzTable(f)
	key := rows.AppendPartition(nil, table, 0, types.EncodeInt(1))
	start := rows.AppendStart(nil, table, [][]byte{types.EncodeInt(1)}, false)
	f.Add(rows.AppendClustering([]byte{rows.KindRow}, table, [][]byte{types.EncodeInt(1), {0, 0, 0, 1, 5}}), []byte{1, 2})
	f.Add(append(rows.AppendEscaped(nil, start), rows.KindRow+1), rows.Tombstone{Timestamp: 5, Second: 6}.Append(nil))
	f.Fuzz(func(t *testing.T, end, value []byte) {
		var d tombstones.Reader
		var c tombstones.Cursor
		deletion := append(bytes.Clone(key), end...)
		rows.SetArea(deletion, 0, rows.AreaTombstones)
		stored := sortedRows{{Key: deletion, Value: value}, {Key: append(deletion, 'x'), Value: value}}
		d.Begin(tombstones.Unknown)
		if err := d.Load(stored, key); err == nil {
			d.Over(end)
		}
		c.Begin(stored, 0, key, nil)
		if err := c.Load(&d.PartitionTombstones, key); err == nil {
			d.Over(end)
		}
		_, _ = rows.AppendRowsPrefix(nil, deletion)
		for n := range len(key) + 1 {
			rd := newReader()
			read := &Read{Table: table, Now: 100}
			rd.prepare(context.Background(), new(core), read, 0, func(*Row) (bool, error) { return true, nil })
			key := append(key[:max(n, rows.AreaSize):max(n, rows.AreaSize)], end...)
			_ = rd.readSnapshot(sortedRows{{Key: key, Value: value}})
		}
	})
}
