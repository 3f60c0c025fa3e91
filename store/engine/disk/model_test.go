package disk

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// model does random things to an engine and to a map, and compares them.
type model struct {
	*testing.T
	random *rand.Rand
	engine *Engine
	o      Options
	holds  map[string]string
	table  int  // the first of those that are written to
	viewed bool // a view is open, for which Drop would wait
}

// key draws a key from a few hundred, of which some have others as prefixes, or from a few tables with few keys each:
// the filter knows only tables that it saw without keys.
func (m *model) key() string {
	n := m.random.IntN(300)
	switch m.random.IntN(5) {
	case 0:
		return fmt.Sprint(n % 40)
	case 1:
		return "a long prefix of all " + fmt.Sprintf("%03d", n)
	case 2, 3:
		return fmt.Sprintf("%04d row %d", m.table+n%4, n%7)
	default:
		return fmt.Sprintf("row %d %03d", n%3, n)
	}
}

// word draws a value or a delta, now and then a long one.
func (m *model) word() string {
	if m.random.IntN(40) == 0 {
		var words []string
		for range 3000 {
			words = append(words, fmt.Sprintf("long%04d", m.random.IntN(10000)))
		}
		slices.Sort(words)
		return strings.Join(slices.Compact(words), " ")
	}
	return fmt.Sprint("w", m.random.IntN(20))
}

// op draws an operation.
func (m *model) op() engine.Op {
	kind := []engine.OpKind{engine.Put, engine.Delete, engine.Merge, engine.Merge}[m.random.IntN(4)]
	op := engine.Op{Kind: kind, Key: []byte(m.key())}
	if kind != engine.Delete {
		op.Value = []byte(m.word())
	}
	return op
}

// applyTo does to a map what an operation does to an engine.
func applyTo(holds map[string]string, op engine.Op) {
	key := string(op.Key)
	switch op.Kind {
	case engine.Put:
		holds[key] = string(op.Value)
	case engine.Delete:
		delete(holds, key)
	case engine.Merge:
		if old, ok := holds[key]; ok {
			folded, _ := enginetest.Union(nil, nil, []byte(old), op.Value)
			holds[key] = string(folded)
		} else {
			holds[key] = string(op.Value)
		}
	}
}

// step does one thing.
func (m *model) step() {
	if m.random.IntN(20) == 0 {
		m.table++
	}
	switch m.random.IntN(20) {
	case 0:
		start, end := m.key(), m.key()
		if err := m.engine.DeleteRange([]byte(start), []byte(end)); err != nil {
			m.Fatal(err)
		}
		maps.DeleteFunc(m.holds, func(k, _ string) bool { return k >= start && k < end })
	case 5:
		m.drop()
	case 1, 2, 3:
		m.update()
	case 4:
		m.engine.FlushSoon()
	default:
		m.write()
	}
}

// drop removes the rows of tables that are not written to any more. What Drop leaves is deleted.
func (m *model) drop() {
	if m.table == 0 || m.viewed {
		return
	}
	first := m.random.IntN(m.table)
	var prefixes [][]byte
	for i := first; i < min(first+3, m.table); i++ {
		prefixes = append(prefixes, fmt.Appendf(nil, "%04d ", i))
	}
	if err := m.engine.Drop(m.Context(), prefixes); err != nil {
		m.Fatal(err)
	}
	for _, prefix := range prefixes {
		end := append(slices.Clone(prefix[:len(prefix)-1]), ' '+1)
		if err := m.engine.DeleteRange(prefix, end); err != nil {
			m.Fatal(err)
		}
		maps.DeleteFunc(m.holds, func(k, _ string) bool { return strings.HasPrefix(k, string(prefix)) })
	}
}

// write commits a few operations.
func (m *model) write() {
	var ops []engine.Op
	for range 1 + m.random.IntN(4)*m.random.IntN(4) {
		ops = append(ops, m.op())
	}
	if err := commit(m.engine, ops...); err != nil {
		m.Fatal(err)
	}
	for _, op := range ops {
		applyTo(m.holds, op)
	}
}

// update reads and writes in a transaction, which sees what it writes, and of what is committed meanwhile nothing.
func (m *model) update() {
	var ops []engine.Op
	meanwhile := m.random.IntN(3) == 0
	err := engine.Update(context.Background(), m.engine, []byte("g"), func(txn engine.Txn) error {
		seen := maps.Clone(m.holds)
		if ops = nil; meanwhile {
			meanwhile = false
			m.write()
			m.compare("an update during which something was committed", txn, seen)
		}
		for range 1 + m.random.IntN(4) {
			op := m.op()
			op.WriteTo(txn)
			applyTo(seen, op)
			ops = append(ops, op)
			if m.random.IntN(2) == 0 {
				m.compare("an update", txn, seen)
			}
		}
		return nil
	})
	if err != nil {
		m.Fatal(err)
	}
	for _, op := range ops {
		applyTo(m.holds, op)
	}
}

// compare reads a range and some keys.
func (m *model) compare(what string, r engine.Reader, holds map[string]string) {
	m.Helper()
	start, end := "", ""
	if m.random.IntN(2) == 0 {
		start, end = m.key(), m.key()
	}
	o := engine.ScanOptions{Reverse: m.random.IntN(2) == 0, KeysOnly: m.random.IntN(4) == 0}
	var want, got []string
	for k, v := range holds {
		if k >= start && (end == "" || k < end) {
			if o.KeysOnly {
				v = ""
			}
			want = append(want, k+"="+v)
		}
	}
	slices.SortFunc(want, func(a, b string) int {
		a, _, _ = strings.Cut(a, "=")
		b, _, _ = strings.Cut(b, "=")
		return strings.Compare(a, b)
	})
	if o.Reverse {
		slices.Reverse(want)
	}
	most := len(want) + 1
	if m.random.IntN(3) == 0 {
		most = 1 + m.random.IntN(10)
	}
	err := r.Scan([]byte(start), []byte(end), o, func(k, v []byte) (bool, error) {
		got = append(got, string(k)+"="+string(v))
		return len(got) < most, nil
	})
	if err != nil {
		m.Fatal(err)
	}
	if want = want[:min(most, len(want))]; !slices.Equal(got, want) {
		m.Fatalf("%s: a scan from %q to %q, %+v:\n got %.2000q\nwant %.2000q", what, start, end, o, got, want)
	}
	for range 5 {
		key := m.key()
		value := ""
		found, err := r.Get([]byte(key), func(v []byte) error { value = string(v); return nil })
		if want, ok := holds[key]; err != nil || found != ok || value != want {
			m.Fatalf("%s: %q holds %.100q, %v, %v, want %.100q", what, key, value, found, err, want)
		}
	}
}

// compareView compares what a view shows.
func (m *model) compareView() {
	m.Helper()
	err := m.engine.View(func(r engine.Reader) error {
		m.compare("a short view", r, m.holds)
		return nil
	})
	if err != nil {
		m.Fatal(err)
	}
}

// commit commits and waits.
func commit(e *Engine, ops ...engine.Op) error {
	done := make(chan error, 1)
	e.Commit(ops, func(err error) { done <- err })
	return <-done
}

// copyFolder copies the files of a folder as a killed process would leave them.
func copyFolder(t testing.TB, from string) string {
	t.Helper()
	to := folder(t)
	enginetest.CopyFolder(t, from, to)
	return to
}

// TestModel does random things, with so small trees that they are flushed all the time, opens the folder again now and
// then, and opens copies of it, which are what a kill leaves at any moment.
func TestModel(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			sync := Sync(seed % 2)
			m := &model{T: t, random: rand.New(rand.NewPCG(seed, 17)), holds: map[string]string{}, o: tiny(t, folder(t), sync)}
			m.o.Memtable = 4 << 10 << (2 * seed)
			m.engine = open(t, m.o)
			for i := range 300 {
				m.step()
				switch {
				case i%5 == 0:
					m.compare("the engine", m.engine, m.holds)
					m.compareView()
				case i%150 == 7:
					if err := m.engine.Close(); err != nil {
						t.Fatal(err)
					}
					m.engine = open(t, m.o)
				case i%100 == 33:
					m.killed()
				case i%100 == 66:
					m.whileViewed()
				}
			}
			if err := m.engine.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// killed opens a copy of the folder.
func (m *model) killed() {
	o := m.o
	o.Dir = copyFolder(m.T, m.o.Dir)
	e := open(m.T, o)
	for range 3 {
		m.compare("after a kill", e, m.holds)
	}
	if err := e.Close(); err != nil {
		m.Fatal(err)
	}
	e = open(m.T, o)
	m.compare("after a kill, closed and opened again", e, m.holds)
	if err := e.Close(); err != nil {
		m.Fatal(err)
	}
}

// whileViewed writes while a view is open, which goes on to show what there was.
func (m *model) whileViewed() {
	before := maps.Clone(m.holds)
	m.viewed = true
	defer func() { m.viewed = false }()
	err := m.engine.View(func(r engine.Reader) error {
		for range 60 {
			m.step()
		}
		for range 3 {
			m.compare("a view", r, before)
		}
		return nil
	})
	if err != nil {
		m.Fatal(err)
	}
}
