package where

import (
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
)

// Clause is a WHERE clause in the shapes that a read or write uses.
type Clause struct {
	// Partition has a choice for each partition key column. It is nil when the key is not given: all
	// partitions, or those in Token, are meant.
	Partition []*Choice
	Token     *Range

	// Clustering has choices for the first clustering columns in order; Slice bounds the next ones.
	Clustering []*Choice
	Slice      *Range

	Filters []*Filter // that rows are compared with one by one
}

// Choice restricts columns to values: = has one value, IN any number.
type Choice struct {
	Columns []*schema.Column // several for (a, b) = (1, 2)
	Points  []Point
	List    expr.Expr // of IN ?, instead of Points
	In      bool      // written as IN with other than one value
}

// Point is a value for each of some columns.
type Point struct {
	Parts []expr.Expr
	Tuple expr.Expr // of (a, b) = ?, instead of Parts
}

// Range restricts columns to values between bounds; one of the bounds may be nil.
type Range struct {
	Columns      []*schema.Column // the longest bound's columns
	Lower, Upper *Bound
}

// Bound is one end of a Range. It may be for the first of the range's columns only.
type Bound struct {
	Columns   []*schema.Column
	Point     Point
	Inclusive bool
}

// Filter is a condition on the values of a row: one of Choice, Range, Contains and Like.
type Filter struct {
	Choice   *Choice
	Range    *Range
	Contains *Contains
	Like     *Like

	Index *schema.Index // that would find the rows, if it compares values in a special way
	Bytes bool          // the index is of the first kind and finds the rows: it compares bytes
	Never bool          // no row satisfies it: an SAI index finds the rows, and this looks inside a frozen collection
}

// Like compares text with a pattern.
type Like struct {
	Column  *schema.Column
	Value   expr.Expr
	Indexes []*schema.Index // that may serve it: which does depends on the pattern
}

// Contains asks whether a collection has an element, a map a key, or an entry.
type Contains struct {
	Column *schema.Column
	Keys   bool      // CONTAINS KEY
	Key    expr.Expr // of an entry
	Value  expr.Expr
}

// MixedOrder reports whether some of the range's columns ascend and some descend, so that it is not one
// range of clustering keys.
func (r *Range) MixedOrder() bool {
	for _, c := range r.Columns {
		if c.Desc != r.Columns[0].Desc {
			return true
		}
	}
	return false
}

// Columns are the columns a filter looks at.
func (f *Filter) Columns() []*schema.Column {
	switch {
	case f.Choice != nil:
		return f.Choice.Columns
	case f.Range != nil:
		return f.Range.Columns
	case f.Like != nil:
		return []*schema.Column{f.Like.Column}
	}
	return []*schema.Column{f.Contains.Column}
}

// Comparisons is how many values outside of their keys rows are compared with. A range with two ends has two.
func (w *Clause) Comparisons() (n int) {
	for _, f := range w.Filters {
		switch {
		case f.Columns()[0].Kind.IsKey():
		case f.Range != nil && f.Range.Lower != nil && f.Range.Upper != nil:
			n += 2
		default:
			n++
		}
	}
	return n
}

// SinglePartition reports whether the clause names one partition key, and no token range on top.
func (w *Clause) SinglePartition() bool {
	return w.Partition != nil && w.Token == nil && allSingle(w.Partition)
}

// NamesRow reports whether the clause gives every primary key column of t by equality, IN included.
func (w *Clause) NamesRow(t *schema.Table) bool {
	n := 0
	for _, c := range w.Clustering {
		n += len(c.Columns)
	}
	return w.Partition != nil && w.Token == nil && n == len(t.Clustering)
}

// ManyRows reports whether IN on clustering columns may name several rows.
func (w *Clause) ManyRows() bool { return !allSingle(w.Clustering) }

// SingleRow reports whether the clause names one value for every primary key column of t.
func (w *Clause) SingleRow(t *schema.Table) bool {
	return w.NamesRow(t) && w.SinglePartition() && !w.ManyRows()
}

// MultiPartition reports whether IN on the partition key may name several partitions.
func (w *Clause) MultiPartition() bool { return w.Partition != nil && !allSingle(w.Partition) }

// allSingle reports whether each of the choices has one value.
func allSingle(choices []*Choice) bool {
	for _, c := range choices {
		if c.List != nil || len(c.Points) != 1 {
			return false
		}
	}
	return true
}

// Plain reports whether the values of = and the bounds of a slice are markers and constants, with nothing to be
// computed.
func (w *Clause) Plain() bool {
	for _, choices := range [...][]*Choice{w.Partition, w.Clustering} {
		for _, c := range choices {
			if c.List != nil && !IsPlain(c.List) || slices.ContainsFunc(c.Points, func(p Point) bool { return !p.isPlain() }) {
				return false
			}
		}
	}
	if s := w.Slice; s != nil {
		for _, b := range [...]*Bound{s.Lower, s.Upper} {
			if b != nil && !b.Point.isPlain() {
				return false
			}
		}
	}
	return w.Token == nil && len(w.Filters) == 0
}

// Costly reports whether computing the values that name rows may take long, see expr.Costly.
func (w *Clause) Costly() bool {
	return slices.ContainsFunc(w.Partition, (*Choice).Costly) || slices.ContainsFunc(w.Clustering, (*Choice).Costly) ||
		w.Slice.Costly()
}

// Costly reports whether computing the values may take long.
func (c *Choice) Costly() bool {
	return expr.Costly(c.List) || slices.ContainsFunc(c.Points, Point.costly)
}

// Costly reports whether computing the bounds may take long; nil has none.
func (r *Range) Costly() bool {
	return r != nil && (r.Lower != nil && r.Lower.Point.costly() || r.Upper != nil && r.Upper.Point.costly())
}

func (p Point) costly() bool {
	return expr.Costly(p.Tuple) || slices.ContainsFunc(p.Parts, expr.Costly)
}

func (p *Point) isPlain() bool {
	return p.Tuple == nil && !slices.ContainsFunc(p.Parts, func(e expr.Expr) bool { return !IsPlain(e) })
}

// IsPlain reports whether an expression calls no function.
func IsPlain(e expr.Expr) bool {
	switch e.(type) {
	case *expr.Marker, *expr.Constant:
		return true
	}
	return false
}
