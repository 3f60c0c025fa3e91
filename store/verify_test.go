package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
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

// verifyAll returns what Verify finds.
func verifyAll(t testing.TB, s *Store) (Verified, []string) {
	t.Helper()
	var found []string
	done, err := s.Verify(t.Context(), Verifier{
		Fault:    func(f Fault) { found = append(found, f.String()) },
		Progress: func(VerifyProgress) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	if int(done.Faults) != len(found) {
		t.Errorf("%d faults are counted, and told of %d", done.Faults, len(found))
	}
	return done, found
}

// plainTable has no lossy clustering column, so that it may have views.
func plainTable(t testing.TB) *schema.Table {
	return newTable(t, "plain", "p int, q int", "c int desc, d text", "v int, s set<int>")
}

func plainKey(p int32) []byte {
	return types.AppendCompositeKey(types.AppendCompositeKey(nil, types.EncodeInt(p)), types.EncodeInt(1))
}

func fillPlain(t testing.TB, s *Store) {
	t.Helper()
	table := s.Catalog().Table("ks", "plain")
	for i := range int32(20) {
		m := NewMutation(table, plainKey(i))
		m.Row([][]byte{types.EncodeInt(i), []byte("d")})
		m.Mark(1, Expiry{})
		m.Set(table.Column("v"), types.EncodeInt(i), 1, Expiry{})
		m.SetPart(table.Column("s"), types.EncodeInt(i), []byte{}, 1, Expiry{})
		if err := apply(s, m); err != nil {
			t.Fatal(err)
		}
	}
}

// openPlain opens a store with rows, indexes of each kind of column, and two views.
func openPlain(t testing.TB) *Store {
	t.Helper()
	s := open(t, "", Options{SweepEvery: time.Hour})
	table := plainTable(t)
	spec := *table
	for _, column := range []string{"q", "d", "v", "s"} {
		target := schema.IndexTarget{Column: column}
		if column == "s" {
			target.Part = schema.IndexValues
		}
		spec.Indexes = append(spec.Indexes, &schema.Index{Name: "by" + column, Targets: []schema.IndexTarget{target}})
	}
	define(t, s, schema.NewTable(spec))
	base := s.Catalog().Table("ks", "plain")
	byValue := newTable(t, "byvalue", "v int", "q int, p int, c int, d text", "s set<int>")
	byText := newTable(t, "bytext", "d text", "p int, q int desc, c int", "v int")
	byValue.ID, byText.ID = [16]byte{7, 1}, [16]byte{7, 2}
	define(t, s, viewOf(base, byValue), viewOf(base, byText))
	fillPlain(t, s)
	waitForIndexes(t, s)
	return s
}

// TestVerifyIsClean writes, expires, deletes and sweeps at random from several goroutines, and verifies meanwhile. How
// much is written is bounded: a verification that is slow would otherwise have ever more to verify.
func TestVerifyIsClean(t *testing.T) {
	s, c := openIndexed(t, "")
	defer closeStore(t, s)
	setIndexes(t, s, allIndexes)
	waitForIndexes(t, s)
	rounds, writers, writes := sized(3, 10), 4, 300
	for round := range rounds {
		var writing sync.WaitGroup
		for i := range writers {
			writing.Go(func() {
				w := newIndexWriter(t, s, c, uint64(round*writers+i))
				w.ts = int64(round * writes)
				for range writes {
					w.write()
				}
			})
		}
		if _, found := verifyAll(t, s); len(found) > 0 {
			t.Errorf("beside writes: %s", strings.Join(found, "\n"))
		}
		c.micros.Add(3_000_000)
		if err := s.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
		writing.Wait()
	}
	last := newIndexWriter(t, s, c, 9)
	for last.ts = 1 << 40; last.ts < 1<<40+200; last.ts++ {
		last.write()
	}
	done, found := verifyAll(t, s)
	if len(found) > 0 || done.Rows == 0 || done.Entries == 0 || done.Indexes != len(allIndexes) {
		t.Errorf("%+v, and %s", done, strings.Join(found, "\n"))
	}
}

// TestVerifyFindsFaults plants one fault after the other.
func TestVerifyFindsFaults(t *testing.T) {
	s := openPlain(t)
	defer closeStore(t, s)
	done, found := verifyAll(t, s)
	if len(found) > 0 || done.Rows != 20 || done.Entries != 20*6 || done.Stale != 0 || done.Indexes != 6 {
		t.Fatalf("%+v, and %s", done, strings.Join(found, "\n"))
	}
	state := s.state.Load()
	id := state.ids[s.Catalog().Table("ks", "plain").ID]
	commit := func(ops ...engine.Op) {
		t.Helper()
		if err := s.commit(ops); err != nil {
			t.Fatal(err)
		}
	}
	// first returns the first key of an area, with its value.
	first := func(id uint32) (k, v []byte) {
		t.Helper()
		area := rows.AppendArea(nil, id, rows.AreaRows)
		end := rows.Successor(bytes.Clone(area))
		err := s.engine.Scan(area, end, engine.ScanOptions{}, func(key, value []byte) (bool, error) {
			k, v = bytes.Clone(key), bytes.Clone(value)
			return false, nil
		})
		if err != nil || k == nil {
			t.Fatalf("there is no key: %v", err)
		}
		return k, v
	}
	// plant makes a fault, which has to be found alone, and undoes it.
	plant := func(name, want string, fault, undo []engine.Op) {
		t.Helper()
		commit(fault...)
		if _, found := verifyAll(t, s); len(found) == 0 || !strings.Contains(found[0], want) {
			t.Errorf("%s: found %q, want %q", name, found, want)
		}
		commit(undo...)
		if _, found := verifyAll(t, s); len(found) > 0 {
			t.Errorf("%s: %q is found after the fault is gone", name, found)
		}
	}
	for _, x := range state.indexes[id] {
		if x.View != nil {
			continue
		}
		key, value := first(x.ID)
		there := engine.Op{Kind: engine.Put, Key: key, Value: value}
		gone := engine.Op{Kind: engine.Delete, Key: key}
		plant(x.Label()+" lacks an entry", x.Label()+": p = ", []engine.Op{gone}, []engine.Op{there})
		unread := engine.Op{Kind: engine.Put, Key: key, Value: []byte{1}}
		plant(x.Label()+" has an entry that cannot be read", x.Label(), []engine.Op{unread}, []engine.Op{there})
		n, _ := index.EntryLength(key, value)
		misplaced := bytes.Clone(key)
		misplaced[n] ^= 1 // of the token
		other := engine.Op{Kind: engine.Put, Key: misplaced, Value: value}
		plant(x.Label()+" names no row", "names no row", []engine.Op{other},
			[]engine.Op{{Kind: engine.Delete, Key: misplaced}})
		if x.Column.Kind.IsKey() {
			key, value := otherEntry(t, s, x, key, n)
			extra := engine.Op{Kind: engine.Put, Key: key, Value: value}
			plant(x.Label()+" has an entry too many", "not the row's", []engine.Op{extra},
				[]engine.Op{{Kind: engine.Delete, Key: key}})
		}
	}
	for _, x := range viewsAmong(state.indexes[id]) {
		key, value := first(x.ID)
		there := engine.Op{Kind: engine.Put, Key: key, Value: value}
		gone := engine.Op{Kind: engine.Delete, Key: key}
		plant(x.Label()+" lacks a row", "lacks the row", []engine.Op{gone}, []engine.Op{there})
		unread := engine.Op{Kind: engine.Put, Key: key, Value: []byte{1}}
		plant(x.Label()+" has a row that cannot be read", x.Label(), []engine.Op{unread}, []engine.Op{there})
		other := func(columns []*schema.Column) (values [][]byte) {
			for _, c := range columns {
				if values = append(values, []byte("other")); c.Type == types.Int {
					values[len(values)-1] = types.EncodeInt(999)
				}
			}
			return values
		}
		m := NewMutation(x.View, index.JoinKey(nil, other(x.View.PartitionKey)))
		m.Row(other(x.View.Clustering))
		m.Mark(0, Expiry{})
		extra := m.appendOps(nil, x.ID)[0]
		extra.Kind = engine.Put
		plant(x.Label()+" has a row too many", "does not give", []engine.Op{extra},
			[]engine.Op{{Kind: engine.Delete, Key: extra.Key}})
		short := engine.Op{Kind: engine.Put, Key: key, Value: extra.Value}
		plant(x.Label()+" has other values", "other values", []engine.Op{short}, []engine.Op{there})
		m.release()
	}
	key, value := first(id)
	there := engine.Op{Kind: engine.Put, Key: key, Value: value}
	plant("a damaged row", "a stored row is damaged", []engine.Op{{Kind: engine.Put, Key: key, Value: []byte{1}}},
		[]engine.Op{there})
	moved := bytes.Clone(key)
	moved[rows.AreaSize] ^= 0x40
	plant("a row at another token", "token", []engine.Op{{Kind: engine.Put, Key: moved, Value: value}},
		[]engine.Op{{Kind: engine.Delete, Key: moved}})
	orphan := slices.Concat(binary.BigEndian.AppendUint32(nil, 100_001<<1|rows.AreaRows), key[rows.AreaSize:])
	plant("rows of no table", "100001", []engine.Op{{Kind: engine.Put, Key: orphan, Value: value}},
		[]engine.Op{{Kind: engine.Delete, Key: orphan}})
}

// otherEntry returns an entry that has the value of one row and the key of another.
func otherEntry(t testing.TB, s *Store, x *index.Index, key []byte, n int) (entry, value []byte) {
	t.Helper()
	row := slices.Concat(rows.AppendArea(nil, x.TableID, rows.AreaRows), key[n:])
	var maker index.Maker
	prefix := rows.PartitionPrefixLength(row)
	if err := maker.ReadKey(x.Table, row, prefix); err != nil {
		t.Fatal(err)
	}
	change := []byte("other")
	if x.Column.Type == types.Int {
		change = types.EncodeInt(999)
	}
	op := index.EntryOp(x.AppendValue(nil, x.Value.AppendKey(nil, change, false)), row)
	return op.Key, op.Value
}

// TestVerifyCountsStaleEntries overwrites an indexed value: the old entry is no fault.
func TestVerifyCountsStaleEntries(t *testing.T) {
	s := openPlain(t)
	defer closeStore(t, s)
	table := s.Catalog().Table("ks", "plain")
	m := NewMutation(table, plainKey(3))
	m.Row([][]byte{types.EncodeInt(3), []byte("d")})
	m.Set(table.Column("v"), types.EncodeInt(77), 2, Expiry{})
	if err := apply(s, m); err != nil {
		t.Fatal(err)
	}
	done, found := verifyAll(t, s)
	if len(found) > 0 || done.Stale != 1 { // in the index
		t.Errorf("%+v, and %q", done, found)
	}
}

// TestVerifyTerms verifies indexes of text, of addresses and of parts of terms beside writes and sweeps.
func TestVerifyTerms(t *testing.T) {
	c := new(clock)
	c.micros.Store(1_700_000_000_000_000)
	s := open(t, "", Options{Now: c.now, SweepEvery: time.Hour})
	defer closeStore(t, s)
	spec := *newTable(t, "indexed", "p int", "c int",
		"s text static, prefix text, inside text, folded text, words text, standard text, stems text, n int, "+
			"e text, a inet, l list<text>")
	spec.Options.GCGraceSeconds = 5
	spec.Indexes = termIndexes()
	define(t, s, schema.NewTable(spec))
	waitForIndexes(t, s)
	w := &termWriter{newIndexWriter(t, s, c, 1), 4 * index.MaxTerms}
	for step := range 600 {
		w.write()
		if step%50 > 0 {
			continue
		}
		done, found := verifyAll(t, s)
		if len(found) > 0 || step > 0 && (done.Entries == 0 || done.Indexes != len(spec.Indexes)) {
			t.Fatalf("step %d: %+v, and %s", step, done, strings.Join(found, "\n"))
		}
		c.micros.Add(3_000_000)
		if step%100 > 0 {
			continue
		}
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestVerifyFindsFaultsOfTerms plants faults in indexes of text, of addresses and of parts of terms.
func TestVerifyFindsFaultsOfTerms(t *testing.T) {
	s := open(t, "", Options{SweepEvery: time.Hour})
	defer closeStore(t, s)
	spec := *newTable(t, "indexed", "p int", "c text", "inside text, words text, e text, a inet")
	for _, x := range termIndexes() {
		switch x.Name {
		case "inside", "words", "e", "a":
			spec.Indexes = append(spec.Indexes, x)
		}
	}
	spec.Indexes = append(spec.Indexes, &schema.Index{
		Name: "c", Class: sasi, Options: map[string]string{"mode": "CONTAINS"},
		Targets: []schema.IndexTarget{{Column: "c"}},
	})
	define(t, s, schema.NewTable(spec))
	waitForIndexes(t, s)
	table := s.Catalog().Table("ks", "indexed")
	m := NewMutation(table, types.EncodeInt(1))
	m.Row([][]byte{[]byte("clustering")})
	m.Mark(1, Expiry{})
	for column, value := range map[string][]byte{
		"inside": []byte("nightingale"), "words": []byte("one b two"), "e": []byte("CaSe"), "a": {127, 0, 0, 1},
	} {
		m.Set(table.Column(column), value, 1, Expiry{})
	}
	if err := apply(s, m); err != nil {
		t.Fatal(err)
	}
	if done, found := verifyAll(t, s); len(found) > 0 || done.Stale != 0 {
		t.Fatalf("%+v, and %q", done, found)
	}
	// check verifies with one operation, and undoes it.
	check := func(name string, x *index.Index, want string, stale int64, op, undo engine.Op) {
		t.Helper()
		if err := s.commit([]engine.Op{op}); err != nil {
			t.Fatal(err)
		}
		done, found := verifyAll(t, s)
		if want == "" && len(found) > 0 || want != "" && (len(found) != 1 || !strings.Contains(found[0], want)) ||
			done.Stale != stale {
			t.Errorf("%s, %s: found %q and %d stale, want %q and %d", x.Label(), name, found, done.Stale, want, stale)
		}
		if err := s.commit([]engine.Op{undo}); err != nil {
			t.Fatal(err)
		}
	}
	forms := map[string]int{}
	for _, x := range s.state.Load().indexes[uint32(table.StoreID)] {
		var row []byte // the key of the row, without the number of its table
		area := rows.AppendArea(nil, x.ID, rows.AreaRows)
		var entries []engine.Op
		err := s.engine.Scan(area, rows.Successor(bytes.Clone(area)), engine.ScanOptions{},
			func(key, value []byte) (bool, error) {
				op := engine.Op{Kind: engine.Put, Key: bytes.Clone(key), Value: bytes.Clone(value)}
				entries = append(entries, op)
				n, err := index.EntryLength(key, value)
				row = op.Key[n:]
				return true, err
			})
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range entries {
			forms[fmt.Sprintf("%s %d", x.Column.Name, op.Key[rows.AreaSize])]++
			check("without an entry", x, "the row has no entry", 0, engine.Op{Kind: engine.Delete, Key: op.Key}, op)
		}
		base := append(rows.AppendArea(nil, x.TableID, rows.AreaRows), row...)
		plant := func(name, want string, stale int64, entry []byte) {
			t.Helper()
			op := index.EntryOp(entry, base)
			check(name, x, want, stale, op, engine.Op{Kind: engine.Delete, Key: op.Key})
		}
		plant("with an unknown form", "of a form", 0, x.AppendForm(nil, 9))
		want, stale := "", int64(1) // an entry of a value that a column had before
		if x.Column.Kind.IsKey() {
			want, stale = "not the row's", 0
		}
		plant("with another term", want, stale, x.AppendValue(nil, x.AppendTerm(nil, []byte("other"))))
		part := types.Blob.AppendKey(x.AppendForm(nil, index.PartOfTerm), []byte("elsewher"), false)
		if x.Terms.Gram {
			plant("with another part", want, stale, part)
		} else {
			plant("with a part", "of a form", 0, part)
		}
		if many := x.AppendForm(nil, index.ManyTerms); x.Terms.Many {
			plant("with too many terms", want, stale, many)
		} else {
			plant("with too many terms", "of a form", 0, many)
		}
	}
	expected := map[string]int{
		"inside 0": 1, "inside 2": 11, "words 0": 2, "words 2": 8, "e 0": 1, "a 0": 1, "c 0": 1, "c 2": 10,
	}
	if !maps.Equal(forms, expected) {
		t.Errorf("entries by column and form: %v, want %v", forms, expected)
	}
}
