package exec

import (
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

// restart forgets all rows.
func (a *aggregation) restart(s *planner.Selection) {
	for i, g := range s.Aggregates {
		a.states[i] = g.Start()
	}
	a.filled, a.used = false, 0
}

func (a *aggregation) add(r *reading, row [][]byte) error {
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
	if err := a.result(r); err != nil {
		return err
	}
	r.out.Count = 1
	return r.out.encode(&r.x, a.first)
}

// result makes the results of the aggregates, for the first row.
func (a *aggregation) result(r *reading) error {
	if !a.filled {
		a.first = make([][]byte, len(r.plan.Table.Columns))
	}
	r.meta = a.meta
	if r.x.Results == nil {
		r.x.Results = make([]types.Value, len(a.states))
	}
	for i, s := range a.states {
		v, err := s.Result()
		if err != nil {
			return err
		}
		r.x.Results[i] = v
	}
	return nil
}
