package store

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/rows"
)

// randomRow is a row's value as a mutation would write it: few columns, timestamps and values, so that
// ties are common.
func randomRow(r *rand.Rand, table *schema.Table) []byte {
	m := NewMutation(table, types.EncodeInt(1))
	m.Row([][]byte{types.EncodeInt(1)})
	expiry := func() Expiry {
		if r.IntN(2) == 0 {
			return Expiry{}
		}
		return Expiry{TTL: int32(1 + r.IntN(2)), At: int64(1 + r.IntN(2))}
	}
	for len(m.spans) == 0 {
		m.At(int64(r.IntN(3)))
		if r.IntN(3) == 0 {
			m.Mark(int64(r.IntN(3)-1), expiry())
		}
		if r.IntN(4) == 0 {
			m.DeleteRow(int64(r.IntN(3) - 1))
		}
		for range r.IntN(5) {
			c := table.Regular[r.IntN(len(table.Regular))]
			ts := int64(r.IntN(3) - 1)
			value, e := []byte(strings.Repeat("x", r.IntN(3))), expiry()
			if r.IntN(3) == 0 {
				value, e = nil, Expiry{}
			}
			switch {
			case !types.IsMultiCell(c.Type):
				m.Set(c, value, ts, e)
			case r.IntN(4) == 0:
				m.Clear(c, ts)
			default:
				m.SetPart(c, []byte(strings.Repeat("\x00", r.IntN(3))), value, ts, e)
			}
		}
		m.endRow()
		if len(m.spans) == 0 {
			m.Row([][]byte{types.EncodeInt(1)})
		}
	}
	return bytes.Clone(m.buf[m.spans[0].value:m.spans[0].end])
}

// mustFold folds the values of a row.
func mustFold(t testing.TB, x, y []byte) []byte {
	t.Helper()
	value, err := rows.FoldRows(x, y)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// TestFoldLaws checks that folding does not depend on order, grouping or repetition.
func TestFoldLaws(t *testing.T) {
	table := newTable(t, "t", "k int", "c int", "u text, v text, w map<blob:text>, x text")
	r := rand.New(rand.NewPCG(1, 2))
	f := func(x, y []byte) []byte { return mustFold(t, x, y) }
	for range 20000 {
		a, b, c := randomRow(r, table), randomRow(r, table), randomRow(r, table)
		for name, pair := range map[string][2][]byte{
			"commutative": {f(a, b), f(b, a)},
			"associative": {f(f(a, b), c), f(a, f(b, c))},
			"idempotent":  {f(a, a), a},
			"absorbing":   {f(f(a, b), b), f(a, b)},
		} {
			if !bytes.Equal(pair[0], pair[1]) {
				t.Fatalf("not %s: %x %x %x gives %x and %x", name, a, b, c, pair[0], pair[1])
			}
		}
	}
}

// TestFoldedCells checks what is folded cell by cell: of each cell the winner, and the bytes that a writer gives.
func TestFoldedCells(t *testing.T) {
	table := newTable(t, "t", "k int", "c int", "u text, v text, x text, y text")
	r := rand.New(rand.NewPCG(5, 6))
	read := func(value []byte) (rows.Head, map[uint32]rows.Cell) {
		var in rows.Reader
		if err := in.ReadHead(value); err != nil {
			t.Fatal(err)
		}
		cells := map[uint32]rows.Cell{}
		for in.ReadCell() {
			cells[in.Cell.Column] = in.Cell
		}
		if in.Err != nil {
			t.Fatal(in.Err)
		}
		return in.Head, cells
	}
	for range 20000 {
		a, b := randomRow(r, table), randomRow(r, table)
		_, cells := read(a)
		_, others := read(b)
		for column, c := range others {
			if o, both := cells[column]; both {
				c = o.Unite(&c)
			}
			cells[column] = c
		}
		got := mustFold(t, a, b)
		head, _ := read(got)
		w := rows.Writer{Head: head}
		for _, c := range table.Regular {
			if cell, there := cells[c.ID]; there && cell.Timestamp > head.Deletion.Timestamp {
				w.WriteCell(&cell)
			}
		}
		if want := w.Finish(); !bytes.Equal(got, want) {
			t.Fatalf("%x and %x give %x, not %x", a, b, got, want)
		}
	}
}

// TestDamagedRows decodes what is not a row: an error, never a panic or an endless loop.
func TestDamagedRows(t *testing.T) {
	table := newTable(t, "t", "k int", "c int", "u text, v text, w map<blob:text>")
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		row := randomRow(r, table)
		row[r.IntN(len(row))] = byte(r.Uint32())
		row = row[:r.IntN(len(row)+1)]
		var reader rows.Reader
		if reader.ReadHead(row) == nil {
			for n := 0; reader.ReadCell(); n++ {
				if n > len(row) {
					t.Fatalf("%x has more cells than bytes", row)
				}
			}
		}
	}
}
