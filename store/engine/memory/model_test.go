package memory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
	"github.com/cqld/cqld/store/engine/tree"
)

// model is an engine beside a map that must hold the same.
type model struct {
	*testing.T
	r      *rand.Rand
	engine *Engine
	holds  map[string]string
}

// kept is a snapshot and what it must hold.
type kept struct {
	snapshot engine.Snapshot
	holds    map[string]string
}

// key draws a key from a space of some thousand: numbers behind one of a few prefixes, short keys and long ones.
func (m *model) key() string {
	n := m.r.IntN(3000)
	switch m.r.IntN(8) {
	case 0:
		return fmt.Sprint(n % 300)
	case 1:
		return strings.Repeat("\x00", 1+n%40)
	case 2:
		return "a long prefix that is the same for all " + fmt.Sprintf("%05d", n)
	case 3:
		return fmt.Sprintf("%05d", n) + strings.Repeat("long", n%7*10)
	default:
		return fmt.Sprintf("row %d %05d", n%3, n)
	}
}

// value draws a value: words, now and then so many that a merge gives it a tail.
func (m *model) value() string {
	if m.r.IntN(200) > 0 {
		return fmt.Sprint("w", m.r.IntN(20))
	}
	words := make([]string, 4000)
	for i := range words {
		words[i] = fmt.Sprintf("long%05d", m.r.IntN(100000))
	}
	slices.Sort(words)
	return strings.Join(slices.Compact(words), " ")
}

func (m *model) op() engine.Op {
	op := engine.Op{Kind: engine.OpKind(m.r.IntN(3)), Key: []byte(m.key())}
	if op.Kind != engine.Delete {
		op.Value = []byte(m.value())
	}
	return op
}

func apply(t *testing.T, holds map[string]string, op engine.Op) {
	key := string(op.Key)
	switch op.Kind {
	case engine.Put:
		holds[key] = string(op.Value)
	case engine.Delete:
		delete(holds, key)
	case engine.Merge:
		existing, ok := holds[key]
		if !ok {
			holds[key] = string(op.Value)
			return
		}
		value, err := enginetest.Union(nil, op.Key, []byte(existing), op.Value)
		if err != nil {
			t.Fatal(err)
		}
		holds[key] = string(value)
	}
}

func commit(t testing.TB, e *Engine, ops ...engine.Op) {
	t.Helper()
	answered := false
	e.Commit(ops, func(err error) {
		if answered = true; err != nil {
			t.Fatal(err)
		}
	})
	if !answered {
		t.Fatal("Commit returns before its answer")
	}
}

// compare wants a reader to hold what the model does, in a range and direction that are drawn.
func (m *model) compare(r engine.Reader, holds map[string]string) {
	m.Helper()
	start, end := "", ""
	if m.r.IntN(3) > 0 {
		start, end = m.key(), m.key()
	}
	o := engine.ScanOptions{Reverse: m.r.IntN(2) == 0}
	var want []string
	for _, k := range slices.Sorted(maps.Keys(holds)) {
		if k >= start && (end == "" || k < end) {
			want = append(want, k)
		}
	}
	if o.Reverse {
		slices.Reverse(want)
	}
	n := 0
	err := r.Scan([]byte(start), []byte(end), o, func(k, v []byte) (bool, error) {
		if n >= len(want) || string(k) != want[n] || string(v) != holds[want[n]] {
			return false, fmt.Errorf("key %d is %q with %.40q", n, k, v)
		}
		n++
		return true, nil
	})
	if err != nil || n != len(want) {
		m.Fatalf("scan from %q to %q %+v: %d of %d keys, %v", start, end, o, n, len(want), err)
	}
	key := m.key()
	got := ""
	found, err := r.Get([]byte(key), func(v []byte) error {
		got = string(v)
		return nil
	})
	if want, ok := holds[key]; err != nil || found != ok || got != want {
		m.Fatalf("get %q: %v, %.40q, %v, want %.40q", key, found, got, err, want)
	}
}

// TestModel does at random what can be done with an engine, its forks and its snapshots, and wants each of them to
// hold what a map holds.
func TestModel(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	engines := []*model{{t, r, Open(enginetest.Union), map[string]string{}}}
	var snapshots []kept
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		m := engines[r.IntN(len(engines))]
		switch r.IntN(100) {
		case 0:
			snapshots = append(snapshots, kept{m.engine.Snapshot(), maps.Clone(m.holds)})
		case 1:
			if len(snapshots) > 0 {
				s := snapshots[r.IntN(len(snapshots))]
				if err := m.engine.Restore(s.snapshot); err != nil {
					t.Fatal(err)
				}
				m.holds = maps.Clone(s.holds)
			}
		case 2:
			engines = append(engines, &model{t, r, m.engine.Fork(), maps.Clone(m.holds)})
		case 3:
			m.deleteRange()
		default:
			m.write()
		}
		if len(engines) > 4 {
			engines = slices.Delete(engines, 0, 1)
		}
		if len(snapshots) > 4 {
			snapshots = slices.Delete(snapshots, 0, 1)
		}
		m.compare(m.engine, m.holds)
		checkTree(t, &m.engine.Memtable.tree)
	}
	for _, m := range engines {
		m.compare(m.engine, m.holds)
	}
}

// write commits or updates something, with a view of before under way.
func (m *model) write() {
	before := m.holds
	err := m.engine.View(func(view engine.Reader) error {
		m.holds = maps.Clone(before)
		for range 1 + m.r.IntN(5) {
			switch m.r.IntN(6) {
			case 0:
				m.update()
			case 1:
				m.fail()
			default:
				m.commit()
			}
		}
		m.compare(view, before)
		return nil
	})
	if err != nil {
		m.Fatal(err)
	}
}

func (m *model) commit() {
	ops := make([]engine.Op, 1+m.r.IntN(3))
	if m.r.IntN(10) == 0 {
		ops = make([]engine.Op, 1+m.r.IntN(300))
	}
	for i := range ops {
		ops[i] = m.op()
		apply(m.T, m.holds, ops[i])
	}
	commit(m.T, m.engine, ops...)
}

// fail commits something that is refused at its end.
func (m *model) fail() {
	bad := []byte("row 1 damaged")
	commit(m.T, m.engine, engine.Op{Kind: engine.Put, Key: bad, Value: []byte("damaged")})
	m.holds[string(bad)] = "damaged"
	var ops []engine.Op
	for range m.r.IntN(40) {
		ops = append(ops, m.op())
	}
	ops = append(ops, engine.Op{Kind: engine.Merge, Key: bad, Value: []byte("x")})
	m.engine.Commit(ops, func(err error) {
		if err == nil {
			m.Error("a commit that cannot be folded is taken")
		}
	})
}

// update runs an Update that reads between its writes, and fails sometimes.
func (m *model) update() {
	after := maps.Clone(m.holds)
	broken := errors.New("broken")
	fails := m.r.IntN(4) == 0
	err := engine.Update(context.Background(), m.engine, []byte("g"), func(txn engine.Txn) error {
		for range m.r.IntN(6) {
			op := m.op()
			apply(m.T, after, op)
			op.WriteTo(txn)
			if m.r.IntN(2) == 0 {
				m.compare(txn, after)
			}
		}
		if fails {
			return broken
		}
		return nil
	})
	if fails != (err != nil) {
		m.Fatal("the error of an update is", err)
	}
	if !fails {
		m.holds = after
	}
}

func (m *model) deleteRange() {
	start, end := m.key(), m.key()
	if err := m.engine.DeleteRange([]byte(start), []byte(end)); err != nil {
		m.Fatal(err)
	}
	maps.DeleteFunc(m.holds, func(k, _ string) bool { return k >= start && k < end })
}

// checkTree checks what all trees have in common.
func checkTree(t testing.TB, tr *tree.Tree) (rows, leaves int) {
	t.Helper()
	rows, leaves, err := tr.Check()
	if err != nil {
		t.Fatal(err)
	}
	return rows, leaves
}
