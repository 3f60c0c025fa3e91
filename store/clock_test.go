package store

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// reopening is a store whose engine outlives it. Closing the store writes nothing, so it stands for a crash too.
type reopening struct {
	clock  atomic.Int64 // in microseconds
	memory *enginetest.Memory
}

func (r *reopening) open(t *testing.T) *Store {
	return open(t, "", Options{
		Now: func() time.Time { return time.UnixMicro(r.clock.Load()) },
		Engine: func(f engine.Fold) (engine.Engine, error) {
			if r.memory == nil {
				r.memory = enginetest.NewMemory(f, false)
			} else {
				r.memory = r.memory.Reopen(f)
			}
			return r.memory, nil
		},
	})
}

// setsV is a mutation that sets the column v of a row of one column.
func setsV(t *schema.Table, key, v []byte, ts int64) *Mutation {
	m := NewMutation(t, key)
	m.Row(nil)
	m.Set(t.Column("v"), v, ts, Expiry{})
	return m
}

// TestTimestampsGoOn puts the clock back and forth while the store is closed. Each write and each decision has a later
// timestamp than the ones before it, and the first timestamp is not far ahead of the clock.
func TestTimestampsGoOn(t *testing.T) {
	var r reopening
	r.clock.Store(1_800_000_000_000_000)
	var last int64
	steps := []time.Duration{0, -time.Hour, time.Second, -24 * time.Hour, 48 * time.Hour, -time.Microsecond}
	for round, step := range steps {
		r.clock.Add(step.Microseconds())
		s := r.open(t)
		if round == 0 {
			define(t, s, newTable(t, "t", "k int", "", "v int"))
		}
		table := s.Catalog().Table("ks", "t")
		latest := max(r.clock.Load(), last+boundMargin+1)
		for i := range 300 {
			var given int64
			var err error
			key := types.EncodeInt(int32(i % 3))
			if round%2 == 0 {
				err = decideAndWait(s, table, key, func(*Snapshot) ([]*Mutation, error) {
					given = s.Timestamp()
					return []*Mutation{setsV(table, key, key, given)}, nil
				})
			} else {
				given = s.Timestamp()
				err = apply(s, setsV(table, key, key, given))
			}
			if err != nil {
				t.Fatal(err)
			}
			if given <= last {
				t.Fatalf("round %d: %d was given after %d", round, given, last)
			}
			if i == 0 && given > latest {
				t.Errorf("round %d: the first timestamp is %d, later than %d", round, given, latest)
			}
			last = given
			r.clock.Add(time.Millisecond.Microseconds())
		}
		closeStore(t, s)
	}
}

// TestWritesAfterClockWentBack puts the clock back by an hour between two writes to a row, the first of which has a
// TTL. The second one is seen, at a time that was not drawn along by a client's timestamp of the far future. TTLs are
// of the clock as it is.
func TestWritesAfterClockWentBack(t *testing.T) {
	var r reopening
	r.clock.Store(1_800_000_000_000_000)
	s := r.open(t)
	base := newTable(t, "viewed", "k int", "", "v int")
	define(t, s, newTable(t, "t", "k int", "", "v int"), base)
	define(t, s, viewOf(base, newTable(t, "byv", "v int", "k int", "")))
	one, two, future := types.EncodeInt(1), types.EncodeInt(2), types.EncodeInt(3)
	for _, name := range []string{"t", "viewed"} {
		r.clock.Add(2 * time.Hour.Microseconds())
		table := s.Catalog().Table("ks", name)
		first, expiry := s.Timestamp(), Expiry{TTL: 60, At: s.Now().Unix() + 60}
		m := NewMutation(table, one)
		m.Row(nil)
		m.Mark(first, expiry)
		m.Set(table.Column("v"), one, first, expiry)
		if err := apply(s, m, setsV(table, future, one, first+time.Hour.Microseconds()*24*365*100)); err != nil {
			t.Fatal(err)
		}
		closeStore(t, s)

		r.clock.Add(-time.Hour.Microseconds())
		s = r.open(t)
		table = s.Catalog().Table("ks", name)
		second := s.Timestamp()
		if second > first+time.Second.Microseconds() {
			t.Errorf("the timestamp %d is far behind %d", second, first)
		}
		if err := apply(s, setsV(table, one, two, second)); err != nil {
			t.Fatal(err)
		}
		for _, now := range []int64{s.Now().Unix(), expiry.At} {
			got := readRows(t, s, &Read{Table: table, Keys: [][]byte{one}, Now: now})
			if len(got) != 1 || got[0] != "k=1 v=2" {
				t.Errorf("%s has %q at %d", name, got, now)
			}
		}
	}
	closeStore(t, s)
}

// TestBoundCostsNoWrites counts the commits that move the bound: one in a tenth of a second.
func TestBoundCostsNoWrites(t *testing.T) {
	var r reopening
	r.clock.Store(1_800_000_000_000_000)
	s := r.open(t)
	define(t, s, newTable(t, "t", "k int", "", "v int"))
	table := s.Catalog().Table("ks", "t")
	moved, bound := 0, s.bound.Load()
	for range 3 {
		for i := range 1000 {
			if err := apply(s, setsV(table, types.EncodeInt(int32(i)), []byte{0, 0, 0, 1}, s.Timestamp())); err != nil {
				t.Fatal(err)
			}
			if now := s.bound.Load(); now != bound {
				moved, bound = moved+1, now
			}
		}
		r.clock.Add(2 * boundMargin)
	}
	if moved > 3 {
		t.Errorf("3000 writes in three moments have moved the bound %d times", moved)
	}
}

// A bound that is stored later than another one does not replace it if it is lower: commits may come in any order.
func TestBoundsInAnyOrder(t *testing.T) {
	var r reopening
	s := r.open(t)
	for _, bound := range []int64{5000, 9000, 7000} {
		if err := s.commit([]engine.Op{boundOp(bound)}); err != nil {
			t.Fatal(err)
		}
	}
	closeStore(t, s)
	if s = r.open(t); s.Timestamp() != 9001 {
		t.Errorf("the bound is %d", s.bound.Load())
	}
}
