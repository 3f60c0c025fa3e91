package store

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/index"
)

// BenchmarkTextIndexes inserts texts of some 40 bytes into tables with SSTable-attached indexes, and reads one of
// 20,000 rows by a pattern of LIKE: through the index, and by comparing all rows.
func BenchmarkTextIndexes(b *testing.B) {
	const n = 20_000
	for i, x := range termIndexes()[:3] {
		b.Run(x.Column(), func(b *testing.B) {
			var spent [2]time.Duration
			for indexed := range 2 {
				s, _ := openBench(b, b.TempDir())
				spec := *newTable(b, "base", "k bigint", "", x.Column()+" text")
				if indexed == 1 {
					spec.Indexes = termIndexes()[i : i+1]
				}
				define(b, s, schema.NewTable(spec))
				waitForIndexes(b, s)
				t := s.Catalog().Table("ks", "base")
				spent[indexed] = processorTime(func() {
					for i := range n {
						m := NewMutation(t, binary.BigEndian.AppendUint64(nil, uint64(i)))
						m.Row(nil)
						m.Set(t.Regular[0], fmt.Appendf(nil, "%d the quick brown fox %d jumps", i, i*7919%n), 1, Expiry{})
						if err := apply(s, m); err != nil {
							b.Fatal(err)
						}
					}
				})
				bench := &indexBench{B: b, Store: s, table: t}
				if indexed == 0 {
					all := processorTime(func() { bench.read(&Read{Table: t}, n) })
					b.ReportMetric(float64(all.Microseconds()), "cpu-µs/scan")
				} else {
					match := func(i int) (index.Match, string) {
						if x.Column() == "prefix" {
							return index.MatchBeginning, fmt.Sprintf("%d the", i)
						}
						return index.MatchInside, fmt.Sprintf("fox %d jumps", i)
					}
					took := quickest(20, func(i int) {
						how, part := match(i * 31 % n)
						l := index.Lookup{Index: t.Indexes[0], Value: []byte(part), Match: how}
						bench.read(&Read{Table: t, Lookups: []index.Lookup{l}}, 1)
					})
					b.ReportMetric(float64(took.Nanoseconds()), "cpu-ns/read")
				}
				closeStore(b, s)
			}
			b.ReportMetric(float64((spent[1]-spent[0]).Nanoseconds())/n, "cpu-ns/write-more")
			b.ReportMetric(0, "ns/op")
		})
	}
}
