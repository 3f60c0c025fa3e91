package exec

import (
	"bytes"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
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

// leastShortPage is how many bytes of cells a page has at least when it ends early because memory is scarce.
const leastShortPage = 64 << 10

// page counts the rows of a page, and those of the current partition, against all limits. The rows are those of the
// result: a group is one.
type page struct {
	size          int // rows left on this page; noLimit: no paging
	limit         int // rows left under the LIMIT
	perPartition  int // rows that a partition may give
	partitionLeft int // rows that the current partition may still give
	partition     []byte
	entered       bool // partition is set
	single        bool // there is one partition only
	short         bool // the page may end before it has its rows: the client asks for another page

	resumed *paging.State
	nothing bool // no row can be wanted
	names   bool // it names no row of a partition, and reads static columns
	guarded bool // no row can be wanted, but Cassandra guards the size of pages as if some could
	again   bool // the read has to begin once more, behind reading.position
	full    bool // the page has as many rows as it may
	static  bool // the last row was a static one

	mark     [][]byte // the last row's clustering; nil: there is no such row
	lastCell string   // the last column of the last row that has a value
}

// begin evaluates the limits.
func (p *page) begin(x *expr.Context, plan *planner.Select, o *Options) (err error) {
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
	if p.short = p.pages(plan); p.short {
		p.resumed = o.PagingState
	}
	return nil
}

// pages reports whether the rows come in pages. Where all rows fit on one page, the paging state does not matter.
// Aggregates and groups are read in pages whatever the request says.
func (p *page) pages(plan *planner.Select) bool {
	return p.size < p.limit || len(plan.Selection.Aggregates) > 0 || plan.Grouping != nil
}

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

// errSortedPages refuses partitions that would have to be merged page by page.
func errSortedPages() error {
	return cqlerr.Invalidf("Cannot page queries with both ORDER BY and a IN restriction on the partition key; you must " +
		"either remove the ORDER BY or the IN and sort client side, or disable paging for this query")
}

// isIn reports whether the last row was of the partition.
func (p *page) isIn(partition []byte) bool {
	return p.entered && (p.single || bytes.Equal(p.partition, partition))
}

// enter notes the partition of the next row.
func (p *page) enter(partition []byte) {
	if p.isIn(partition) {
		return
	}
	p.entered = true
	p.partition = append(p.partition[:0], partition...)
	p.partitionLeft = p.perPartition
}

// count counts a row that was put into the result, which has so many bytes of cells, and reports whether there is room
// for more.
func (p *page) count(cells int, turn *pace.Turn) bool {
	p.limit--
	p.partitionLeft--
	if p.size != noLimit {
		p.size--
		if cells > leastShortPage && (cells > maxPageBytes || turn.Short()) && p.short {
			p.size = 0
		}
	}
	return p.limit > 0 && p.size > 0
}

// end notes the last row of the page.
func (p *page) end(t *schema.Table, row [][]byte, static bool) {
	p.full, p.static = true, static
	if p.limit <= 0 || static {
		return
	}
	p.mark = make([][]byte, 0, len(t.Clustering))
	for _, c := range t.Clustering {
		v := row[c.Index]
		if v != nil {
			v = append([]byte{}, v...)
		}
		p.mark = append(p.mark, v)
	}
	for _, c := range t.Regular {
		if row[c.Index] != nil {
			p.lastCell = c.Name
		}
	}
}

// resume goes on where the paging state says that the last page ended.
func (r *reading) resume() (err error) {
	p, s := &r.page, r.page.resumed
	if s == nil {
		return nil
	}
	p.limit = min(p.limit, s.Remaining)
	if p.limit <= 0 {
		p.nothing = true
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
	case p.single:
		// The state may be of another statement: its partition does not matter.
		if p.nothing = s.InPartition == 0; p.nothing || !inside {
			return nil
		}
		key = r.partitions.keys[0]
	case r.read.Keys != nil:
		r.read.Keys, err = r.partitions.seek(key)
		if p.nothing = len(r.read.Keys) == 0; p.nothing {
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
	p.enter(key)
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
	t := r.plan.Table
	s := paging.State{Remaining: p.limit, InPartition: p.partitionLeft, Mark: p.mark, Column: p.lastCell}
	s.Bare = paging.HasBareMarks(t)
	if p.static || len(t.Clustering) == 0 {
		s.InPartition = 0
	}
	switch {
	case p.single:
		if s.InPartition == 0 {
			return nil, nil
		}
	case r.read.Keys != nil:
		s.Partition = p.partition
		if s.InPartition > 0 {
			break
		}
		next, err := r.partitions.behind(p.partition)
		if next == nil {
			return nil, err
		}
		s = paging.State{Partition: next, Remaining: p.limit, InPartition: p.perPartition}
	default:
		s.Partition = p.partition
	}
	return s.Encode(version), nil
}
