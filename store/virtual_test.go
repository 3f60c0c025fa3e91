package store_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
)

// TestDefinitionsAreKept makes rows of definitions once for each catalog, and again when making them failed.
func TestDefinitionsAreKept(t *testing.T) {
	table := newTable(t, "virtual", "k int", "", "v text")
	s := open(t, "", store.Options{System: []*schema.Keyspace{{Name: "system"}}})
	defer closeStore(t, s)
	made, broken := 0, errors.New("broken")
	var fails error
	s.AddDefinitions(table, func(_ store.Session, c *schema.Catalog) ([]*store.Mutation, error) {
		made++
		m := store.NewMutation(table, types.EncodeInt(1))
		m.Row(nil)
		m.Mark(1, store.Expiry{})
		m.Set(table.Regular[0], fmt.Append(nil, len(c.Keyspaces())), 1, store.Expiry{})
		return []*store.Mutation{m}, fails
	}, nil)
	check := func(want string, times int) {
		t.Helper()
		for range 3 {
			if got := all(t, s, table); got != want || made != times {
				t.Errorf("%s, made %d times; want %s, %d times", got, made, want, times)
			}
		}
	}
	check("k=1 v='1'", 1)
	define(t, s)
	fails = broken
	for range 2 {
		err := s.Read(t.Context(), &store.Read{Table: table}, func(*store.Row) (bool, error) { return true, nil })
		if !errors.Is(err, broken) {
			t.Errorf("broken: %v", err)
		}
	}
	fails = nil
	check("k=1 v='2'", 4)
}
