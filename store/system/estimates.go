package system

import (
	"math"
	"slices"
	"strconv"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
)

// tokenSpan is a part of the ring that belongs to the node, without its start and with its end. The smallest token
// stands for either end of the ring.
type tokenSpan struct{ start, end string }

// spans are the parts of the ring between the node's tokens, in order, and what share of the ring each is.
func (n *node) spans() (spans []tokenSpan, shares []float64) {
	at := []int64{math.MinInt64}
	for _, text := range n.tokens() {
		token, err := strconv.ParseInt(text, 10, 64)
		if err == nil && token != math.MinInt64 {
			at = append(at, token)
		}
	}
	slices.Sort(at)
	for i, start := range at {
		end, last := int64(math.MinInt64), float64(math.MaxInt64)
		if i+1 < len(at) {
			end, last = at[i+1], float64(at[i+1])
		}
		spans = append(spans, tokenSpan{strconv.FormatInt(start, 10), strconv.FormatInt(end, 10)})
		shares = append(shares, (last-float64(start))/math.Exp2(64))
	}
	return spans, shares
}

// eachEstimate calls fn for each table that is not the node's own, and each part of the ring, with the estimate of the
// partitions there: keys are spread evenly.
func (n *node) eachEstimate(
	c *schema.Catalog, begin func(*schema.Keyspace), fn func(*schema.Table, tokenSpan, int64, int64),
) {
	spans, shares := n.spans()
	for _, k := range c.Keyspaces() {
		if k.Virtual || schema.IsLocal(k.Name) || len(k.Tables) == 0 {
			continue
		}
		begin(k)
		for _, t := range k.SortedTables() {
			e := n.estimate(t)
			for i, span := range spans {
				count := int64(math.Round(float64(e.Partitions) * shares[i]))
				fn(t, span, e.MeanPartition(), count)
			}
		}
	}
}

// fillSizeEstimates shows the estimates as they are at this moment.
func fillSizeEstimates(n *node, w *writer, _ store.Session, c *schema.Catalog) {
	begin := func(k *schema.Keyspace) { w.partition(types.EncodeText(k.Name)) }
	n.eachEstimate(c, begin, func(t *schema.Table, span tokenSpan, mean, count int64) {
		w.row(types.EncodeText(t.Name), types.EncodeText(span.start), types.EncodeText(span.end))
		w.bigint("mean_partition_size", mean)
		w.bigint("partitions_count", count)
	})
}

// fillTableEstimates shows them twice: one node's first replicas are those of its data centre.
func fillTableEstimates(n *node, w *writer, _ store.Session, c *schema.Catalog) {
	begin := func(k *schema.Keyspace) { w.partition(types.EncodeText(k.Name)) }
	n.eachEstimate(c, begin, func(t *schema.Table, span tokenSpan, mean, count int64) {
		for _, kind := range []string{"local_primary", "primary"} {
			w.row(types.EncodeText(t.Name), types.EncodeText(kind), types.EncodeText(span.start), types.EncodeText(span.end))
			w.bigint("mean_partition_size", mean)
			w.bigint("partitions_count", count)
		}
	})
}
