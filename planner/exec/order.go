package exec

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec/filter"
	"github.com/cqld/cqld/planner/exec/restriction"
	"github.com/cqld/cqld/store"
)

// sortedRows gathers encoded rows, and keeps the first ones in an order. Of equal rows the first ones stay.
type sortedRows struct {
	limit   int
	compare func(a, b *sortedRow) int
	rows    []sortedRow
	holding
}

// sortedRow is an encoded row with the values or the similarity that it is sorted by.
type sortedRow struct {
	cells []byte
	by    [][]byte
	score float32
}

// rowMemory is about how much memory a gathered row takes besides its values.
const rowMemory = 96

// size is about how much memory a row takes.
func (s *sortedRow) size() int { return rowMemory + len(s.cells) + length(s.by) + 24*len(s.by) }

// encodeRow adds the cells of a row.
func (s *sortedRows) encodeRow(r *reading, row [][]byte, by [][]byte, score float32) error {
	if err := r.out.encode(&r.x, row); err != nil {
		return err
	}
	s.rows = append(s.rows, sortedRow{cells: r.out.take(), by: by, score: score})
	n := s.rows[len(s.rows)-1].size()
	if len(s.rows) >= 2*min(s.limit, noLimit/2)+64 {
		if err := s.cut(r); err != nil {
			return err
		}
	}
	return s.grow(r.read.Turn, n)
}

// cut sorts the rows and drops the rows beyond the LIMIT.
func (s *sortedRows) cut(r *reading) error {
	err := restriction.SortStably(&r.x, s.rows, func(a, b sortedRow) int { return s.compare(&a, &b) })
	s.drop(min(len(s.rows), s.limit))
	return err
}

// drop drops the rows from an index on.
func (s *sortedRows) drop(from int) {
	for i := from; i < len(s.rows); i++ {
		s.used -= s.rows[i].size()
		s.rows[i] = sortedRow{}
	}
	s.rows = s.rows[:from]
}

// finish makes the rows the result.
func (s *sortedRows) finish(r *reading) error {
	if err := s.cut(r); err != nil {
		return err
	}
	for i := range s.rows {
		if err := r.out.appendEncoded(s.rows[i].cells); err != nil {
			return err
		}
		s.rows[i].cells = nil
	}
	r.out.Count = len(s.rows)
	return nil
}

// merging sorts the rows of several partitions by clustering columns.
type merging struct{ sortedRows }

func newMerging(sorts []planner.Sort, limit int) *merging {
	compare := func(a, b *sortedRow) int { return compareSorted(sorts, a.by, b.by) }
	return &merging{sortedRows{limit: limit, compare: compare}}
}

func (m *merging) collect(r *reading, partition []byte, row [][]byte, _ bool) (more bool, err error) {
	r.enterPartition(partition)
	r.page.partitionLeft--
	return true, m.addRow(r, row)
}

// addRow adds a row, or the row of a group.
func (m *merging) addRow(r *reading, row [][]byte) error {
	by := make([][]byte, len(r.plan.Sorts))
	for i, o := range r.plan.Sorts {
		by[i] = bytes.Clone(row[o.Column.Index])
	}
	return m.encodeRow(r, row, by, 0)
}

// compareSorted orders rows by ORDER BY. Null, in a row that has static columns only, sorts first in the table's order.
func compareSorted(sorts []planner.Sort, a, b [][]byte) int {
	for i, o := range sorts {
		x, y := a[i], b[i]
		order := 0
		switch {
		case x == nil && y == nil:
		case x == nil:
			order = -1
		case y == nil:
			order = 1
		default:
			order = o.Column.Type.Compare(x, y)
		}
		if null := x == nil || y == nil; o.Desc != (null && o.Column.Desc) {
			order = -order
		}
		if order != 0 {
			return order
		}
	}
	return 0
}

// nearest keeps the rows whose vectors are nearest to a given one. In large tables the store delivers only rows that
// are near. If restrictions or deletions leave too few, the read begins again and looks for more, in the end for all.
type nearest struct {
	sortedRows
	read store.Nearest
}

// The number of rows that the store looks for at first, and the factor by which it grows each time.
const (
	minWide = 160
	widenBy = 8
)

// widen makes the read look for more rows. It reports false if there are as many as are wanted, or no more.
func (n *nearest) widen() bool {
	if !n.read.Approximate || len(n.rows) >= n.limit {
		return false
	}
	n.drop(0)
	n.read.Wide, n.read.Take = widenBy*n.read.Wide, 0
	return true
}

// maxNearest is the largest LIMIT of an order by vectors.
const maxNearest = 1000

func (n *nearest) collect(r *reading, partition []byte, row [][]byte, _ bool) (more bool, err error) {
	r.enterPartition(partition)
	r.page.partitionLeft--
	near := r.plan.Nearest
	vector := row[near.Column.Index]
	if vector == nil || checkVector(near.Index, vector, near.Column.Type) != nil {
		return true, nil
	}
	r.x.Row = row
	score, err := near.Score.Eval(&r.x)
	if err != nil {
		return false, err
	}
	return true, n.encodeRow(r, row, nil, types.DecodeFloat(score.Bytes))
}

// minSpare is how many rows are read beyond the LIMIT, in case some were deleted or overwritten.
const minSpare = 10

// maxComponent is the largest number in an indexed vector.
const maxComponent = float32(1e17)

// checkVector refuses a vector that an index cannot store or compare: one with numbers that are too large or not
// finite, and a vector of zeros for cosine similarity. Cassandra fails on them.
func checkVector(x *schema.Index, vector []byte, t types.Type) error {
	zero := true
	i := 0
	for e := range types.VectorElements(t.(*types.Vector), vector) {
		f := types.DecodeFloat(e)
		if !(f >= -maxComponent && f <= maxComponent) {
			return cqlerr.Invalidf("A vector with %s at [%d] cannot be indexed or compared: its numbers must be finite and at most 1.0E17",
				types.Float.Format(e), i)
		}
		zero = zero && f == 0
		i++
	}
	if zero && x.Similarity() == "COSINE" {
		return cqlerr.Invalidf("A vector of zeros cannot be indexed or compared by cosine similarity")
	}
	return nil
}

// orderByDistance checks ORDER BY ... ANN OF and evaluates its vector. Such a read has no pages and asks one replica.
func (r *reading) orderByDistance(o *Options) error {
	p := r.plan
	switch {
	case p.Summarizes():
		return cqlerr.Invalidf("Top-K queries can not be run with aggregation")
	case o.Consistency.IsSerial():
		return cqlerr.Invalidf("Top-K queries can only be run with consistency level ONE/LOCAL_ONE. Consistency level %s was "+
			"used.", o.Consistency)
	}
	if level := oneReplica(o.Consistency); level != o.Consistency {
		r.out.Warnings = append(r.out.Warnings, "Top-K queries can only be run with consistency level ONE / LOCAL_ONE / "+
			"NODE_LOCAL. Consistency level "+o.Consistency.String()+" was requested. Downgrading the consistency level to "+
			level.String()+".")
		r.level = level
	}
	switch {
	case r.page.limit == noLimit:
		return cqlerr.Invalidf("Top-K queries must have a limit specified and the limit must be less than the query page size")
	case r.page.perPartition != noLimit:
		return cqlerr.Invalidf("Top-K queries do not support per-partition limits")
	}
	if o.PageSize > 0 && o.PageSize < r.page.limit {
		r.out.Warnings = append(r.out.Warnings, fmt.Sprintf("Top-K queries do not support paging and the page size is set to %d, "+
			"which is less than LIMIT %d. The page size has been set to %d to match the LIMIT.", o.PageSize, r.page.limit,
			r.page.limit))
	}
	v, err := p.Nearest.Value.Eval(&r.x)
	if err == nil {
		err = filter.CheckValue(v, p.Nearest.Column)
	}
	if err == nil && r.page.limit > maxNearest {
		err = cqlerr.Invalidf("Use of ANN OF in an ORDER BY clause requires a LIMIT that is not greater than %d. LIMIT was %d",
			maxNearest, r.page.limit)
	}
	if err == nil {
		err = checkVector(p.Nearest.Index, v.Bytes, p.Nearest.Column.Type)
	}
	if err != nil {
		return err
	}
	n := new(nearest)
	n.limit = r.page.limit
	n.compare = func(a, b *sortedRow) int { return cmp.Compare(b.score, a.score) }
	n.read = store.Nearest{Index: p.Nearest.Index, Vector: v.Bytes, Wide: max(minWide, 2*n.limit)}
	if len(p.Where.Filters) == 0 {
		n.read.Take = n.limit + n.limit/2 + minSpare
	}
	r.collector, r.read.Nearest = n, &n.read
	r.page.limit, r.page.size, r.page.resumed = noLimit, noLimit, nil
	return nil
}
