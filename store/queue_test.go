package store

import (
	"context"
	"testing"

	"github.com/cqld/cqld/cql/types"
)

// TestQueue uses a table as a queue: rows are put behind the last one, and the first one is read and deleted. Though
// nobody sweeps, the rows that were deleted must not pile up in front of the head.
func TestQueue(t *testing.T) {
	var c clock
	c.micros.Store(1000 * 1e6)
	s := open(t, "", Options{Now: c.now})
	defer closeStore(t, s)
	define(t, s, newTable(t, "t", "k int", "c int", "v text"))
	table := s.Catalog().Table("ks", "t")
	key := types.EncodeInt(1)
	const messages = 20000
	for i := range int32(messages) {
		m := NewMutation(table, key)
		m.At(s.Now().Unix())
		m.Row([][]byte{types.EncodeInt(i)})
		m.Mark(s.Timestamp(), Expiry{})
		m.Set(table.Column("v"), []byte("a message"), s.Timestamp(), Expiry{})
		m.Row([][]byte{types.EncodeInt(i - 100)})
		m.DeleteRow(s.Timestamp())
		if err := apply(s, m); err != nil {
			t.Fatal(err)
		}
		if i%100 == 99 {
			c.micros.Add(1e6)
			err := s.Read(context.Background(), &Read{Table: table, Keys: [][]byte{key}, Now: s.Now().Unix()},
				func(*Row) (bool, error) { return false, nil })
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	c.micros.Add(2e6)
	eventually(t, "deleted rows purged", func() bool { return storedKeys(t, s, table.StoreID) < messages/10 })
}
