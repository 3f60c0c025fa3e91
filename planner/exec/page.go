package exec

import (
	"bytes"
	"encoding/binary"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec/paging"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/pace"
)

// noLimit is Cassandra's number for no limit.
const noLimit = paging.NoLimit

// maxPageBytes is how many bytes of cells end a page before it has the rows that the client asked for.
const maxPageBytes = 16 << 20

// minShortPage is how many bytes of cells a page has at least if it ends early because memory is scarce.
const minShortPage = 64 << 10

// page counts the rows of the result and of the current partition against all limits. A group is one row.
type page struct {
	size  int // rows left on this page; noLimit: no paging
	limit int // rows left under the LIMIT
	paged bool
	full  bool // no further row fits

	resumed *paging.State // where the page before ended; nil: this is the first one
	next    paging.State  // where this page ended, if it is full

	perPartition  int    // rows that a partition may give
	partitionLeft int    // rows that the current partition may still give
	partition     []byte // the current partition; nil: no row was counted yet
	buffer        []byte // the memory of partition
}

// setLimits evaluates the limits.
func (p *page) setLimits(x *expr.Context, plan *planner.Select, o *Options) (err error) {
	p.size = noLimit
	if o.PageSize > 0 {
		p.size = o.PageSize
	}
	if p.limit, err = limit(x, plan.Limit); err != nil {
		return err
	}
	if p.perPartition, err = limit(x, plan.PerPartitionLimit); err != nil {
		return err
	}
	if plan.Distinct {
		p.perPartition = 1
		if plan.Grouping != nil {
			p.size = noLimit // Cassandra has no pages of these
		}
	}
	p.partitionLeft = p.perPartition
	if p.paged = p.pages(plan); p.paged {
		p.resumed = o.PagingState
	}
	return nil
}

// pages reports whether the rows come in pages. If all rows fit on one page, the paging state does not matter.
// Aggregates and groups are read in pages whatever the request says.
func (p *page) pages(plan *planner.Select) bool { return p.size < p.limit || plan.Summarizes() }

// limit evaluates LIMIT or PER PARTITION LIMIT.
func limit(x *expr.Context, e expr.Expr) (int, error) {
	if e == nil {
		return noLimit, nil
	}
	v, n, err := intValue(x, e)
	switch {
	case err != nil:
		return 0, err
	case v.Unset:
		return noLimit, nil
	case v.Bytes == nil:
		return 0, cqlerr.Invalidf("Invalid null value of limit")
	case n <= 0:
		return 0, cqlerr.Invalidf("LIMIT must be strictly positive")
	}
	return int(n), nil
}

// intValue evaluates an int expression, which may be null or unset.
func intValue(x *expr.Context, e expr.Expr) (v types.Value, n int32, err error) {
	if v, err = e.Eval(x); err != nil || len(v.Bytes) != 4 {
		return v, 0, err
	}
	return v, int32(binary.BigEndian.Uint32(v.Bytes)), nil
}

// errSortedPages refuses partitions that would have to be merged page by page.
func errSortedPages() error {
	return cqlerr.Invalidf("Cannot page queries with both ORDER BY and a IN restriction on the partition key; you must " +
		"either remove the ORDER BY or the IN and sort client side, or disable paging for this query")
}

// pageRows is the collector of a read whose rows go to the page one by one.
type pageRows struct{}

func (pageRows) collect(r *reading, partition []byte, row [][]byte, static bool) (more bool, err error) {
	r.enterPartition(partition)
	if err := r.out.encode(&r.x, row); err != nil {
		return false, err
	}
	r.out.Count++
	more = r.countRow(row, static)
	if r.page.partitionLeft <= 0 && !static {
		r.tombstones.StopPartition()
	}
	return more, nil
}

func (pageRows) finish(*reading) error { return nil }

// isInPartition reports whether the last row that was counted was of the partition.
func (r *reading) isInPartition(partition []byte) bool {
	p := &r.page
	return p.partition != nil && (r.readsOnePartition() || bytes.Equal(p.partition, partition))
}

// enterPartition notes the partition of the next row.
func (r *reading) enterPartition(partition []byte) {
	if r.isInPartition(partition) {
		return
	}
	p := &r.page
	if p.buffer = append(p.buffer[:0], partition...); p.buffer == nil {
		p.buffer = []byte{}
	}
	p.partition, p.partitionLeft = p.buffer, p.perPartition
}

// countRow counts a row of the result, and reports whether there is room for more. row is the last stored row of it.
func (r *reading) countRow(row [][]byte, static bool) (more bool) {
	p := &r.page
	p.count(r.out.size(), r.read.Turn)
	if p.limit > 0 && p.size > 0 {
		return true
	}
	p.full = true
	if p.limit > 0 {
		p.next = stateAt(r.plan.Table, row, static)
		p.next.Remaining, p.next.InPartition = p.limit, p.partitionLeft
		if static || len(r.plan.Table.Clustering) == 0 {
			p.next.InPartition = 0
		}
	}
	return false
}

// count counts a row. cells is the size of all cells of the result: a large page ends early.
func (p *page) count(cells int, turn *pace.Turn) {
	p.limit--
	p.partitionLeft--
	if p.size == noLimit {
		return
	}
	p.size--
	if p.paged && cells > minShortPage && (cells > maxPageBytes || turn.Short()) {
		p.size = 0
	}
}

// stateAt is the paging state that names a row of the table.
func stateAt(t *schema.Table, row [][]byte, static bool) paging.State {
	s := paging.State{Bare: paging.HasBareMarks(t)}
	if static {
		return s
	}
	s.Mark = make([][]byte, 0, len(t.Clustering))
	for _, c := range t.Clustering {
		s.Mark = append(s.Mark, bytes.Clone(row[c.Index]))
	}
	for _, c := range t.Regular {
		if row[c.Index] != nil {
			s.Column = c.Name
		}
	}
	return s
}

// resume continues where the last page ended according to the paging state.
func (r *reading) resume() (err error) {
	p, s := &r.page, r.page.resumed
	if s == nil {
		return nil
	}
	p.limit = min(p.limit, s.Remaining)
	if r.empty = p.limit <= 0; r.empty {
		return nil
	}
	var clustering [][]byte
	if s.InPartition > 0 {
		if clustering, err = s.Clustering(r.plan.Table); err != nil {
			return err
		}
	}
	inside := clustering != nil
	key := s.Partition
	switch {
	case r.readsOnePartition():
		// The state may be of another statement: its partition does not matter.
		if r.empty = s.InPartition == 0; r.empty || !inside {
			return nil
		}
		key = r.partitions.keys[0]
	case r.read.Keys != nil:
		r.read.Keys, err = r.partitions.seek(key)
		if r.empty = len(r.read.Keys) == 0; r.empty {
			return err
		}
	default:
		if err := s.CheckPartition(r.plan.Table); err != nil {
			return err
		}
		if key == nil {
			key = []byte{}
		}
		r.position = store.Position{Partition: key, Whole: !inside, Clustering: clustering}
		r.read.After = &r.position
	}
	r.enterPartition(key)
	p.partitionLeft = min(p.perPartition, s.InPartition)
	if inside {
		r.position = store.Position{Partition: key, Clustering: clustering}
		r.read.After = &r.position
	}
	return nil
}

// pagingState is where the next page begins; nil: there is none.
func (r *reading) pagingState(version int) ([]byte, error) {
	p := &r.page
	if !p.full || p.limit <= 0 || p.size > 0 {
		return nil, nil
	}
	s := p.next
	switch {
	case r.readsOnePartition():
		if s.InPartition == 0 {
			return nil, nil
		}
	case r.read.Keys != nil && s.InPartition == 0:
		next, err := r.partitions.after(p.partition)
		if next == nil {
			return nil, err
		}
		s = paging.State{Partition: next, Remaining: p.limit, InPartition: p.perPartition}
	default:
		s.Partition = p.partition
	}
	return s.Encode(version), nil
}
