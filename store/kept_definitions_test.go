package store

import (
	"testing"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// keeping is an engine of files that is in memory: it has a copy of the definitions, which is on disk at once, and its
// data, of which a power cut leaves what was synced.
type keeping struct {
	*enginetest.Memory
	synced   *enginetest.Memory
	kept     []byte
	onKeep   func() // nil: nothing happens after a copy was written
	repaired *engine.Repair
}

func (k *keeping) Sync() error {
	k.synced = k.Memory.Reopen(nil)
	return nil
}

func (k *keeping) Keep(content []byte) error {
	if k.kept = content; k.onKeep != nil {
		k.onKeep()
	}
	return nil
}

func (k *keeping) Kept() ([]byte, error)             { return k.kept, nil }
func (k *keeping) Repaired() (*engine.Repair, error) { return k.repaired, nil }

func (k *keeping) RepairEnded() error {
	k.repaired = nil
	return nil
}

// open opens a store on data.
func (k *keeping) open(t *testing.T, data *enginetest.Memory) (*Store, error) {
	t.Helper()
	return tryOpen(t, "", Options{Still: true, Engine: func(f engine.Fold) (engine.Engine, error) {
		if k.Memory = enginetest.NewMemory(f, false); data != nil {
			k.Memory = data.Reopen(f)
		}
		return k, nil
	}})
}

// TestKeptAfterPowerCut cuts the power after each copy of the definitions: the folder opens, without a repair.
func TestKeptAfterPowerCut(t *testing.T) {
	for cut := 1; ; cut++ {
		k, copies := new(keeping), 0
		var left keeping
		k.onKeep = func() {
			if copies++; copies == cut {
				left = keeping{synced: k.synced, kept: k.kept}
			}
		}
		s, err := k.open(t, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range definitions {
			if err := s.Define(func(c *schema.Catalog) (*schema.Catalog, error) { return d.change(t, c), nil }); err != nil {
				t.Fatalf("definition %d: %v", i, err)
			}
		}
		closeStore(t, s)
		if copies < cut {
			break
		}
		s, err = left.open(t, left.synced)
		if err != nil {
			t.Errorf("after copy %d: %v", cut, err)
			continue
		}
		closeStore(t, s)
	}
}

// TestRepairOfUncommitted has a server die after it has written the copy of a new table, and before the table. A repair
// may define the table, but then another one gets another number.
func TestRepairOfUncommitted(t *testing.T) {
	for i, d := range definitions {
		k := new(keeping)
		s, err := k.open(t, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range definitions[:i] {
			if err := s.Define(func(c *schema.Catalog) (*schema.Catalog, error) { return d.change(t, c), nil }); err != nil {
				t.Fatal(err)
			}
		}
		var left *keeping
		k.onKeep = func() {
			if left == nil {
				left = &keeping{synced: k.Memory.Reopen(nil), kept: k.kept, repaired: new(engine.Repair)}
			}
		}
		if err := s.Define(func(c *schema.Catalog) (*schema.Catalog, error) { return d.change(t, c), nil }); err != nil {
			t.Fatal(err)
		}
		closeStore(t, s)
		if s, err = left.open(t, left.synced); err != nil {
			t.Errorf("%s: %v", d.name, err)
			continue
		}
		if s.Catalog().Keyspace("ks") != nil {
			define(t, s, newTable(t, "another", "k int", "c int", "v text"))
		}
		numbers := map[uint64]string{}
		for _, table := range userTables(s.Catalog()) {
			if other := numbers[table.StoreID]; other != "" {
				t.Errorf("%s: the tables %s and %s have the same number", d.name, table.Name, other)
			}
			numbers[table.StoreID] = table.Name
		}
		closeStore(t, s)
	}
}
