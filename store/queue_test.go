package store

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

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

// BenchmarkQueue puts as many messages as -rows says into a queue on disk whose tombstones need not be kept, each time
// reading the first one and deleting it, and reports how long the reads took and what the folder's size is.
func BenchmarkQueue(b *testing.B) {
	dir := b.TempDir()
	s, t := openSweeping(b, dir, time.Second)
	defer closeStore(b, s)
	const waiting = 100
	key := types.EncodeBigInt(1)
	value := bytes.Repeat([]byte("m"), 64)
	write := func(i int64, change func(*Mutation)) {
		m := NewMutation(t, key)
		m.At(s.Now().Unix())
		m.Row([][]byte{types.EncodeBigInt(i)})
		change(m)
		if err := apply(s, m); err != nil {
			b.Fatal(err)
		}
	}
	var taken []time.Duration
	var half int64
	for i := range int64(*growthRows) {
		write(i, func(m *Mutation) {
			m.Mark(s.Timestamp(), Expiry{})
			m.Set(t.Regular[0], value, s.Timestamp(), Expiry{})
		})
		if i < waiting {
			continue
		}
		began := time.Now()
		var head []byte
		err := s.Read(context.Background(), &Read{Table: t, Keys: [][]byte{key}, Now: s.Now().Unix()},
			func(r *Row) (bool, error) {
				head = bytes.Clone(r.Values[1])
				return false, nil
			})
		taken = append(taken, time.Since(began))
		if err != nil || !bytes.Equal(head, types.EncodeBigInt(i-waiting)) {
			b.Fatalf("the head is %x instead of %d, %v", head, i-waiting, err)
		}
		write(i-waiting, func(m *Mutation) { m.DeleteRow(s.Timestamp()) })
		if i == int64(*growthRows)/2 {
			half = folderSize(b, dir)
		}
	}
	slices.Sort(taken)
	b.ReportMetric(float64(taken[len(taken)/2].Nanoseconds()), "head-p50-ns")
	b.ReportMetric(float64(taken[len(taken)*999/1000].Nanoseconds()), "head-p999-ns")
	b.ReportMetric(float64(taken[len(taken)-1].Nanoseconds()), "head-most-ns")
	b.ReportMetric(float64(half)/(1<<20), "MiB-half")
	b.ReportMetric(float64(folderSize(b, dir))/(1<<20), "MiB-end")
}
