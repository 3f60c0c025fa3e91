package exec

import (
	"bytes"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/store"
)

// aggregation makes one row of many. Columns outside of aggregates have the values of the first row.
type aggregation struct {
	states []expr.Accumulator
	filled bool // there is a first row
	first  [][]byte
	meta   []store.CellMeta
	bytes  []byte // the memory of first
	holding
}

func newAggregation(s *planner.Selection) *aggregation {
	a := &aggregation{states: make([]expr.Accumulator, len(s.Aggregates))}
	a.restart(s)
	return a
}

// restart drops all rows.
func (a *aggregation) restart(s *planner.Selection) {
	for i, g := range s.Aggregates {
		a.states[i] = g.Start()
	}
	a.filled, a.used = false, 0
}

func (a *aggregation) collect(r *reading, partition []byte, row [][]byte, _ bool) (more bool, err error) {
	r.enterPartition(partition)
	r.page.partitionLeft--
	r.countAggregated()
	return true, a.addRow(r, row)
}

// addRow adds a row to all aggregates.
func (a *aggregation) addRow(r *reading, row [][]byte) error {
	if !a.filled {
		a.filled = true
		a.first, a.bytes = copyRow(a.first, a.bytes, row)
		a.meta = append(a.meta[:0], r.meta...)
		if err := a.grow(r.read.Turn, length(row)); err != nil {
			return err
		}
	}
	r.x.Row = row
	for _, s := range a.states {
		grown, err := s.Add(&r.x)
		if err == nil && grown > 0 {
			err = a.grow(r.read.Turn, grown)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *aggregation) finish(r *reading) error {
	if err := a.setResults(r); err != nil {
		return err
	}
	r.out.Count = 1
	return r.out.encode(&r.x, a.first)
}

// setResults makes the context of the reading that of the first row, with the results of the aggregates.
func (a *aggregation) setResults(r *reading) error {
	if !a.filled {
		a.first = make([][]byte, len(r.plan.Table.Columns))
	}
	r.meta = a.meta
	if r.x.Results == nil {
		r.x.Results = make([]types.Value, len(a.states))
	}
	for i, s := range a.states {
		v, err := s.Result(&r.x)
		if err != nil {
			return err
		}
		r.x.Results[i] = v
	}
	return nil
}

// grouping makes one row of each group of GROUP BY. A group ends at the first row of another one, or with the last row.
// Limits and pages count groups.
type grouping struct {
	*aggregation          // of the current group
	sorted       *merging // takes the groups; nil: they go to the page
	open         bool     // there is a current group
	static       bool     // which is a static row

	// last is the last row: its clustering, and of other columns whether they have a value.
	last   [][]byte
	memory []byte // of the values of last
	value  []byte // of the function in the current group
}

func (g *grouping) collect(r *reading, partition []byte, row [][]byte, static bool) (more bool, err error) {
	first, err := g.startsGroup(r, partition, row)
	if err != nil {
		return false, err
	}
	if first {
		if more, err := g.finishGroup(r); !more || err != nil {
			return false, err
		}
		r.enterPartition(partition)
		if r.page.partitionLeft <= 0 {
			r.tombstones.StopPartition()
			return r.skip(partition), nil
		}
		g.restart(r.plan.Selection)
		g.open, g.static = true, static
	}
	if err := g.addRow(r, row); err != nil {
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

// startsGroup reports whether a row is the first one of another group, and keeps the value of the function.
func (g *grouping) startsGroup(r *reading, partition []byte, row [][]byte) (first bool, err error) {
	by := r.plan.Grouping
	first = !g.open || !r.isInPartition(partition)
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
	g.value = bytes.Clone(v.Bytes)
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
	if err := g.setResults(r); err != nil {
		return false, err
	}
	if g.sorted != nil {
		err = g.sorted.addRow(r, g.first)
	} else {
		err = r.out.encode(&r.x, g.first)
		r.out.Count++
	}
	r.meta = meta
	if err != nil {
		return false, err
	}
	return r.countRow(g.last, g.static), nil
}

// finish shows the last group.
func (g *grouping) finish(r *reading) error {
	if !r.page.full {
		if _, err := g.finishGroup(r); err != nil {
			return err
		}
	}
	if g.sorted != nil {
		return g.sorted.finish(r)
	}
	return nil
}
