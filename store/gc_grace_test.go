package store

import (
	"testing"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/rows"
)

// TestPurgeUnderEqualTombstones purges a deleted row with a counter under the tombstone of a range that was written
// at the same timestamp, and in an earlier second. When that may go and the row's may not, the row's has to stay: a
// counter is kept until the last tombstone over it goes, and would be seen again.
func TestPurgeUnderEqualTombstones(t *testing.T) {
	table := newTable(t, "t", "k int", "c int", "n counter")
	spec := *table
	spec.Options.GCGraceSeconds = 10
	table = schema.NewTable(spec)
	m := NewMutation(table, types.EncodeInt(1))
	m.At(103)
	m.Row([][]byte{types.EncodeInt(1)})
	m.DeleteRow(5)
	m.Add(table.Column("n"), 7, 5)
	value := m.appendOps(nil, 0)[0].Value

	for now, stays := range map[int64]bool{112: true, 113: true, 114: false} {
		p := rows.NewPurger(table, now)
		hidden := rows.Tombstone{Timestamp: 5, Second: 102}
		if p.Due(hidden.Second) {
			hidden = rows.NoTombstone // it goes in the sweep that looks at the row
		}
		kept, _, err := p.Purge(value, rows.Tombstone{Timestamp: 5, Second: 102})
		if err != nil {
			t.Fatal(err)
		}
		if (kept != nil) != stays {
			t.Errorf("at %d %x is kept", now, kept)
		}
		if kept == nil {
			continue
		}
		var r rows.Reader
		if err := r.ReadHead(kept); err != nil {
			t.Fatal(err)
		}
		if r.Deletion.Later(hidden).Timestamp != 5 {
			t.Errorf("at %d nothing hides the counter any more", now)
		}
	}
}
