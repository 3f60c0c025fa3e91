package store

import (
	"context"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/types"
)

// Entries of overwritten values go with sweeps in the background where they are many, and all of them with one that
// is asked for.
func TestCleanIndexes(t *testing.T) {
	s := open(t, "", Options{SweepEvery: time.Hour})
	defer closeStore(t, s)
	table := defineIndexedInts(t, s, "v")
	index := uint64(s.state.Load().indexes[uint32(table.StoreID)][0].ID)
	const n, few = 10_000, 5
	write := func(from, to, step, v int, at int64) {
		t.Helper()
		for i := from; i < to; i += step {
			m := NewMutation(table, types.EncodeInt(int32(i)))
			m.Row(nil)
			m.Set(table.Column("v"), types.EncodeInt(int32(v+i)), at, Expiry{})
			if err := apply(s, m); err != nil {
				t.Fatal(err)
			}
		}
	}
	sweep := func(pause int) {
		t.Helper()
		s.usages.Of(uint32(table.StoreID)).NoteDue(0)
		if err := s.sweepAll(context.Background(), pause); err != nil {
			t.Fatal(err)
		}
	}
	write(0, n, 1, 0, 1)
	write(0, n/2, 1, 2*n, 2)
	if got := storedKeys(t, s, index); got != n+n/2 {
		t.Fatalf("%d entries, want those of %d values", got, n+n/2)
	}
	sweep(1)
	if got := storedKeys(t, s, index); got < n || got > n+n/100 {
		t.Errorf("after a sweep in the background %d entries, want about %d", got, n)
	}
	write(n/2, n, n/2/few, 2*n, 3)
	sweep(0)
	if got := storedKeys(t, s, index); got != n {
		t.Errorf("after a sweep that was asked for %d entries, want %d", got, n)
	}
}
