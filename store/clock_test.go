package store

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// TestTimestampsOfDecisions puts the clock back and forth while the store is closed. Each decision has a later
// timestamp than the ones before it, and the first timestamp is not far ahead of the clock. Closing the store writes
// nothing, so it stands for a crash too.
func TestTimestampsOfDecisions(t *testing.T) {
	var clock atomic.Int64 // in microseconds
	clock.Store(1_800_000_000_000_000)
	var memory *enginetest.Memory
	var last int64
	steps := []time.Duration{0, -time.Hour, time.Second, -24 * time.Hour, 48 * time.Hour, -time.Microsecond}
	for round, step := range steps {
		clock.Add(step.Microseconds())
		s := open(t, "", Options{
			Now: func() time.Time { return time.UnixMicro(clock.Load()) },
			Engine: func(f engine.Fold) (engine.Engine, error) {
				if memory == nil {
					memory = enginetest.NewMemory(f, false)
				} else {
					memory = memory.Reopen(f)
				}
				return memory, nil
			},
		})
		if round == 0 {
			define(t, s, newTable(t, "t", "k int", "", "v int"))
		}
		table := s.Catalog().Table("ks", "t")
		latest := max(clock.Load(), last+boundAhead+1)
		for i := range 300 {
			var given int64
			key := types.EncodeInt(int32(i % 3))
			err := decideAndWait(s, table, key, func(*Snapshot) ([]*Mutation, error) {
				given = s.Timestamp()
				m := NewMutation(table, key)
				m.Row(nil)
				m.Set(table.Column("v"), key, given, Expiry{})
				return []*Mutation{m}, nil
			})
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
			clock.Add(time.Millisecond.Microseconds())
		}
		closeStore(t, s)
	}
}
