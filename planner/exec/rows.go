package exec

import (
	"encoding/binary"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/exec/restriction"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/store"
)

// row takes a row from the store, and reports whether more are wanted.
func (r *reading) row(row *store.Row) (bool, error) {
	r.meta = row.Meta
	if row.Static {
		if !r.plan.FullPartitions {
			return true, nil
		}
		more, err := r.showStatic()
		if err == nil && more {
			r.static.keep(row)
			err = r.kept.atLeast(r.read.Turn, cap(r.static.bytes))
		}
		return more, err
	}
	if r.static.isOf(row.Partition) {
		r.static.drop()
	} else if more, err := r.showStatic(); err != nil || !more {
		return more, err
	}
	return r.show(row.Partition, row.Values, false)
}

// showStatic shows the static row of a partition that turned out to have no other row.
func (r *reading) showStatic() (more bool, err error) {
	if !r.static.set {
		return true, nil
	}
	meta := r.meta
	r.meta = r.static.meta
	more, err = r.show(r.static.partition, r.static.values, true)
	r.meta = meta
	r.static.drop()
	return more, err
}

// show puts a row into the result if it passes the filters, and reports whether more are wanted.
func (r *reading) show(partition []byte, row [][]byte, static bool) (more bool, err error) {
	if r.groups != nil {
		return r.groups.take(r, partition, row, static)
	}
	r.page.enter(partition)
	if r.page.partitionLeft <= 0 {
		return r.skip(partition), nil
	}
	if len(r.filters) > 0 {
		if wanted, err := r.passes(row); !wanted || err != nil {
			return err == nil, err
		}
	}
	if r.gather != nil {
		if err := r.gather.add(r, row); err != nil {
			return false, err
		}
		r.page.partitionLeft--
		if r.plan.AggregatesAll() {
			r.countAggregated()
		}
		return true, nil
	}
	if err := r.out.encode(&r.x, row); err != nil {
		return false, err
	}
	r.out.Count++
	if more = r.page.count(r.out.size(), r.read.Turn); !more {
		r.page.end(r.plan.Table, row, static)
	}
	if r.page.partitionLeft <= 0 && !static {
		r.tombstones.StopPartition()
	}
	return more, nil
}

// passes reports whether a row satisfies all filters.
func (r *reading) passes(row [][]byte) (bool, error) {
	if length(row) > heldStep { // large values may take long to compare
		if err := restriction.Step(&r.x); err != nil {
			return false, err
		}
	}
	for i, satisfied := range r.filters {
		if i%16 == 15 {
			if err := restriction.Step(&r.x); err != nil {
				return false, err
			}
		}
		if ok, err := satisfied(row); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// maxSkipped is how many rows of a partition are dropped one by one, when it has given all that it may, before the read
// begins again behind the partition.
const maxSkipped = 32

// skip drops a row of a partition that has given all that it may, and reports whether the read goes on.
func (r *reading) skip(partition []byte) bool {
	if r.skipped++; r.skipped < maxSkipped {
		return true
	}
	r.skipped = 0
	r.position = store.Position{Partition: append([]byte(nil), partition...), Whole: true}
	r.page.again = true
	return false
}

// cell is what WRITETIME and TTL show of a cell of the current row.
func (r *reading) cell(column int) expr.Cell {
	m := &r.meta[column]
	c := expr.Cell{Timestamp: m.Timestamp, ExpiresAt: m.ExpiresAt}
	for _, part := range m.Parts {
		c.Parts = append(c.Parts, expr.Cell{
			Timestamp: part.Timestamp, ExpiresAt: part.ExpiresAt, Missing: part.Name == nil,
		})
	}
	return c
}

// intValue evaluates an int expression, which may be null or unset.
func intValue(x *expr.Context, e expr.Expr) (v types.Value, n int32, err error) {
	if v, err = e.Eval(x); err != nil || len(v.Bytes) != 4 {
		return v, 0, err
	}
	return v, int32(binary.BigEndian.Uint32(v.Bytes)), nil
}
