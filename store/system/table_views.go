package system

import (
	"math"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
)

// tableFiller makes the row of one table in a table of metrics.
type tableFiller func(n *node, w *writer, t *schema.Table)

// ofEachTable is a filler with a row for each table and view whose rows are not made by code as virtual tables' are.
func ofEachTable(fill tableFiller) filler {
	return func(n *node, w *writer, _ store.Session, c *schema.Catalog) {
		for _, k := range c.Keyspaces() {
			if k.Virtual {
				continue
			}
			for _, all := range [...]map[string]*schema.Table{k.Tables, k.Views} {
				for _, t := range all {
					key := types.AppendCompositeKey(nil, types.EncodeText(k.Name))
					w.partition(types.AppendCompositeKey(key, types.EncodeText(t.Name)))
					w.row()
					fill(n, w, t)
				}
			}
		}
	}
}

// latencyFiller fills tables of latencies.
func latencyFiller(of func(TableActivity) Latency) filler {
	return ofEachTable(func(n *node, w *writer, t *schema.Table) {
		l := of(n.activity(t))
		w.bigint("count", l.Count)
		w.double("max_ms", milliseconds(l.Max))
		w.double("p50th_ms", milliseconds(l.P50))
		w.double("p99th_ms", milliseconds(l.P99))
		w.double("per_second", thousandths(l.PerSecond))
	})
}

// amountFiller fills tables of what reads go over.
func amountFiller(of func(TableActivity) Distribution) filler {
	return ofEachTable(func(n *node, w *writer, t *schema.Table) {
		d := of(n.activity(t))
		w.bigint("count", d.Count)
		w.double("max", float64(d.Max))
		w.double("p50th", float64(d.P50))
		w.double("p99th", float64(d.P99))
	})
}

// sizeFiller fills tables of sizes, in mebibytes.
func sizeFiller(of func(store.Estimate) int64) filler {
	return ofEachTable(func(n *node, w *writer, t *schema.Table) {
		bytes := int64(0)
		if !schema.IsLocal(t.Keyspace) && t.View == nil {
			bytes = of(n.estimate(t))
		}
		w.bigint("mebibytes", (bytes+1<<20-1)>>20)
	})
}

// noSize is the size of what this node does not have.
func noSize(store.Estimate) int64 { return 0 }

// fillDurations makes system_views.max_sstable_duration: there are no SSTables.
var fillDurations = ofEachTable(func(_ *node, w *writer, _ *schema.Table) { w.bigint("max_sstable_duration", 0) })

// activity is what the statements of a table took.
func (n *node) activity(t *schema.Table) (a TableActivity) {
	if n.Monitor != nil {
		a = n.Monitor.Table(t)
	}
	return a
}

// milliseconds rounds a time to thousandths of a millisecond, as Cassandra shows it.
func milliseconds(d time.Duration) float64 {
	return thousandths(float64(d) / float64(time.Millisecond))
}

// thousandths rounds a number.
func thousandths(x float64) float64 { return math.Round(x*1000) / 1000 }
