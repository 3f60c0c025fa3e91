package store

import (
	"testing"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
)

// BenchmarkFolder inserts rows of 560 bytes into a folder, writes some of them again and reads them, with the engine
// disk, and reports the processor time of a row. Closing the folder counts, so that everything counts
// which is done in the background.
func BenchmarkFolder(b *testing.B) {
	needsDisk(b)
	const n, hot = 300_000, 20_000
	openFolder := func(dir string) (*Store, *schema.Table) {
		s, err := Open(Options{Log: zerolog.Nop(), Engine: func(f engine.Fold) (engine.Engine, error) {
			return openDisk(dir, 0, f)
		}})
		if err != nil {
			b.Fatal(err)
		}
		if s.Catalog().Table("ks", "bench") == nil {
			define(b, s, newTable(b, "bench", "k bigint", "c bigint", "v0 blob, v1 blob, v2 blob, v3 blob, v4 blob"))
		}
		return s, s.Catalog().Table("ks", "bench")
	}
	for range b.N {
		dir := b.TempDir()
		s, t := openFolder(dir)
		report := func(name string, rows int, fn func()) {
			b.ReportMetric(float64(processorTime(fn).Nanoseconds())/float64(rows), name)
		}
		report("insert-ns", n, func() {
			insertRows(b, s, t, n)
			closeStore(b, s)
		})
		s, t = openFolder(dir)
		report("overwrite-ns", 10*hot, func() {
			for range 10 {
				insertRows(b, s, t, hot)
			}
			closeStore(b, s)
		})
		s, t = openFolder(dir)
		insertRows(b, s, t, hot)
		for range 2 {
			runStore(b, s, t, "get", 0, hot)
		}
		report("hot-get-ns", hot, func() { runStore(b, s, t, "get", 0, hot) })
		report("hot-slice-row-ns", hot, func() { runStore(b, s, t, "slice", 0, hot) })
		closeStore(b, s)
	}
	b.ReportMetric(0, "ns/op")
}
