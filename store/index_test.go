package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/rows"
)

// indexedTable has columns of all kinds that are indexed.
func indexedTable(t testing.TB) *schema.Table {
	return newTable(t, "indexed", "p int, q int", "c decimal desc, d text",
		"s text static, v int, m map<decimal:int>, l list<int>, e set<decimal>")
}

// allIndexes are indexes on it.
var allIndexes = []schema.IndexTarget{
	{Column: "q"},
	{Column: "c"},
	{Column: "d"},
	{Column: "s"},
	{Column: "v"},
	{Column: "m", Part: schema.IndexKeys},
	{Column: "m", Part: schema.IndexValues},
	{Column: "m", Part: schema.IndexEntries},
	{Column: "l", Part: schema.IndexValues},
	{Column: "e", Part: schema.IndexValues},
}

// setIndexes replaces the indexes of the table.
func setIndexes(t testing.TB, s *Store, targets []schema.IndexTarget) {
	t.Helper()
	err := s.Define(func(c *schema.Catalog) (*schema.Catalog, error) {
		spec := *c.Table("ks", "indexed")
		spec.Indexes = nil
		for _, target := range targets {
			name := target.Column + target.Part.String()
			spec.Indexes = append(spec.Indexes, &schema.Index{Name: name, Targets: []schema.IndexTarget{target}})
		}
		return c.WithTable(schema.NewTable(spec)), nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// defineIndexedInts makes a table of partitions of one row whose columns are numbers, each with an SAI index.
func defineIndexedInts(t testing.TB, s *Store, columns ...string) *schema.Table {
	t.Helper()
	spec := *newTable(t, "indexed", "p int", "", strings.Join(columns, " int, ")+" int")
	for _, column := range columns {
		spec.Indexes = append(spec.Indexes, &schema.Index{
			Name: column, Class: "StorageAttachedIndex", Targets: []schema.IndexTarget{{Column: column}},
		})
	}
	define(t, s, schema.NewTable(spec))
	waitForIndexes(t, s)
	return s.Catalog().Table("ks", "indexed")
}

// waitForIndexes waits until all indexes are built.
func waitForIndexes(t testing.TB, s *Store) {
	t.Helper()
	for s.state.Load().hasUnbuilt() {
		time.Sleep(time.Millisecond)
	}
}

func (s *state) hasUnbuilt() bool {
	for _, all := range s.indexes {
		if slices.ContainsFunc(all, func(x *index.Index) bool { return !x.Built }) {
			return true
		}
	}
	return false
}

// indexWriter writes at random to few rows with few values.
type indexWriter struct {
	t     testing.TB
	s     *Store
	clock *clock
	rand  *rand.Rand
	ts    int64
	read  [2]int // rows that were read without indexes and through them
}

func (w *indexWriter) table() *schema.Table { return w.s.Catalog().Table("ks", "indexed") }

func (w *indexWriter) number(n int) []byte { return types.EncodeInt(int32(w.rand.IntN(n))) }

// decimal is a number in one of its spellings.
func (w *indexWriter) decimal(n int) []byte {
	text := strconv.Itoa(w.rand.IntN(n))
	if w.rand.IntN(2) == 0 {
		text += ".0"
	}
	return literal(w.t, types.Decimal, text)
}

func (w *indexWriter) partition() []byte {
	return types.AppendCompositeKey(types.AppendCompositeKey(nil, w.number(3)), w.number(2))
}

func (w *indexWriter) clustering() [][]byte {
	return [][]byte{w.decimal(3), {byte('a' + w.rand.IntN(3))}}
}

func (w *indexWriter) expiry() Expiry {
	if w.rand.IntN(4) > 0 {
		return Expiry{}
	}
	ttl := int32(1 + w.rand.IntN(20))
	return Expiry{TTL: ttl, At: w.s.Now().Unix() + int64(ttl)}
}

// mutation makes one change.
func (w *indexWriter) mutation() *Mutation {
	table := w.table()
	m := NewMutation(table, w.partition())
	m.At(w.s.Now().Unix())
	w.ts += int64(w.rand.IntN(3))
	column := func(name string) *schema.Column { return table.Column(name) }
	switch w.rand.IntN(12) {
	case 0:
		m.DeletePartition(w.ts)
		return m
	case 1:
		c := w.clustering()[:1]
		m.DeleteRange(Slice{Start: c, End: c, StartInclusive: true, EndInclusive: true}, w.ts)
		return m
	case 2:
		m.Static()
		m.Set(column("s"), w.text(), w.ts, w.expiry())
		return m
	}
	m.Row(w.clustering())
	switch w.rand.IntN(8) {
	case 0:
		m.DeleteRow(w.ts)
		return m
	case 1:
		m.Clear(column("m"), w.ts)
	case 2:
		m.SetPart(column("l"), AppendPlace(nil, w.rand.Int64N(3), 1), w.maybe(w.number(3)), w.ts, w.expiry())
	case 3:
		m.SetPart(column("e"), w.decimal(3), w.maybe([]byte{}), w.ts, w.expiry())
	case 4:
		m.SetPart(column("m"), w.decimal(3), w.maybe(w.number(3)), w.ts, w.expiry())
	}
	m.Mark(w.ts, w.expiry())
	m.Set(column("v"), w.maybe(w.number(4)), w.ts, w.expiry())
	return m
}

func (w *indexWriter) maybe(value []byte) []byte {
	if w.rand.IntN(5) == 0 {
		return nil
	}
	return value
}

// text is a short or a long value.
func (w *indexWriter) text() []byte {
	return bytes.Repeat([]byte{byte('a' + w.rand.IntN(3))}, 1+w.rand.IntN(2)*2*index.LongestWhole)
}

func (w *indexWriter) write() {
	if err := apply(w.s, w.mutation()); err != nil {
		w.t.Error(err)
	}
}

// lookup is what an index is asked for, and whether a row has it.
func (w *indexWriter) lookup(x *schema.Index) (index.Lookup, func(row [][]byte) bool) {
	c := w.table().Column(x.Column())
	l := index.Lookup{Index: x}
	equal := func(t types.Type, a []byte) bool { return a != nil && t.Compare(a, l.Value) == 0 }
	elements := func(row [][]byte, t types.Type) bool {
		for e := range types.Elements(row[c.Index]) {
			if equal(t, e) {
				return true
			}
		}
		return false
	}
	switch x.Column() + x.Part().String() {
	case "q":
		l.Value = w.number(2)
	case "c":
		l.Value = w.decimal(3)
	case "d", "s":
		l.Value = w.text()
	case "v":
		l.Value = w.number(4)
	case "lvalues":
		l.Value = w.number(3)
		return l, func(row [][]byte) bool { return row[c.Index] != nil && elements(row, types.Int) }
	case "evalues":
		l.Value = w.decimal(3)
		return l, func(row [][]byte) bool { return row[c.Index] != nil && elements(row, types.Decimal) }
	default:
		l.Value = w.number(3)
		if x.Part() == schema.IndexKeys {
			l.Value = w.decimal(3)
		} else if x.Part() == schema.IndexEntries {
			l.Key = w.decimal(3)
		}
		return l, func(row [][]byte) bool {
			if row[c.Index] == nil {
				return false
			}
			for key, value := range types.Entries(row[c.Index]) {
				switch {
				case x.Part() == schema.IndexKeys && equal(types.Decimal, key):
					return true
				case x.Part() == schema.IndexValues && equal(types.Int, value):
					return true
				case x.Part() == schema.IndexEntries && types.Decimal.Compare(key, l.Key) == 0 && equal(types.Int, value):
					return true
				}
			}
			return false
		}
	}
	if w.rand.IntN(3) > 0 {
		return l, func(row [][]byte) bool { return equal(c.Type, row[c.Index]) }
	}
	l.Ranged, l.From, l.To, l.Value = true, w.maybe(l.Value), w.maybe(l.Value), nil
	return l, func(row [][]byte) bool {
		v := row[c.Index]
		return v != nil && (l.From == nil || c.Type.Compare(v, l.From) >= 0) && (l.To == nil || c.Type.Compare(v, l.To) <= 0)
	}
}

// readBoth reads through indexes and without them, and compares the rows that are asked for.
func (w *indexWriter) readBoth() {
	table := w.table()
	if len(table.Indexes) == 0 {
		return
	}
	r := Read{Table: table, Now: w.s.Now().Unix()}
	var wanted []func([][]byte) bool
	for range 1 + w.rand.IntN(2) {
		l, has := w.lookup(table.Indexes[w.rand.IntN(len(table.Indexes))])
		r.Lookups, wanted = append(r.Lookups, l), append(wanted, has)
	}
	switch w.rand.IntN(4) {
	case 0:
		r.Keys = [][]byte{w.partition()}
	case 1:
		r.Tokens = TokenRange{Bounded: true, Start: w.rand.Int64() - 1<<62, End: 1 << 62}
	}
	if w.rand.IntN(3) == 0 {
		c := w.clustering()[:1]
		r.Slices = []Slice{{Start: c, StartInclusive: true}}
	}
	rest := w.rowsOf(&r, wanted)
	without := r
	without.Lookups = nil
	all := w.rowsOf(&without, wanted)
	if !slices.EqualFunc(rest, all, sameRow) {
		w.t.Fatalf("%s\nthrough an index: %s\nwithout it:       %s", describeLookups(r.Lookups), texts(rest), texts(all))
	}
	for i := range all {
		r.After = &all[i].position
		if got := w.rowsOf(&r, wanted); !slices.EqualFunc(got, all[i+1:], sameRow) {
			w.t.Fatalf("%s behind %s\nthrough an index: %s\nwithout it:       %s", describeLookups(r.Lookups), all[i].text,
				texts(got), texts(all[i+1:]))
		}
	}
}

func describeLookups(all []index.Lookup) string {
	var b strings.Builder
	for _, l := range all {
		fmt.Fprintf(&b, "%s = %x %x; ", l.Index.Target(), l.Key, l.Value)
	}
	return b.String()
}

// foundRow is a row and its place.
type foundRow struct {
	text     string
	position Position
}

func sameRow(a, b foundRow) bool { return a.text == b.text }

func texts(all []foundRow) string {
	var b strings.Builder
	for _, r := range all {
		b.WriteString("\n  " + r.text)
	}
	return b.String()
}

// rowsOf reads the rows that are wanted, but for static ones.
func (w *indexWriter) rowsOf(r *Read, wanted []func([][]byte) bool) (found []foundRow) {
	err := w.s.Read(w.t.Context(), r, func(row *Row) (bool, error) {
		w.read[min(len(r.Lookups), 1)]++
		for _, has := range wanted {
			if row.Static || !has(row.Values) {
				return true, nil
			}
		}
		f := foundRow{formatRow(r.Table, row), Position{Partition: bytes.Clone(row.Partition)}}
		for _, c := range r.Table.Clustering {
			f.position.Clustering = append(f.position.Clustering, bytes.Clone(row.Values[c.Index]))
		}
		found = append(found, f)
		return true, nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// countEntries counts the stored entries of the table's indexes, and those that its rows have.
func (w *indexWriter) countEntries() (stored, had int) {
	state := w.s.state.Load()
	id := uint32(w.table().StoreID)
	var maker index.Maker
	for _, x := range state.indexes[id] {
		area := rows.AppendArea(nil, x.ID, rows.AreaRows)
		err := w.s.engine.Scan(area, rows.Successor(bytes.Clone(area)), engine.ScanOptions{},
			func(_, _ []byte) (bool, error) { stored++; return true, nil })
		if err != nil {
			w.t.Fatal(err)
		}
		area = rows.AppendArea(nil, id, rows.AreaRows)
		err = w.s.engine.Scan(area, rows.Successor(bytes.Clone(area)), engine.ScanOptions{},
			func(key, value []byte) (bool, error) {
				seen := map[string]bool{}
				err := maker.EachEntry(x, key, rows.PartitionPrefixLength(key), value, func(entry []byte) bool {
					seen[string(entry)] = true
					return true
				})
				had += len(seen)
				return true, err
			})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return stored, had
}

// openIndexed opens a store with the table, which is swept only when it is asked to be.
func openIndexed(t testing.TB, dir string) (*Store, *clock) {
	c := new(clock)
	c.micros.Store(1_700_000_000_000_000)
	s := open(t, dir, Options{Now: c.now, SweepEvery: time.Hour})
	spec := *indexedTable(t)
	spec.Options.GCGraceSeconds = 5
	define(t, s, schema.NewTable(spec))
	return s, c
}

func newIndexWriter(t testing.TB, s *Store, c *clock, seed uint64) *indexWriter {
	return &indexWriter{t: t, s: s, clock: c, rand: rand.New(rand.NewPCG(seed, 1)), ts: 1}
}

// TestReadThroughIndexes makes and drops indexes, writes, truncates and sweeps at random, and compares reads through
// indexes with reads without them.
func TestReadThroughIndexes(t *testing.T) {
	for seed := range uint64(sized(2, 6)) {
		s, c := openIndexed(t, "")
		w := newIndexWriter(t, s, c, seed)
		for step := range 1500 {
			switch n := w.rand.IntN(300); {
			case n < 2:
				targets := slices.Clone(allIndexes)
				w.rand.Shuffle(len(targets), func(i, j int) { targets[i], targets[j] = targets[j], targets[i] })
				setIndexes(t, s, targets[:w.rand.IntN(len(targets)+1)])
			case n == 2 && step > 1000:
				if err := s.Truncate(t.Context(), w.table()); err != nil {
					t.Fatal(err)
				}
			case n < 6:
				c.micros.Add(w.rand.Int64N(10_000_000))
			case n < 9:
				if err := s.Sweep(t.Context()); err != nil {
					t.Fatal(err)
				}
			case n < 150:
				w.write()
			default:
				w.readBoth()
			}
		}
		setIndexes(t, s, allIndexes)
		waitForIndexes(t, s)
		w.read = [2]int{}
		for range 300 {
			w.write()
			w.readBoth()
		}
		if w.read[1] > w.read[0] { // it has read some anew behind each row
			t.Errorf("seed %d: %d rows are read through indexes, and %d without them", seed, w.read[1], w.read[0])
		}
		id := uint32(w.table().StoreID)
		sweep := sweep{core: &s.core, swept: &s.swept, id: id, table: w.table(), usage: s.usages.Of(id)}
		if err := sweep.sweepTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		if stored, had := w.countEntries(); stored != had {
			t.Errorf("seed %d: %d entries are stored, and rows have %d", seed, stored, had)
		}
		closeStore(t, s)
	}
}

// TestIndexesBesideWrites makes and drops indexes while rows are written. In the end the indexes have all rows.
func TestIndexesBesideWrites(t *testing.T) {
	s, c := openIndexed(t, "")
	defer closeStore(t, s)
	const maxWrites = 3000 // of a writer in a round: without a bound they starve the builder under the race detector
	rounds := sized(2, 5)
	for round := range rounds {
		began := time.Now()
		var writers sync.WaitGroup
		stop := make(chan struct{})
		for i := range *besideWriters {
			writers.Go(func() {
				w := newIndexWriter(t, s, c, uint64(round*100+i))
				w.ts = int64(round * 1000)
				for n := 0; n < maxWrites || *besideFor > 0; n++ {
					select {
					case <-stop:
						return
					default:
						w.write()
					}
				}
			})
		}
		for n := range 10 {
			setIndexes(t, s, allIndexes[:n%2*len(allIndexes)])
			time.Sleep(time.Millisecond)
		}
		setIndexes(t, s, allIndexes)
		waitForIndexes(t, s)
		if err := s.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Until(began.Add(*besideFor / time.Duration(rounds))))
		close(stop)
		writers.Wait()
		w := newIndexWriter(t, s, c, uint64(round))
		for range 200 {
			w.readBoth()
		}
		if _, faults := verifyAll(t, s); len(faults) > 0 {
			t.Errorf("round %d: %q", round, faults)
		}
		setIndexes(t, s, nil)
	}
}

// TestIndexesAreReopened closes a store whose indexes are not built, and finds them built in the next one.
func TestIndexesAreReopened(t *testing.T) {
	dir := t.TempDir()
	s, c := openIndexed(t, dir)
	w := newIndexWriter(t, s, c, 1)
	for range 300 {
		w.write()
	}
	setIndexes(t, s, allIndexes)
	closeStore(t, s)
	for range 2 {
		s = open(t, dir, Options{Now: c.now})
		waitForIndexes(t, s)
		w = newIndexWriter(t, s, c, 2)
		for range 200 {
			w.write()
			w.readBoth()
		}
		closeStore(t, s)
	}
}

// TestIndexWaitsForWrites has a write under way that does not know an index. The index is not built without it.
func TestIndexWaitsForWrites(t *testing.T) {
	s, i := openInterposed(t)
	defer closeStore(t, s)
	define(t, s, indexedTable(t))
	w := newIndexWriter(t, s, nil, 1)
	held, release := make(chan struct{}), make(chan struct{})
	hold := func() {
		close(held)
		<-release
	}
	i.beforeCommit.Store(&hold)
	written, defined := make(chan error, 1), make(chan struct{})
	go func() {
		m := NewMutation(w.table(), w.partition())
		m.Row([][]byte{literal(t, types.Decimal, "1"), []byte("a")})
		m.Set(w.table().Column("v"), types.EncodeInt(7), 1, Expiry{})
		written <- apply(s, m)
	}()
	<-held
	go func() {
		defer close(defined)
		setIndexes(t, s, []schema.IndexTarget{{Column: "v"}})
	}()
	for len(s.state.Load().indexes) == 0 {
		time.Sleep(time.Millisecond)
	}
	for range 20 {
		if !s.state.Load().hasUnbuilt() {
			t.Error("the index is built")
			break
		}
		time.Sleep(time.Millisecond)
	}
	close(release)
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	<-defined
	waitForIndexes(t, s)
	r := Read{Table: w.table(), Lookups: []index.Lookup{{Index: w.table().Indexes[0], Value: types.EncodeInt(7)}}}
	if got := readRows(t, s, &r); len(got) != 1 {
		t.Errorf("%q is found, want the row", got)
	}
}

// TestIndexOfNewTable defines a table that begins with an index, when nothing else is to be built.
func TestIndexOfNewTable(t *testing.T) {
	s := open(t, "", Options{})
	defer closeStore(t, s)
	for len(s.indexing) > 0 {
		time.Sleep(time.Millisecond)
	}
	for i := range 5 {
		spec := *newTable(t, fmt.Sprintf("indexed%d", i), "p int", "", "v int")
		spec.Indexes = []*schema.Index{{Name: "i", Targets: []schema.IndexTarget{{Column: "v"}}}}
		define(t, s, schema.NewTable(spec))
		waitForIndexes(t, s)
	}
}

// TestBuildProgress looks at a build that is held up.
func TestBuildProgress(t *testing.T) {
	s, i := openInterposed(t)
	defer closeStore(t, s)
	define(t, s, plainTable(t))
	fillPlain(t, s)
	if p := s.BuildProgress(); p != nil {
		t.Errorf("%+v before an index is defined", p)
	}
	seen, release := make(chan *BuildProgress, 100), make(chan struct{})
	var look func()
	look = func() {
		p := s.BuildProgress()
		if p == nil {
			i.beforeCommit.Store(&look)
			return
		}
		seen <- p
		<-release
	}
	i.beforeCommit.Store(&look)
	err := s.Define(func(c *schema.Catalog) (*schema.Catalog, error) {
		spec := *c.Table("ks", "plain")
		spec.Indexes = []*schema.Index{{Name: "byv", Targets: []schema.IndexTarget{{Column: "v"}}}}
		return c.WithTable(schema.NewTable(spec)), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	p := <-seen
	if p.Name != "byv" || p.Table.Name != "plain" || p.Rows != 20 || p.Total != 20 || p.View != nil ||
		s.BuildsWaiting() != 1 || s.Builds() != 0 {
		t.Errorf("%+v, %d wait, %d are built", p, s.BuildsWaiting(), s.Builds())
	}
	close(release)
	waitForIndexes(t, s)
	for s.BuildProgress() != nil {
		time.Sleep(time.Millisecond)
	}
	if s.BuildsWaiting() != 0 || s.Builds() != 1 {
		t.Errorf("in the end %d wait and %d are built", s.BuildsWaiting(), s.Builds())
	}
}
