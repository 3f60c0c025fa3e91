package store

import (
	"context"
	"slices"
	"testing"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// Who still has the table as it was can write to a column that has been dropped, and nobody sees it: not even those
// who read a column of that name that was added later, if it was written before the drop.
func TestDroppedMeanwhile(t *testing.T) {
	var c clock
	c.micros.Store(1000 * 1e6)
	s := open(t, "", Options{Now: c.now})
	defer closeStore(t, s)
	define(t, s, newTable(t, "t", "k int", "", "v int, w text"))
	old := s.Catalog().Table("ks", "t")
	dropped := old.WithoutColumns([]string{"w"}, 20)
	define(t, s, dropped)
	write := func(ts int64, value string) {
		m := NewMutation(old, types.EncodeInt(1))
		m.Row(nil)
		m.Set(old.Column("w"), []byte(value), ts, Expiry{})
		if err := apply(s, m); err != nil {
			t.Fatal(err)
		}
	}
	write(20, "before")
	again := dropped.WithColumns([]*schema.Column{{Name: "w", Type: types.Text, Kind: schema.Regular}})
	define(t, s, again)
	read := func() []string { return readRows(t, s, &Read{Table: again}) }
	if got := read(); len(got) != 0 {
		t.Errorf("%v is read", got)
	}
	write(21, "later")
	if got := read(); !slices.Equal(got, []string{"k=1 w='later'"}) {
		t.Errorf("%v is read", got)
	}
}

// A table is swept soon after it has lost a column, or its gc_grace_seconds have changed; not after other changes.
func TestSweptAfterChange(t *testing.T) {
	var c clock
	c.micros.Store(1000 * 1e6)
	s := open(t, "", Options{Now: c.now})
	defer closeStore(t, s)
	define(t, s, newTable(t, "t", "k int", "", "v int, w text"))
	comment := func(t *schema.Table) { t.Options.Comment += "x" }
	grace := func(t *schema.Table) { t.Options.GCGraceSeconds += 5 }
	drop := func(t *schema.Table) { *t = *t.WithoutColumns([]string{"w"}, 20) }
	for i, change := range []struct {
		apply  func(*schema.Table)
		wanted bool
	}{{comment, false}, {grace, true}, {drop, true}} {
		if err := s.Sweep(context.Background()); err != nil {
			t.Fatal(err)
		}
		table := *s.Catalog().Table("ks", "t")
		change.apply(&table)
		define(t, s, schema.NewTable(table))
		if got := s.usages.Of(uint32(table.StoreID)).WantsSweep(s.now().Unix()); got != change.wanted {
			t.Errorf("change %d: a sweep is wanted: %t", i, got)
		}
	}
}
