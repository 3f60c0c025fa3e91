//go:build !race

package store_test

import (
	"testing"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/memory"
)

// TestEntryAllocations holds what an index adds to an insert in memory near the one allocation that the engine makes
// for an entry.
func TestEntryAllocations(t *testing.T) {
	inserts := func(indexed ...string) float64 {
		s := open(t, "", store.Options{Engine: func(f engine.Fold) (engine.Engine, error) { return memory.Open(f), nil }})
		defer closeStore(t, s)
		spec := *newTable(t, "base", "k int", "", "v int, w text, x int")
		for _, column := range indexed {
			spec.Indexes = append(spec.Indexes, &schema.Index{Name: column, Targets: []schema.IndexTarget{{Column: column}}})
		}
		define(t, s, schema.NewTable(spec))
		waitForIndexes(t, s)
		table := s.Catalog().Table("ks", "base")
		done := func(err error) {
			if err != nil {
				t.Error(err)
			}
		}
		ms, value, key := make([]*store.Mutation, 1), types.EncodeInt(7), []byte{0, 0, 0, 0}
		return testing.AllocsPerRun(5000, func() {
			for i := range key {
				if key[i]++; key[i] != 0 {
					break
				}
			}
			m := store.NewMutation(table, key)
			m.Row(nil)
			m.Mark(1, store.Expiry{})
			for _, c := range table.Regular {
				m.Set(c, value, 1, store.Expiry{})
			}
			ms[0] = m
			s.Apply(ms, done)
		})
	}
	plain, indexed := inserts(), inserts("v", "w", "x")
	t.Logf("an insert allocates %v times, with three indexes %v times", plain, indexed)
	if more := (indexed - plain) / 3; more > 1.2 {
		t.Errorf("an index adds %v allocations", more)
	}
}
