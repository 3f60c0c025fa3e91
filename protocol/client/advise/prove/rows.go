package prove

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/advise"
)

// rowSet is a multiset of rows: how often each one's hash occurs.
type rowSet map[uint64]int64

// minus counts the rows that another set does not have.
func (s rowSet) minus(other rowSet) (n int64) {
	for hash, count := range s {
		n += max(0, count-other[hash])
	}
	return n
}

// seed is the seed of the hashes of rows.
var seed = maphash.MakeSeed()

// add adds the rows of a result. The order of its columns does not matter.
func (s rowSet) add(r *client.Result) {
	order := make([]int, len(r.Columns))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.Columns[a].Name, r.Columns[b].Name) })
	var h maphash.Hash
	h.SetSeed(seed)
	for _, row := range r.Rows {
		h.Reset()
		for _, i := range order {
			fmt.Fprintf(&h, "%s %d %t ", r.Columns[i].Name, len(row[i]), row[i] == nil)
			_, _ = h.Write(row[i])
		}
		s[h.Sum64()]++
	}
}

// read runs a query, and adds up its cost.
func (p *prover) read(ctx context.Context, q *cql.Select, cost *advise.Cost) (rowSet, error) {
	all := rowSet{}
	p.Cost() // of statements before
	o := client.QueryOptions{Consistency: cqlerr.LocalOne, PageSize: 1000}
	for {
		page, err := p.Conn.Query(ctx, q.String(), nil, &o)
		if err != nil {
			return nil, err
		}
		all.add(page)
		cost.Returned += int64(len(page.Rows))
		if page.PagingState == nil {
			break
		}
		o.PagingState = page.PagingState
	}
	read := p.Cost()
	cost.RowsRead += read.RowsRead
	cost.Tombstones += read.Tombstones
	cost.Queries++
	return all, nil
}
