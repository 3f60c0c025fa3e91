package exec

import (
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/store"
)

// aggregation makes the one row of a query with aggregates. Columns outside of aggregates have the values of the first
// row.
type aggregation struct {
	states []expr.Accumulator
	first  [][]byte
	meta   []store.CellMeta
	holding
}

func newAggregation(s *planner.Selection) *aggregation {
	a := &aggregation{states: make([]expr.Accumulator, len(s.Aggregates))}
	for i, g := range s.Aggregates {
		a.states[i] = g.Start()
	}
	return a
}

func (a *aggregation) add(r *reading, row [][]byte) error {
	if a.first == nil {
		a.first, _ = copyRow(nil, nil, row)
		a.meta = append(a.meta, r.meta...)
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
	if a.first == nil {
		a.first = make([][]byte, len(r.plan.Table.Columns))
	}
	r.meta = a.meta
	r.x.Results = make([]types.Value, len(a.states))
	for i, s := range a.states {
		v, err := s.Result()
		if err != nil {
			return err
		}
		r.x.Results[i] = v
	}
	r.out.Count = 1
	return r.out.encode(&r.x, a.first)
}
