package exec

import (
	"bytes"
	"math"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/store"
)

// noLimit is Cassandra's number for no limit, which paging states count down from.
const noLimit = math.MaxInt32

// maxPageBytes is how many bytes of cells end a page before it has the rows that were asked for.
const maxPageBytes = 16 << 20

// leastShortPage is how many bytes of cells a page has at least that ends early because memory is scarce.
const leastShortPage = 64 << 10

// page counts the rows of a page and of the partition it is in, against all limits.
type page struct {
	size          int // rows left on this page; noLimit: no paging
	limit         int // rows left in all
	perPartition  int // rows that a partition may give
	partitionLeft int // that the current one may still give
	partition     []byte
	entered       bool // partition is one of this page's
	single        bool // there is one partition only
	short         bool // the page may end before it has its rows: the client looks for another one

	resumed *pagingState
	nothing bool // no row can be wanted
	again   bool // the read is to begin once more, behind position
	full    bool // the page has as many rows as it may
	static  bool // the last row was a static one

	mark     [][]byte // the last row's clustering; not nil if there is such a row
	lastCell string   // the last of its columns that has a value
}

// begin evaluates the limits and reads the paging state.
func (p *page) begin(r *reading, o *Options) (err error) {
	plan := r.plan
	p.size = noLimit
	if o.PageSize > 0 {
		p.size = o.PageSize
	}
	if p.limit, err = limit(&r.x, plan.Limit); err != nil {
		return err
	}
	if p.perPartition, err = limit(&r.x, plan.PerPartitionLimit); err != nil {
		return err
	}
	if plan.Distinct {
		p.perPartition = 1
	}
	p.partitionLeft = p.perPartition
	p.short = p.pages(plan)
	if o.PagingState == nil || !p.short {
		return nil
	}
	p.resumed, err = decodePagingState(o.PagingState, o.Version)
	return err
}

// pages reports whether the rows come in pages. Where all of them fit on one, a paging state is not looked at.
// Aggregates read in pages whatever the request says.
func (p *page) pages(plan *planner.Select) bool {
	return p.size < p.limit || len(plan.Selection.Aggregates) > 0
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

// errSortedPages is for partitions that would have to be merged page by page.
func errSortedPages() error {
	return cqlerr.Invalidf("Cannot page queries with both ORDER BY and a IN restriction on the partition key; you must " +
		"either remove the ORDER BY or the IN and sort client side, or disable paging for this query")
}

// resume goes on where the paging state says the last page ended.
func (r *reading) resume() (err error) {
	p, s := &r.page, r.page.resumed
	if s == nil {
		return nil
	}
	p.limit = min(p.limit, s.remaining)
	if p.limit <= 0 {
		p.nothing = true
		return nil
	}
	var clustering [][]byte
	if s.inPartition > 0 {
		if clustering, err = s.clustering(r.plan.Table); err != nil {
			return err
		}
	}
	inside := clustering != nil
	key := s.partition
	switch {
	case p.single:
		// The state may be of another statement: whose partition it was does not matter.
		if p.nothing = s.inPartition == 0; p.nothing || !inside {
			return nil
		}
		key = r.keys[0]
	case r.rest != nil:
		var err error
		if p.nothing = !r.rest.seek(key); !p.nothing {
			_, err = r.nextKeys()
		}
		if p.nothing = p.nothing || len(r.keys) == 0 || !bytes.Equal(r.keys[0], key); p.nothing {
			return err
		}
	case r.read.Keys != nil:
		for len(r.read.Keys) > 0 && !bytes.Equal(r.read.Keys[0], key) {
			r.read.Keys = r.read.Keys[1:]
		}
		if p.nothing = len(r.read.Keys) == 0; p.nothing {
			return nil
		}
	default:
		if err := s.checkPartition(r.plan.Table); err != nil {
			return err
		}
		if key == nil {
			key = []byte{}
		}
		r.position = store.Position{Partition: key, Whole: !inside, Clustering: clustering}
		r.read.After = &r.position
	}
	p.enter(key)
	p.partitionLeft = min(p.perPartition, s.inPartition)
	if inside {
		r.position = store.Position{Partition: key, Clustering: clustering}
		r.read.After = &r.position
	}
	return nil
}

// enter notes which partition rows are of from here on.
func (p *page) enter(partition []byte) {
	if p.entered && (p.single || bytes.Equal(p.partition, partition)) {
		return
	}
	p.entered = true
	p.partition = append(p.partition[:0], partition...)
	p.partitionLeft = p.perPartition
}

// count takes a row that was put into the result off all limits, and reports whether there is room for
// more. When there is not it remembers the row.
func (p *page) count(r *reading, partition []byte, row [][]byte, static bool) bool {
	p.limit--
	p.partitionLeft--
	if p.size != noLimit {
		p.size--
		n := len(r.out.Cells)
		if n > leastShortPage && (n > maxPageBytes || r.read.Turn.Short()) && p.short {
			p.size = 0
		}
	}
	if p.limit > 0 && p.size > 0 {
		return true
	}
	p.full, p.static = true, static
	if p.limit <= 0 || static {
		return false
	}
	p.mark = make([][]byte, 0, len(r.plan.Table.Clustering))
	for _, c := range r.plan.Table.Clustering {
		v := row[c.Index]
		if v != nil {
			v = append([]byte{}, v...)
		}
		p.mark = append(p.mark, v)
	}
	for _, c := range r.plan.Table.Regular {
		if row[c.Index] != nil {
			p.lastCell = c.Name
		}
	}
	return false
}

// pagingState is where the next page begins; nil if there is none.
func (r *reading) pagingState(version int) ([]byte, error) {
	p := &r.page
	if !p.full || p.limit <= 0 || p.size > 0 {
		return nil, nil
	}
	s := pagingState{remaining: p.limit, inPartition: p.partitionLeft, mark: p.mark, column: p.lastCell}
	s.bare = hasBareMarks(r.plan.Table)
	if p.static || len(r.plan.Table.Clustering) == 0 {
		s.inPartition = 0
	}
	switch {
	case p.single:
		if s.inPartition == 0 {
			return nil, nil
		}
	case r.read.Keys != nil:
		s.partition = p.partition
		if s.inPartition > 0 {
			break
		}
		next, err := r.keyBehind(p.partition)
		if next == nil {
			return nil, err
		}
		s = pagingState{partition: next, remaining: p.limit, inPartition: p.perPartition}
	default:
		s.partition = p.partition
	}
	return s.encode(version), nil
}

// keyBehind is the partition key that follows another in an IN; nil behind the last.
func (r *reading) keyBehind(key []byte) ([]byte, error) {
	for i, k := range r.keys {
		if bytes.Equal(k, key) && i+1 < len(r.keys) {
			return r.keys[i+1], nil
		}
	}
	if r.rest != nil {
		return r.rest.after()
	}
	return nil, nil
}
