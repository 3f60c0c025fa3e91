package store_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/rows"
)

// TestCountTogether changes two counters from several goroutines: each change must count, whichever partitions a
// write is of.
func TestCountTogether(t *testing.T) {
	s := open(t, "", store.Options{})
	defer closeStore(t, s)
	define(t, s, newTable(t, "t", "k int", "c int", "n counter"))
	table := s.Catalog().Table("ks", "t")
	const writers, changes = 8, 50
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range changes {
				var ms []*store.Mutation
				for key := range 2 {
					m := store.NewMutation(table, types.EncodeInt(int32((key+w)%2)))
					m.Row([][]byte{types.EncodeInt(1)})
					m.Add(table.Column("n"), int64(key+1), int64(i))
					ms = append(ms, m)
				}
				if err := apply(s, ms...); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	// Half of the writers add 1 to the first partition and 2 to the second, the others the other way round.
	for key := range 2 {
		got := readRows(t, s, &store.Read{Table: table, Keys: [][]byte{types.EncodeInt(int32(key))}})
		if want := "c=1 n=600"; len(got) != 1 || !bytes.HasSuffix([]byte(got[0]), []byte(want)) {
			t.Errorf("partition %d: %q, want %s", key, got, want)
		}
	}
}

// TestCounterFoldLaws checks that folding totals and tombstones does not depend on order, grouping or repetition.
func TestCounterFoldLaws(t *testing.T) {
	table := newTable(t, "t", "k int", "c int", "n counter, m counter")
	r := rand.New(rand.NewPCG(7, 8))
	random := func() []byte {
		w := rows.Writer{Head: rows.NoHead}
		if r.IntN(3) == 0 {
			w.Deletion = rows.Tombstone{Timestamp: int64(r.IntN(3)), Second: int64(r.IntN(2))}
		}
		for _, c := range table.Regular {
			n := rows.Cell{Column: c.ID, Counter: true, Deleted: r.IntN(4) == 0, Timestamp: int64(r.IntN(3))}
			if n.Deleted {
				n.Expiry.At = int64(r.IntN(2))
			} else {
				n.Value = binary.BigEndian.AppendUint64(nil, uint64(r.IntN(3)))
				n.Value = binary.BigEndian.AppendUint64(n.Value, uint64(r.IntN(2)))
			}
			w.WriteCell(&n)
		}
		return w.Finish()
	}
	for range 20000 {
		a, b, c := random(), random(), random()
		f := func(x, y []byte) []byte { return mustFold(t, x, y) }
		if !bytes.Equal(f(a, b), f(b, a)) || !bytes.Equal(f(a, a), a) || !bytes.Equal(f(f(a, b), c), f(a, f(b, c))) {
			t.Fatalf("%x %x %x", a, b, c)
		}
	}
}
