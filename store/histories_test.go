package store

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
	"github.com/cqld/cqld/store/engine/memory"
	"github.com/cqld/cqld/store/rows"
)

// groundKind says which engine a ground has, and whether sweeps there wait for writes that come late.
type groundKind struct {
	engine string
	hasty  bool
}

// grounds are the stores that histories are played on.
type grounds map[groundKind]*ground

// ground is a store with the tables that histories are of.
type ground struct {
	groundKind
	store  *Store
	memory *enginetest.Memory // nil: the engine is not hostile
	clock  *clock
	wide   []*schema.Table // with columns that were dropped and added again, without them, with another of such a name
	plain  *schema.Table   // without clustering columns
	count  *schema.Table   // of counters
	tables []*schema.Table // those that the history at hand is of
}

func openGrounds(t *testing.T) grounds {
	g := grounds{}
	for _, kind := range []groundKind{
		{"hostile", false},
		{"hostile", true},
		{"disk", false},
		{"disk", true},
		{"memory", false},
		{"memory", true},
	} {
		g[kind] = openGround(t, kind)
	}
	return g
}

func (g grounds) close(t *testing.T) {
	for _, ground := range g {
		closeStore(t, ground.store)
	}
}

func openGround(t *testing.T, kind groundKind) *ground {
	g := &ground{groundKind: kind, clock: new(clock)}
	s, err := Open(Options{Now: g.clock.now, SweepEvery: time.Hour, Engine: func(f engine.Fold) (engine.Engine, error) {
		switch kind.engine {
		case "memory":
			return memory.Open(f), nil
		case "disk":
			if openDisk == nil { // the histories are the same with it, so they have as many grounds
				return memory.Open(f), nil
			}
			return openSmallDisk("", f)
		}
		g.memory = enginetest.NewMemory(f, true)
		return g.memory, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	g.store = s
	wide := *newTable(t, "wide", "k int", "c int, d int desc",
		"s text static, x map<int:text> static, u text, l list<text>, v map<int:text>, w text, y set<int>, q set<decimal>")
	user := &types.UserType{Name: "t"}
	for _, name := range []string{"a", "b", "c"} {
		user.Fields = append(user.Fields, types.Field{Name: name, Type: types.Text})
	}
	wide.Columns = append(slices.Clone(wide.Columns), &schema.Column{Name: "z", Type: user, Kind: schema.Regular})
	plain := *newTable(t, "plain", "k int", "", "u text, v map<int:text>")
	count := *newTable(t, "count", "k int", "c int, d int desc", "n counter, m counter, o counter static")
	for _, spec := range []*schema.Table{&wide, &plain, &count} {
		if !kind.hasty {
			spec.Options.GCGraceSeconds = 10000
		}
		define(t, s, schema.NewTable(*spec))
	}
	c := s.Catalog()
	g.plain, g.count = c.Table("ks", "plain"), c.Table("ks", "count")
	whole := c.Table("ks", "wide")
	dropped := whole.WithoutColumns([]string{"w", "v", "x", "l"}, 2)
	again := dropped.WithColumns([]*schema.Column{whole.Column("w"), whole.Column("v"), whole.Column("x")})
	define(t, s, again)
	other := *dropped
	other.Columns = append(slices.Clone(dropped.Columns),
		&schema.Column{Name: "w", Type: types.Text, Kind: schema.Regular})
	g.wide = []*schema.Table{again, dropped, schema.NewTable(other)}
	return g
}

// hostile makes the engine do from here on what follows from a number.
func (g *ground) hostile(n uint64) {
	if g.memory != nil {
		g.memory.Seed(n)
	}
}

// choose draws the table of a history.
func (g *ground) choose(r *rand.Rand) {
	switch r.IntN(6) {
	case 0:
		g.tables = []*schema.Table{g.plain}
	case 1:
		g.tables = []*schema.Table{g.count}
	default:
		g.tables = g.wide
	}
}

func (g *ground) counters() bool { return g.tables[0] == g.count }

// empty removes what is in the table.
func (g *ground) empty() error {
	id := uint32(g.tables[0].StoreID)
	g.store.deletions.Forget(id)
	return g.store.engine.DeleteRange(rows.AppendArea(nil, id, rows.AreaTombstones),
		rows.AppendArea(nil, id+1, rows.AreaTombstones))
}

// sweep sweeps the table at a second.
func (g *ground) sweep(now int64) error {
	g.clock.micros.Store(now * 1e6)
	g.store.usages.Drop(uint32(g.tables[0].StoreID))
	return g.store.Sweep(context.Background())
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// draw draws a write: few rows, timestamps and values, so that they often meet.
func (g *ground) draw(r *rand.Rand) write {
	t := pick(r, g.tables...)
	w := write{
		ts: int64(r.IntN(6)), second: int64(r.IntN(4)), partition: int32(r.IntN(2)),
		row: pick(r, placesOf(t, false)...),
	}
	if r.IntN(3) == 0 {
		w.expiry = Expiry{TTL: pick[int32](r, 5, 7), At: int64(100 + r.IntN(4))}
	}
	clustered := len(t.Clustering) > 0
	switch n := r.IntN(20); {
	case n < 3 && !g.counters():
		w.kind = "mark"
	case n < 4:
		w.kind = "row"
	case n < 6 && clustered:
		w.kind, w.slice = "range", drawSlice(r)
	case n < 7 && r.IntN(2) == 0:
		w.kind = "partition"
	default:
		w.static = len(t.Static) > 0 && r.IntN(4) == 0
		columns := t.Regular
		if w.static {
			columns = t.Static
		}
		w.column = pick(r, columns...)
		w.drawCell(r)
	}
	return w
}

// drawCell draws what is written to the column.
func (w *write) drawCell(r *rand.Rand) {
	if w.column.Type == types.Counter {
		w.kind, w.change = "add", int64(r.IntN(9)-3)
		if r.IntN(6) == 0 {
			w.kind, w.change = "uncount", 0
		}
		return
	}
	w.value = pick(r, nil, []byte("a"), []byte("b"), []byte("c"), []byte{})
	w.kind = "set"
	if types.IsMultiCell(w.column.Type) {
		w.kind = "part"
		if r.IntN(5) == 0 {
			w.kind, w.value = "clear", nil
		}
	}
	if w.kind == "part" {
		w.drawPart(r)
	}
	if w.value == nil {
		w.expiry = Expiry{}
	}
}

// drawPart draws which part is written.
func (w *write) drawPart(r *rand.Rand) {
	switch t := w.column.Type.(type) {
	case *types.List:
		w.name = AppendPlace(nil, int64(r.IntN(3)-1), uint64(r.IntN(2)))
	case *types.UserType:
		w.name = AppendField(nil, r.IntN(3))
	case *types.Map:
		w.name = types.EncodeInt(int32(r.IntN(3) - 1))
	case *types.Set:
		if w.name = types.EncodeInt(int32(r.IntN(3) - 1)); t.Elem != types.Int {
			// 0.1, 0.10 and 1: two of them are equal
			w.name = pick(r, []byte{0, 0, 0, 1, 1}, []byte{0, 0, 0, 2, 10}, []byte{0, 0, 0, 0, 1})
		}
		if w.value != nil {
			w.value = []byte{}
		}
	}
}

// drawSlice draws a slice of rows, which may have none.
func drawSlice(r *rand.Rand) modelSlice {
	bound := func() place { return place{int32(r.IntN(4) - 1), int32(r.IntN(2))}[:r.IntN(3)] }
	if r.IntN(4) == 0 {
		row := place{int32(r.IntN(3)), int32(r.IntN(2))}
		return modelSlice{row, row, true, true}
	}
	return modelSlice{bound(), bound(), r.IntN(2) == 0, r.IntN(2) == 0}
}

// say writes w into a mutation.
func (w *write) say(m *Mutation) {
	m.At(w.second)
	switch w.kind {
	case "partition":
		m.DeletePartition(w.ts)
		return
	case "range":
		m.DeleteRange(w.slice.stored(), w.ts)
		return
	}
	if w.static {
		m.Static()
	} else {
		m.Row(w.row.values())
	}
	switch w.kind {
	case "mark":
		m.Mark(w.ts, w.expiry)
	case "row":
		m.DeleteRow(w.ts)
	case "set":
		m.Set(w.column, w.value, w.ts, w.expiry)
	case "part":
		m.SetPart(w.column, w.name, w.value, w.ts, w.expiry)
	case "clear":
		m.Clear(w.column, w.ts)
	case "add":
		m.Add(w.column, w.change, w.ts)
	case "uncount":
		m.DeleteCounter(w.column, w.ts)
	}
}

// mutations are those that say some writes, one or several in each.
func (p *player) mutations(writes []write) (ms []*Mutation) {
	for i := range writes {
		w := &writes[i]
		if i == 0 || w.partition != writes[i-1].partition || p.random.IntN(2) == 0 {
			ms = append(ms, NewMutation(p.tables[0], types.EncodeInt(w.partition)))
		}
		w.say(ms[len(ms)-1])
	}
	return ms
}

// write applies some writes together.
func (p *player) write(writes []write) error { return apply(p.store, p.mutations(writes)...) }

// foldAll folds a short history in every order, and each in some grouping. What is stored must have the same bytes.
func (p *player) foldAll() error {
	if len(p.writes) > 5 || p.counters() {
		return nil
	}
	var first map[string][]byte
	return permute(slices.Clone(p.writes), func(writes []write) error {
		p.orders++
		cut := p.random.IntN(len(writes) + 1)
		got, err := p.folded(writes[:cut])
		if err != nil {
			return err
		}
		more, err := p.folded(writes[cut:])
		if err != nil {
			return err
		}
		for key, value := range more {
			if got[key], err = rows.Fold(nil, []byte(key), got[key], value); err != nil {
				return err
			}
		}
		if first == nil {
			first = got
		}
		if !maps.EqualFunc(got, first, bytes.Equal) {
			return fmt.Errorf("folded in the order %v, cut at %d, they are %x, and were %x", writes, cut, got, first)
		}
		return nil
	})
}

// folded is what an empty store holds after some writes.
func (p *player) folded(writes []write) (map[string][]byte, error) {
	values := map[string][]byte{}
	for _, m := range p.mutations(writes) {
		for _, op := range m.appendOps(nil, 1) {
			value, err := rows.Fold(nil, op.Key, values[string(op.Key)], op.Value)
			if err != nil {
				return nil, err
			}
			values[string(op.Key)] = value
		}
		m.release()
	}
	return values, nil
}

// permute calls fn with every order.
func permute(writes []write, fn func([]write) error) error {
	var from func(int) error
	from = func(n int) error {
		if n == len(writes) {
			return fn(writes)
		}
		for i := n; i < len(writes); i++ {
			writes[n], writes[i] = writes[i], writes[n]
			if err := from(n + 1); err != nil {
				return err
			}
			writes[n], writes[i] = writes[i], writes[n]
		}
		return nil
	}
	return from(0)
}
