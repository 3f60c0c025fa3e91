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
// denotes either end of the ring.
type tokenSpan struct{ start, end string }

// spans are the parts of the ring of which the session's node is the first replica, in order, and the share of the
// ring that each is. Only the nodes of the datacenter count if near is set.
func (n *node) spans(session store.Session, near bool) (spans []tokenSpan, shares []float64) {
	self := n.self(session)
	at := []int64{math.MinInt64}
	add := func(tokens []int64) {
		for _, token := range tokens {
			if token != math.MinInt64 {
				at = append(at, token)
			}
		}
	}
	add(self.Tokens)
	for _, p := range n.peers(session) {
		if !near || p.Datacenter == self.Datacenter {
			add(p.Tokens)
		}
	}
	slices.Sort(at)
	for i, start := range at {
		end, last, owner := int64(math.MinInt64), float64(math.MaxInt64), at[min(1, len(at)-1)]
		if i+1 < len(at) {
			end, last, owner = at[i+1], float64(at[i+1]), at[i+1]
		}
		if slices.Contains(self.Tokens, owner) {
			spans = append(spans, tokenSpan{strconv.FormatInt(start, 10), strconv.FormatInt(end, 10)})
			shares = append(shares, (last-float64(start))/math.Exp2(64))
		}
	}
	return spans, shares
}

// eachTable calls begin for each keyspace whose tables are not the node's own, and fn for its tables.
func (n *node) eachTable(c *schema.Catalog, begin func(*schema.Keyspace), fn func(*schema.Table)) {
	for _, k := range c.Keyspaces() {
		if k.Virtual || schema.IsLocal(k.Name) || len(k.Tables) == 0 {
			continue
		}
		begin(k)
		for _, t := range k.SortedTables() {
			fn(t)
		}
	}
}

// eachEstimate calls fn for each of some parts of the ring with the estimate of a table's partitions there: keys are
// spread evenly. The next read has a better estimate if the table has changed much.
func (n *node) eachEstimate(t *schema.Table, spans []tokenSpan, shares []float64, fn func(tokenSpan, int64, int64)) {
	n.recount(t)
	e := n.estimate(t)
	share, shown := 0.0, int64(0)
	for i, span := range spans {
		share += shares[i]
		count := int64(math.Round(float64(e.Partitions)*share)) - shown
		shown += count
		fn(span, e.MeanPartition(), count)
	}
}

// fillSizeEstimates shows the estimates as they are at this moment.
func fillSizeEstimates(n *node, w *writer, session store.Session, c *schema.Catalog) {
	spans, shares := n.spans(session, false)
	begin := func(k *schema.Keyspace) { w.partition(types.EncodeText(k.Name)) }
	n.eachTable(c, begin, func(t *schema.Table) {
		n.eachEstimate(t, spans, shares, func(span tokenSpan, mean, count int64) {
			w.row(types.EncodeText(t.Name), types.EncodeText(span.start), types.EncodeText(span.end))
			w.bigint("mean_partition_size", mean)
			w.bigint("partitions_count", count)
		})
	})
}

// fillTableEstimates shows them twice: for the first replica of all, and for the first one in each datacenter.
func fillTableEstimates(n *node, w *writer, session store.Session, c *schema.Catalog) {
	begin := func(k *schema.Keyspace) { w.partition(types.EncodeText(k.Name)) }
	n.eachTable(c, begin, func(t *schema.Table) {
		for _, kind := range []string{"local_primary", "primary"} {
			spans, shares := n.spans(session, kind == "local_primary")
			n.eachEstimate(t, spans, shares, func(span tokenSpan, mean, count int64) {
				w.row(types.EncodeText(t.Name), types.EncodeText(kind), types.EncodeText(span.start), types.EncodeText(span.end))
				w.bigint("mean_partition_size", mean)
				w.bigint("partitions_count", count)
			})
		}
	})
}
