package store

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
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
	value, err := foldRows(x, y)
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

// TestDamagedRows decodes what is not a row: an error, never a panic or an endless loop.
func TestDamagedRows(t *testing.T) {
	table := newTable(t, "t", "k int", "c int", "u text, v text, w map<blob:text>")
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		row := randomRow(r, table)
		row[r.IntN(len(row))] = byte(r.Uint32())
		row = row[:r.IntN(len(row)+1)]
		var reader rowReader
		if reader.begin(row) == nil {
			for n := 0; reader.next(); n++ {
				if n > len(row) {
					t.Fatalf("%x has more cells than bytes", row)
				}
			}
		}
	}
}

// event is one write of a history, as the model below understands it.
type event struct {
	kind   string // mark, set, part, clear, row, range, partition
	static bool
	c      int // the row
	from   int // of a range, inclusive; to is exclusive
	to     int
	column *schema.Column
	part   int32 // the key in a map
	value  []byte
	ts     int64
	expiry Expiry
}

func (e *event) apply(m *Mutation) {
	m.At(e.ts % 3)
	switch e.kind {
	case "partition":
		m.DeletePartition(e.ts)
		return
	case "range":
		m.DeleteRange(Slice{
			Start: [][]byte{types.EncodeInt(int32(e.from))}, StartInclusive: true,
			End: [][]byte{types.EncodeInt(int32(e.to))},
		}, e.ts)
		return
	}
	if e.static {
		m.Static()
	} else {
		m.Row([][]byte{types.EncodeInt(int32(e.c))})
	}
	switch e.kind {
	case "mark":
		m.Mark(e.ts, e.expiry)
	case "set":
		m.Set(e.column, e.value, e.ts, e.expiry)
	case "part":
		m.SetPart(e.column, types.EncodeInt(e.part), e.value, e.ts, e.expiry)
	case "clear":
		m.Clear(e.column, e.ts)
	case "row":
		m.DeleteRow(e.ts)
	}
}

const modelRows = 4

func randomEvent(r *rand.Rand, t *schema.Table) event {
	e := event{ts: int64(r.IntN(6)), c: r.IntN(modelRows), static: r.IntN(5) == 0}
	if r.IntN(3) == 0 {
		e.expiry = Expiry{TTL: 5, At: int64(100 + r.IntN(4))}
	}
	switch n := r.IntN(20); {
	case n < 3:
		e.kind, e.static = "mark", false
	case n < 4:
		e.kind, e.static = "row", false
	case n < 5:
		e.kind, e.from = "range", r.IntN(modelRows)
		e.to = e.from + r.IntN(3)
	case n < 6 && r.IntN(3) == 0:
		e.kind = "partition"
	default:
		e.kind = "set"
		columns := t.Regular
		if e.static {
			columns = t.Static
		}
		e.column = columns[r.IntN(len(columns))]
		if r.IntN(4) > 0 {
			e.value = []byte{'a' + byte(r.IntN(3))}
		} else {
			e.expiry = Expiry{}
		}
		if types.IsMultiCell(e.column.Type) {
			e.kind, e.part = "part", int32(r.IntN(3)-1)
			if r.IntN(5) == 0 {
				e.kind = "clear"
			}
		}
	}
	return e
}

// modelRow is what one row of the partition looks like after the events, by the rules as they are told:
// deletions first, then for each column the winner among what is left. "" means no row.
func modelRow(t *schema.Table, events []event, static bool, c int, now int64) string {
	deletion := int64(-1)
	for _, e := range events {
		hides := e.kind == "partition" ||
			!static && (e.kind == "row" && e.c == c || e.kind == "range" && e.from <= c && c < e.to)
		if hides {
			deletion = max(deletion, e.ts)
		}
	}
	live, columns := false, t.Regular
	if static {
		columns = t.Static
	}
	text := ""
	for _, col := range columns {
		if types.IsMultiCell(col.Type) {
			if parts := modelParts(events, col, static, c, deletion, now); parts != "" {
				live, text = true, text+" "+col.Name+"="+parts
			}
			continue
		}
		winner := modelWinner(events, deletion, func(e *event) bool {
			return e.kind == "set" && e.column == col && (static || e.c == c)
		})
		if winner.lives(now) {
			live = true
			text += fmt.Sprintf(" %s=%s", col.Name, winner.value)
		}
	}
	if !static {
		winner := modelWinner(events, deletion, func(e *event) bool { return e.kind == "mark" && e.c == c })
		live = live || winner != nil && (winner.expiry.At == 0 || now < winner.expiry.At)
	}
	if !live {
		return ""
	}
	if static {
		return "static" + text
	}
	return fmt.Sprintf("%d%s", c, text)
}

// modelWinner is the event that wins among those meant which are later than a deletion.
func modelWinner(events []event, deletion int64, meant func(*event) bool) (winner *event) {
	for i := range events {
		e := &events[i]
		if meant(e) && e.ts > deletion && (winner == nil || modelBeats(e, winner)) {
			winner = e
		}
	}
	return winner
}

// lives reports whether the winner of a column has a value.
func (e *event) lives(now int64) bool {
	return e != nil && e.value != nil && (e.expiry.At == 0 || now < e.expiry.At)
}

// modelParts is a map as its parts and the deletions of all of it make it; "" if it has none.
func modelParts(events []event, col *schema.Column, static bool, c int, deletion, now int64) (text string) {
	for _, e := range events {
		if e.kind == "clear" && e.column == col && (static || e.c == c) {
			deletion = max(deletion, e.ts)
		}
	}
	for part := int32(-1); part < 3; part++ {
		winner := modelWinner(events, deletion, func(e *event) bool {
			return e.kind == "part" && e.column == col && e.part == part && (static || e.c == c)
		})
		if winner.lives(now) {
			text += fmt.Sprintf("%d:%s;", part, winner.value)
		}
	}
	return text
}

// modelBeats is the table of the specification, step by step.
func modelBeats(a, b *event) bool {
	if a.ts != b.ts {
		return a.ts > b.ts
	}
	tombstone := func(e *event) bool { return e.kind != "mark" && e.value == nil }
	plain := func(e *event) bool { return !tombstone(e) && e.expiry.At == 0 }
	if plain(a) != plain(b) {
		return plain(b)
	}
	if tombstone(a) != tombstone(b) {
		return tombstone(a)
	}
	if a.expiry.At != b.expiry.At {
		return a.expiry.At > b.expiry.At
	}
	return bytes.Compare(a.value, b.value) > 0
}

// TestReconciliation writes random histories in several orders and groupings, and compares what reads
// give with the model at several times.
func TestReconciliation(t *testing.T) {
	s := open(t, "", Options{})
	defer closeStore(t, s)
	define(t, s, newTable(t, "t", "k int", "c int", "s text static, u text, v map<int:text>, w text, x map<int:text> static"))
	table := s.Catalog().Table("ks", "t")
	r := rand.New(rand.NewPCG(5, 6))
	partition := int32(0)
	for range 150 {
		events := make([]event, 1+r.IntN(25))
		for i := range events {
			events[i] = randomEvent(r, table)
		}
		for range 3 {
			r.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
			partition++
			key := types.EncodeInt(partition)
			writeHistory(t, s, r, table, key, events)
			for _, now := range []int64{99, 101, 103, 200} {
				compareWithModel(t, s, table, key, events, now)
			}
		}
	}
}

// TestPurgeIsNotSeen sweeps between the writes of random histories. With time to wait for late writes nothing that is
// read later may differ; without, nothing that is read at once.
func TestPurgeIsNotSeen(t *testing.T) {
	var c clock
	s := open(t, "", Options{Now: c.now})
	defer closeStore(t, s)
	spec := newTable(t, "t", "k int", "c int", "s text static, u text, v map<int:text>, w text, x map<int:text> static")
	patient, hasty := *spec, *spec
	patient.Name, patient.ID[0], patient.Options.GCGraceSeconds = "patient", 1, 1000
	hasty.Name, hasty.ID[0] = "hasty", 2
	define(t, s, schema.NewTable(patient), schema.NewTable(hasty))
	r := rand.New(rand.NewPCG(9, 10))
	for partition := range int32(300) {
		key := types.EncodeInt(partition)
		for _, name := range []string{"patient", "hasty"} {
			table := s.Catalog().Table("ks", name)
			var events []event
			now := int64(99)
			for range 1 + r.IntN(4) {
				more := make([]event, 1+r.IntN(6))
				for i := range more {
					more[i] = randomEvent(r, table)
				}
				events = append(events, more...)
				writeHistory(t, s, r, table, key, more)
				c.micros.Store(now * 1e6)
				s.usages.drop(uint32(table.StoreID))
				if err := s.Sweep(context.Background()); err != nil {
					t.Fatal(err)
				}
				compareWithModel(t, s, table, key, events, now)
				now++
				if name == "hasty" {
					break // a write that comes late may show
				}
			}
		}
	}
}

// writeHistory applies the events in their order, some of them together.
func writeHistory(t *testing.T, s *Store, r *rand.Rand, table *schema.Table, key []byte, events []event) {
	for rest := events; len(rest) > 0; {
		n := 1 + r.IntN(min(3, len(rest)))
		var ms []*Mutation
		for i := range rest[:n] {
			if i == 0 || r.IntN(2) == 0 {
				ms = append(ms, NewMutation(table, key))
			}
			rest[i].apply(ms[len(ms)-1])
		}
		if err := apply(s, ms...); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
}

// modelText is a value as the model prints it.
func modelText(c *schema.Column, value []byte) (text string) {
	if !types.IsMultiCell(c.Type) {
		return string(value)
	}
	for k, v := range types.Entries(value) {
		text += fmt.Sprintf("%d:%s;", types.DecodeInt(k), v)
	}
	return text
}

func compareWithModel(t *testing.T, s *Store, table *schema.Table, key []byte, events []event, now int64) {
	t.Helper()
	var want []string
	if row := modelRow(table, events, true, 0, now); row != "" {
		want = append(want, row)
	}
	for c := range modelRows {
		if row := modelRow(table, events, false, c, now); row != "" {
			want = append(want, row)
		}
	}
	var got []string
	err := s.Read(context.Background(), &Read{Table: table, Keys: [][]byte{key}, Now: now}, func(row *Row) (bool, error) {
		text := "static"
		columns := table.Static
		if !row.Static {
			text = fmt.Sprint(types.DecodeInt(row.Values[table.Clustering[0].Index]))
			columns = table.Regular
		}
		for _, c := range columns {
			if v := row.Values[c.Index]; v != nil {
				text += " " + c.Name + "=" + modelText(c, v)
			}
		}
		got = append(got, text)
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("at %d the history\n%+v\nreads %q, the model says %q", now, events, got, want)
	}
}
