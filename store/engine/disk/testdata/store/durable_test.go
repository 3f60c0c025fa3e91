package store

import (
	"bytes"
	"encoding/binary"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"
	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/disk"
)

// BenchmarkDurable has 128 writers that each wait until their insert is synced to disk, beside as many that use Badger
// alone with a transaction for each.
func BenchmarkDurable(b *testing.B) {
	s, err := Open(Options{Log: zerolog.Nop(), Engine: func(f engine.Fold) (engine.Engine, error) {
		return disk.Open(disk.Options{Dir: b.TempDir(), Sync: disk.Batch, Log: zerolog.Nop()}, f)
	}})
	if err != nil {
		b.Fatal(err)
	}
	defer closeStore(b, s)
	define(b, s, newTable(b, "bench", "k bigint", "c bigint", "v0 blob, v1 blob, v2 blob, v3 blob, v4 blob"))
	t := s.Catalog().Table("ks", "bench")
	value := bytes.Repeat([]byte("x"), 100)
	stored := writesPerSecond(func(i int) error {
		m := NewMutation(t, binary.BigEndian.AppendUint64(nil, uint64(i/10000)))
		m.Row([][]byte{binary.BigEndian.AppendUint64(nil, uint64(i))})
		m.Mark(int64(i), Expiry{})
		for _, c := range t.Regular {
			m.Set(c, value, int64(i), Expiry{})
		}
		return apply(s, m)
	})
	o := badgerdb.DefaultOptions(b.TempDir()).WithLogger(nil).WithSyncWrites(true).WithDetectConflicts(false)
	alone, err := badgerdb.OpenManaged(o)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = alone.Close() }()
	r := raw{db: alone}
	row := bytes.Repeat([]byte("x"), rowBytes)
	single := writesPerSecond(func(i int) error {
		txn := alone.NewTransactionAt(uint64(i), true)
		if err := txn.Set(r.key(i), row); err != nil {
			return err
		}
		return txn.CommitAt(uint64(i+1), nil)
	})
	b.ReportMetric(stored, "writes/s")
	b.ReportMetric(single, "badger-alone/s")
	b.ReportMetric(stored/single, "times-as-many")
	b.ReportMetric(0, "ns/op")
}

// writesPerSecond lets 128 goroutines write for three seconds.
func writesPerSecond(write func(i int) error) float64 {
	var next, done atomic.Int64
	var group sync.WaitGroup
	began := time.Now()
	for range 128 {
		group.Go(func() {
			for time.Since(began) < 3*time.Second {
				if write(int(next.Add(1))) == nil {
					done.Add(1)
				}
			}
		})
	}
	group.Wait()
	return float64(done.Load()) / time.Since(began).Seconds()
}
