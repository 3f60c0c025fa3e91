package exec

import (
	"bytes"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/expr"
)

// grouping makes one row of each group of GROUP BY. A group ends at the first row of another one, or with the last row.
// Limits and pages count groups.
type grouping struct {
	*aggregation      // of the current group
	open         bool // there is a current group
	static       bool // which is a static row

	// last is the last row: its clustering, and of other columns whether they have a value.
	last   [][]byte
	memory []byte // of the values of last
	value  []byte // the value of the function in the current group
}

func newGrouping(p *planner.Select) *grouping {
	return &grouping{aggregation: newAggregation(p.Selection)}
}

// check refuses functions that rows cannot be grouped by, even if there are no rows.
func (g *grouping) check(x *expr.Context, by *planner.Grouping) error {
	for _, e := range by.Beforehand {
		if _, err := e.Eval(x); err != nil {
			return err
		}
	}
	return by.Refused
}

// take puts a row into its group if it passes the filters, and reports whether more are wanted.
func (g *grouping) take(r *reading, partition []byte, row [][]byte, static bool) (more bool, err error) {
	p := &r.page
	if p.isIn(partition) && p.partitionLeft <= 0 {
		return r.skip(partition), nil
	}
	if len(r.filters) > 0 {
		if wanted, err := r.passes(row); !wanted || err != nil {
			return err == nil, err
		}
	}
	first, err := g.begins(r, partition, row)
	if err != nil {
		return false, err
	}
	if first {
		if more, err := g.finishGroup(r); !more || err != nil {
			return false, err
		}
		p.enter(partition)
		if p.partitionLeft <= 0 {
			r.tombstones.StopPartition()
			return r.skip(partition), nil
		}
		g.restart(r.plan.Selection)
		g.open, g.static = true, static
	}
	if err := g.add(r, row); err != nil {
		return false, err
	}
	g.keep(r, row)
	r.countAggregated()
	if r.plan.Distinct {
		if !static {
			r.tombstones.StopPartition()
		}
		return g.finishGroup(r)
	}
	return true, nil
}

// begins reports whether a row is the first one of another group, and keeps the value of the function.
func (g *grouping) begins(r *reading, partition []byte, row [][]byte) (first bool, err error) {
	by := r.plan.Grouping
	first = !g.open || !r.page.isIn(partition)
	for _, c := range by.Columns {
		if first {
			break
		}
		first = differ(c.Type, g.last[c.Index], row[c.Index])
	}
	if by.Function == nil {
		return first, nil
	}
	r.x.Row = row
	v, err := by.Function.Eval(&r.x)
	if err != nil {
		return false, err
	}
	if !first && !differ(by.Function.Type(), g.value, v.Bytes) {
		return false, nil
	}
	if g.value = nil; v.Bytes != nil {
		g.value = append([]byte{}, v.Bytes...)
	}
	return true, nil
}

// differ reports whether two values, which may be null, are not equal in order.
func differ(t types.Type, a, b []byte) bool {
	if a == nil || b == nil {
		return (a == nil) != (b == nil)
	}
	return !bytes.Equal(a, b) && t.Compare(a, b) != 0
}

// keep copies the parts of the last row that the next row and the paging state need.
func (g *grouping) keep(r *reading, row [][]byte) {
	t := r.plan.Table
	if g.last == nil {
		g.last, g.memory = make([][]byte, len(t.Columns)), []byte{}
	}
	g.memory = g.memory[:0]
	for _, c := range t.Clustering {
		if g.last[c.Index] = nil; row[c.Index] != nil {
			from := len(g.memory)
			g.memory = append(g.memory, row[c.Index]...)
			g.last[c.Index] = g.memory[from:len(g.memory):len(g.memory)]
		}
	}
	for _, c := range t.Regular {
		if g.last[c.Index] = nil; row[c.Index] != nil {
			g.last[c.Index] = []byte{}
		}
	}
}

// finishGroup shows the row of the current group, if there is one, and reports whether there is room for more.
func (g *grouping) finishGroup(r *reading) (more bool, err error) {
	if !g.open {
		return true, nil
	}
	g.open = false
	meta := r.meta
	if err := g.result(r); err != nil {
		return false, err
	}
	if r.gather != nil {
		err = r.gather.add(r, g.first)
	} else {
		err = r.out.encode(&r.x, g.first)
		r.out.Count++
	}
	r.meta = meta
	if err != nil {
		return false, err
	}
	if more = r.page.count(r.out.size(), r.read.Turn); !more {
		r.page.end(r.plan.Table, g.last, g.static)
	}
	return more, nil
}

// finish shows the last group.
func (g *grouping) finish(r *reading) error {
	_, err := g.finishGroup(r)
	return err
}
