package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/analysis"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/rows"
)

const sasi = "org.apache.cassandra.index.sasi.SASIIndex"

// termIndexes are indexes of text in all modes, and others whose values have terms.
func termIndexes() []*schema.Index {
	index := func(column, class string, options ...string) *schema.Index {
		x := &schema.Index{Name: column, Class: class, Targets: []schema.IndexTarget{{Column: column}}}
		for i := 0; i < len(options); i += 2 {
			if x.Options == nil {
				x.Options = map[string]string{}
			}
			x.Options[options[i]] = options[i+1]
		}
		return x
	}
	analyzer := func(name string) string { return "org.apache.cassandra.index.sasi.analyzer." + name }
	list := index("l", "StorageAttachedIndex", "case_sensitive", "false")
	list.Targets[0].Part = schema.IndexValues
	return []*schema.Index{
		index("prefix", sasi),
		index("inside", sasi, "mode", "CONTAINS"),
		index("folded", sasi, "mode", "CONTAINS", "analyzer_class", analyzer(schema.NonTokenizingAnalyzer),
			"case_sensitive", "false"),
		index("words", sasi, "mode", "CONTAINS", "analyzer_class", analyzer(schema.DelimiterAnalyzer), "delimiter", "b"),
		index("standard", sasi, "mode", "CONTAINS", "analyzer_class", analyzer(schema.StandardAnalyzer),
			"tokenization_normalize_lowercase", "true"),
		index("stems", sasi, "analyzer_class", analyzer(schema.StandardAnalyzer), "tokenization_enable_stemming", "true",
			"tokenization_locale", "en"),
		index("n", sasi),
		index("s", sasi, "mode", "CONTAINS"),
		index("e", "StorageAttachedIndex", "case_sensitive", "false"),
		index("a", "StorageAttachedIndex"),
		list,
	}
}

// termWriter writes text at random.
type termWriter struct {
	*indexWriter
	most int // bytes of a text
}

func (w *termWriter) text() []byte {
	n := w.rand.IntN(24)
	if w.rand.IntN(40) == 0 {
		n = w.rand.IntN(w.most)
	}
	if w.rand.IntN(4) == 0 {
		var b []byte
		for range n / 4 {
			b = append(b, []string{"running ", "Boxed, ", "boxes", "run", " runs"}[w.rand.IntN(5)]...)
		}
		return b
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = "aabbcAB\x00"[w.rand.IntN(8)]
	}
	return b
}

func (w *termWriter) address() []byte {
	if b := []byte{127, 0, 0, byte(w.rand.IntN(3))}; w.rand.IntN(2) == 0 {
		return b
	} else {
		return append(append(make([]byte, 10), 0xff, 0xff), b...)
	}
}

func (w *termWriter) value(c *schema.Column) []byte {
	switch c.Type {
	case types.Int:
		return w.number(50)
	case types.Inet:
		return w.address()
	}
	text := w.text()
	if c.Name == "standard" || c.Name == "stems" {
		text = text[:min(len(text), 100)] // finding words takes long under the race detector
	}
	return text
}

func (w *termWriter) write() {
	table := w.table()
	m := NewMutation(table, w.number(20))
	m.At(w.s.Now().Unix())
	w.ts++
	switch w.rand.IntN(20) {
	case 0:
		m.DeletePartition(w.ts)
	case 1:
		m.Static()
		m.Set(table.Column("s"), w.text(), w.ts, w.expiry())
	case 2:
		m.Row([][]byte{w.number(5)})
		m.DeleteRow(w.ts)
	default:
		m.Row([][]byte{w.number(5)})
		m.Mark(w.ts, Expiry{})
		for _, c := range table.Regular {
			if w.rand.IntN(2) > 0 {
				continue
			}
			if _, isList := c.Type.(*types.List); isList {
				m.SetPart(c, AppendPlace(nil, w.rand.Int64N(3), 1), w.text(), w.ts, w.expiry())
			} else {
				m.Set(c, w.maybe(w.value(c)), w.ts, w.expiry())
			}
		}
	}
	if err := apply(w.s, m); err != nil {
		w.t.Fatal(err)
	}
}

// lookup is what an index is asked for, and whether a row has it.
func (w *termWriter) lookup(x *schema.Index) (index.Lookup, func(row [][]byte) bool) {
	c := w.table().Column(x.Column())
	mode := x.SASIMode(c)
	l := index.Lookup{Index: x}
	switch {
	case x.Kind() == schema.SASI && mode.Literal:
		part := slices.Clone(w.text())
		if n := len(part); n > 0 {
			part = part[:1+w.rand.IntN(n)]
		}
		terms := analysis.ForSASI(mode, part)
		if len(terms) == 0 {
			terms = [][]byte{[]byte("a")}
		}
		l.Value = terms[0]
		matches := []func(term, part []byte) bool{bytes.Equal, bytes.HasPrefix, bytes.HasSuffix, bytes.Contains}
		if mode.Mode == "PREFIX" {
			matches = matches[:2]
		}
		l.Match = index.Match(w.rand.IntN(len(matches)))
		return l, func(row [][]byte) bool {
			return slices.ContainsFunc(analysis.ForSASI(mode, row[c.Index]), func(term []byte) bool {
				return len(term) < analysis.MaxSASITerm && matches[l.Match](term, l.Value)
			})
		}
	case x.Kind() == schema.SASI, c.Type == types.Inet && w.rand.IntN(2) == 0:
		l.Ranged, l.From, l.To = true, w.maybe(w.value(c)), w.maybe(w.value(c))
	default:
		l.Value = w.value(c)
	}
	of, _ := schema.IndexedType(c, x.Part())
	term, compare := analysis.ForSAI(x, of), bytes.Compare
	if x.Kind() == schema.SASI {
		term, compare = func(b []byte) []byte { return b }, of.Compare
	}
	for _, v := range []*[]byte{&l.Value, &l.From, &l.To} {
		if *v != nil {
			*v = term(*v)
		}
	}
	holds := func(v []byte) bool {
		if v == nil {
			return false
		}
		v = term(v)
		if !l.Ranged {
			return compare(v, l.Value) == 0
		}
		return (l.From == nil || compare(v, l.From) >= 0) && (l.To == nil || compare(v, l.To) <= 0)
	}
	return l, func(row [][]byte) bool {
		v := row[c.Index]
		if _, isList := c.Type.(*types.List); !isList {
			return holds(v)
		}
		if v == nil {
			return false
		}
		for e := range types.Elements(v) {
			if holds(e) {
				return true
			}
		}
		return false
	}
}

// readBoth reads through indexes and without them, and compares the rows that are asked for.
func (w *termWriter) readBoth() {
	table := w.table()
	r := Read{Table: table, Now: w.s.Now().Unix()}
	var wanted []func([][]byte) bool
	for range 1 + w.rand.IntN(2) {
		l, has := w.lookup(table.Indexes[w.rand.IntN(len(table.Indexes))])
		r.Lookups, wanted = append(r.Lookups, l), append(wanted, has)
	}
	if w.rand.IntN(4) == 0 {
		r.Keys = [][]byte{w.number(20)}
	}
	without := r
	without.Lookups = nil
	got, want := w.rowsOf(&r, wanted), w.rowsOf(&without, wanted)
	if !slices.EqualFunc(got, want, sameRow) {
		w.t.Fatalf("%s match %d\nthrough an index: %s\nwithout it:       %s", describeLookups(r.Lookups), r.Lookups[0].Match,
			texts(got), texts(want))
	}
}

// checkEntries compares the entries that are stored with those that the rows have. An expired cell has lost its value
// and may have one of an empty value that was never written.
func (w *termWriter) checkEntries() {
	id := uint32(w.table().StoreID)
	var maker index.Maker
	for _, x := range w.s.state.Load().indexes[id] {
		had, stored := map[string]bool{}, 0
		area := rows.AppendArea(nil, id, rows.AreaRows)
		err := w.s.engine.Scan(area, rows.Successor(bytes.Clone(area)), engine.ScanOptions{},
			func(key, value []byte) (bool, error) {
				return true, maker.EachEntry(x, key, rows.PartitionPrefixLength(key), value, func(entry []byte) bool {
					had[string(index.EntryOp(entry, key).Key)] = true
					return true
				})
			})
		if err != nil {
			w.t.Fatal(err)
		}
		area = rows.AppendArea(nil, x.ID, rows.AreaRows)
		err = w.s.engine.Scan(area, rows.Successor(bytes.Clone(area)), engine.ScanOptions{},
			func(key, _ []byte) (bool, error) {
				if !had[string(key)] {
					w.t.Errorf("no row has the entry %q of the index of %s", key, x.Column.Name)
				}
				delete(had, string(key))
				stored++
				return true, nil
			})
		if err != nil {
			w.t.Fatal(err)
		}
		empty := string(x.AppendValue(nil, x.AppendTerm(nil, nil)))
		for key := range had {
			if !strings.HasPrefix(key, empty) {
				w.t.Errorf("the index of %s has no entry %q", x.Column.Name, key)
			}
		}
		if stored == 0 {
			w.t.Errorf("the index of %s has no entries", x.Column.Name)
		}
	}
}

// TestReadThroughTerms writes text and compares reads through indexes that analyze it with reads without them.
func TestReadThroughTerms(t *testing.T) {
	for _, most := range []int{900, 4 * index.MaxTerms} { // with longer texts some rows have too many terms
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			c := new(clock)
			c.micros.Store(1_700_000_000_000_000)
			s := open(t, "", Options{Now: c.now, SweepEvery: time.Hour})
			defer closeStore(t, s)
			spec := *newTable(t, "indexed", "p int", "c int",
				"s text static, prefix text, inside text, folded text, words text, standard text, stems text, n int, e text, "+
					"a inet, l list<text>")
			spec.Options.GCGraceSeconds = 5
			define(t, s, schema.NewTable(spec))
			w := &termWriter{newIndexWriter(t, s, c, uint64(most)), most}
			for range 300 {
				w.write()
			}
			err := s.Define(func(c *schema.Catalog) (*schema.Catalog, error) {
				spec := *c.Table("ks", "indexed")
				spec.Indexes = termIndexes()
				return c.WithTable(schema.NewTable(spec)), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			waitForIndexes(t, s)
			w.read = [2]int{}
			for step := range sized(200, 600) {
				w.write()
				w.readBoth()
				switch step % 200 {
				case 99:
					c.micros.Add(w.rand.Int64N(10_000_000))
				case 199:
					if err := s.Sweep(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
			}
			if w.read[1] > w.read[0]/2 {
				t.Errorf("%d rows are read through indexes, and %d without them", w.read[1], w.read[0])
			}
			id := uint32(w.table().StoreID)
			sweep := sweep{sweeper: &s.sweeper, id: id, table: w.table(), usage: s.usages.Of(id)}
			if err := sweep.sweepTable(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.checkEntries()
		})
	}
}

// TestLongPatterns finds one row among many by patterns of all lengths, through an index that compares few rows.
func TestLongPatterns(t *testing.T) {
	s := open(t, "", Options{})
	defer closeStore(t, s)
	spec := *newTable(t, "indexed", "p int", "", "inside text")
	spec.Indexes = termIndexes()[1:2]
	define(t, s, schema.NewTable(spec))
	waitForIndexes(t, s)
	table := s.Catalog().Table("ks", "indexed")
	text := func(i int) string {
		r := rand.New(rand.NewPCG(uint64(i), 1))
		var b strings.Builder
		for range 40 {
			b.WriteByte(byte('a' + r.IntN(26)))
		}
		return b.String()
	}
	const n = 2000
	for i := range n {
		m := NewMutation(table, types.EncodeInt(int32(i)))
		m.Row(nil)
		m.Set(table.Column("inside"), []byte(text(i)), 1, Expiry{})
		if err := apply(s, m); err != nil {
			t.Fatal(err)
		}
	}
	for length := 5; length <= 40; length++ {
		i := length * 31 % n
		at := text(i)
		for match, part := range map[index.Match]string{
			index.MatchBeginning: at[:length], index.MatchEnd: at[40-length:], index.MatchInside: at[(40-length)/2:][:length],
		} {
			r := Read{Table: table, Lookups: []index.Lookup{{Index: table.Indexes[0], Value: []byte(part), Match: match}}}
			if got := readRows(t, s, &r); len(got) != 1 {
				t.Errorf("%q in way %d: %d rows are compared, want 1", part, match, len(got))
			}
		}
	}
}

// TestGatherInPortions reads ranges of which some are gone through in portions, and some by reading the table.
func TestGatherInPortions(t *testing.T) {
	s := open(t, "", Options{SweepEvery: time.Hour})
	defer closeStore(t, s)
	s.gathered = 50
	table := defineIndexedInts(t, s, "v")
	const n = 4800
	for i := range n {
		m := NewMutation(table, types.EncodeInt(int32(i)))
		m.Row(nil)
		m.Set(table.Column("v"), types.EncodeInt(int32(i)), 1, Expiry{})
		if err := apply(s, m); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 100 { // entries that are stale
		m := NewMutation(table, types.EncodeInt(int32(i*3)))
		m.Row(nil)
		m.Set(table.Column("v"), types.EncodeInt(n), 2, Expiry{})
		if err := apply(s, m); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		to, want int
		portions bool
	}{{40, 0, true}, {250, 0, true}, {299, 0, true}, {400, 0, false}, {280, 100, true}, {280, 10, false}} {
		has := func(row [][]byte) bool { return types.DecodeInt(row[1]) <= int32(test.to) }
		l := index.Lookup{Index: table.Indexes[0], Ranged: true, To: types.EncodeInt(int32(test.to))}
		r := Read{Table: table, Lookups: []index.Lookup{l}, Want: test.want}
		w := newIndexWriter(t, s, nil, 1)
		got := w.rowsOf(&r, []func([][]byte) bool{has})
		without := r
		without.Lookups = nil
		want := w.rowsOf(&without, []func([][]byte) bool{has})
		if !slices.EqualFunc(got, want, sameRow) || len(got) == 0 {
			t.Errorf("up to %d: %d rows through the index, %d without it", test.to, len(got), len(want))
		}
		if portions := w.read[1] < n; portions != test.portions {
			t.Errorf("up to %d, of which %d are wanted: %d rows are read", test.to, test.want, w.read[1])
		}
		for i := 0; i < len(want); i += 17 {
			r.After = &want[i].position
			if got := w.rowsOf(&r, []func([][]byte) bool{has}); !slices.EqualFunc(got, want[i+1:], sameRow) {
				t.Errorf("up to %d, behind row %d: %d rows, want %d", test.to, i, len(got), len(want)-i-1)
			}
		}
	}
}

// TestCrossing reads rows that have a value in each of two indexes. Rows that have one of them only are not read.
func TestCrossing(t *testing.T) {
	s := open(t, "", Options{SweepEvery: time.Hour})
	defer closeStore(t, s)
	table := defineIndexedInts(t, s, "v", "w")
	const n = 3000
	for i := range n {
		m := NewMutation(table, types.EncodeInt(int32(i)))
		m.Row(nil)
		m.Set(table.Column("v"), types.EncodeInt(int32(i%3)), 1, Expiry{})
		m.Set(table.Column("w"), types.EncodeInt(int32(i%50)), 1, Expiry{})
		if err := apply(s, m); err != nil {
			t.Fatal(err)
		}
	}
	one := types.EncodeInt(1)
	v, w := index.Lookup{Index: table.Indexes[0], Value: one}, index.Lookup{Index: table.Indexes[1], Value: one}
	ranged := index.Lookup{Index: table.Indexes[1], Ranged: true, From: one, To: one}
	for _, lookups := range [][]index.Lookup{{v, w}, {w, v}, {v, ranged}} {
		if got := readRows(t, s, &Read{Table: table, Lookups: lookups}); len(got) != n/150 {
			t.Errorf("%d rows are read, want %d", len(got), n/150)
		}
	}
	most := []index.Lookup{{Index: table.Indexes[0], Ranged: true, From: one}, {Index: table.Indexes[1], Value: one}}
	if got := readRows(t, s, &Read{Table: table, Lookups: most}); len(got) < n/50*2/3 || len(got) > n/50 {
		t.Errorf("%d rows are read, want those with the value", len(got))
	}
}
