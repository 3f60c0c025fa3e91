package prove

import (
	"context"
	"slices"
	"strconv"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/protocol/client/advise"
)

// queueRule is the rule whose proposal is read as a queue.
const queueRule = "queue"

// consumer simulates a program that reads a queue by its buckets. It begins with the first bucket. If a query returns
// too few rows, it reads on in the next bucket. It leaves an empty bucket for ever when a later one was written to.
type consumer struct {
	periods []int64          // in which rows were written, in order
	written int64            // the last period in which a replayed INSERT has written
	at      map[string]int64 // the first bucket that it reads of each partition of the old table
}

// addPeriod adds a period in which a row was written.
func (c *consumer) addPeriod(period int64) {
	if i, found := slices.BinarySearch(c.periods, period); !found {
		c.periods = slices.Insert(c.periods, i, period)
	}
}

// readsHead reports whether a query reads rows from the beginning of one partition of the old table, in order.
func (p *prover) readsHead(q *cql.Select) bool {
	partition := p.old.OfKind("partition_key")
	if q.JSON || q.Distinct || q.GroupBy != nil || q.OrderBy != nil || q.PerPartitionLimit != nil || q.Custom != nil ||
		len(q.Where) != len(partition) || p.bucket.of.Desc {
		return false
	}
	for _, c := range partition {
		if !gives(q.Where, c.Name) {
			return false
		}
	}
	for _, s := range q.Selectors {
		if _, ok := s.Expr.(*cql.ColumnRef); !ok {
			return false
		}
	}
	_, isLimited := limitOf(q)
	return q.Limit == nil || isLimited
}

// limitOf is the limit of a query.
func limitOf(q *cql.Select) (int64, bool) {
	literal, ok := q.Limit.(*cql.Literal)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(literal.Text, 10, 64)
	return n, err == nil
}

// consume reads the head of the queue from the proposed table. text is one of its queries.
func (p *prover) consume(ctx context.Context, q *cql.Select, cost *advise.Cost) (all rowSet, text string, err error) {
	as, _ := p.translateSelect(&cql.Select{Selectors: q.Selectors, Where: []cql.Relation{p.bucket.relation(0)}})
	partition := ""
	for _, r := range q.Where {
		partition += r.String() + "\x00"
	}
	from, known := p.queue.at[partition]
	wanted, limited := limitOf(q)
	all = rowSet{}
	first := true
	for _, period := range p.queue.periods {
		if known && period < from {
			continue
		}
		as.Where = append(slices.Clone(q.Where), p.bucket.relation(period))
		if limited {
			as.Limit = &cql.Literal{Kind: cql.IntegerLiteral, Text: strconv.FormatInt(wanted, 10)}
		}
		text = as.String()
		before := cost.Returned
		rows, err := p.read(ctx, as, cost)
		if err != nil {
			return nil, "", err
		}
		for hash, n := range rows {
			all[hash] += n
		}
		got := cost.Returned - before
		wanted -= got
		if first = first && got == 0 && period < p.queue.written; first {
			p.queue.at[partition] = period + 1
		}
		if limited && wanted <= 0 {
			break
		}
	}
	if text != "" {
		p.note("the consumer of the queue reads one " + p.bucket.column.Name + " after the other, and leaves an empty one " +
			"when a row of a later one was written; it knows in which ones there are rows")
	}
	return all, text, nil
}
