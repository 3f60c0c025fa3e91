package exec

import (
	"encoding/binary"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/store"
)

// row takes a row from the store.
func (r *reading) row(row *store.Row) (bool, error) {
	r.meta = row.Meta
	r.endCommands()
	if row.Static {
		if !r.plan.FullPartitions {
			return true, nil
		}
		more, err := r.flush()
		if err == nil && more {
			r.pending.keep(row)
			err = r.kept.atLeast(r, cap(r.pending.bytes))
		}
		return more, err
	}
	if r.pending.is(row.Partition) {
		r.pending.drop()
	} else if more, err := r.flush(); err != nil || !more {
		return more, err
	}
	return r.emit(row.Partition, row.Values, false)
}

// flush shows the static row of a partition that turned out to have no other.
func (r *reading) flush() (bool, error) {
	if !r.pending.set {
		return true, nil
	}
	meta := r.meta
	r.meta = r.pending.meta
	more, err := r.emit(r.pending.partition, r.pending.values, true)
	r.meta = meta
	r.pending.drop()
	return more, err
}

// emit puts a row into the result if it is wanted, and reports whether more are.
func (r *reading) emit(partition []byte, row [][]byte, static bool) (bool, error) {
	r.page.enter(partition)
	if r.page.partitionLeft <= 0 {
		return r.skip(partition), nil
	}
	if len(r.tests) > 0 && length(row) > heldStep { // what is large may take long to compare
		if err := step(&r.x); err != nil {
			return false, err
		}
	}
	for i, test := range r.tests {
		if i%16 == 15 {
			if err := step(&r.x); err != nil {
				return false, err
			}
		}
		if wanted, err := test(row); !wanted || err != nil {
			return err == nil, err
		}
	}
	if r.gather != nil {
		if err := r.gather.add(r, row); err != nil {
			return false, err
		}
		r.page.partitionLeft--
		if r.aggregates() {
			r.aggregated(partition, row)
		}
		return true, nil
	}
	if err := r.encode(row); err != nil {
		return false, err
	}
	r.out.Count++
	more := r.page.count(r, partition, row, static)
	if r.page.partitionLeft <= 0 && !static {
		r.tombstones.StopPartition()
	}
	return more, nil
}

// maxSkipped is how many rows of a partition are looked at and dropped before the read is begun again
// behind the partition: not of a view, whose rows would be made again.
const maxSkipped = 32

// skip passes over a row of a partition that has given all it may.
func (r *reading) skip(partition []byte) bool {
	if r.skipped++; r.skipped < maxSkipped || r.plan.Table.View != nil {
		return true
	}
	r.skipped = 0
	r.position = store.Position{Partition: append([]byte(nil), partition...), Whole: true}
	r.page.again = true
	return false
}

// encode appends the selected values of a row to the result's cells.
func (r *reading) encode(row [][]byte) error {
	s := r.plan.Selection
	if s.Plain != nil {
		for _, c := range s.Plain {
			v := row[c.Index]
			if cap(r.out.Cells)-len(r.out.Cells) < 4+len(v) {
				if err := r.reserve(4 + len(v)); err != nil {
					return err
				}
			}
			r.out.Cells = appendCell(r.out.Cells, v)
		}
		return nil
	}
	r.x.Row = row
	if n := length(row); n > heldStep {
		if err := r.work.atLeast(r, workPerByte*n); err != nil {
			return err
		}
	}
	for _, e := range s.Exprs {
		v, err := e.Eval(&r.x)
		if err == nil {
			err = r.reserve(4 + len(v.Bytes))
		}
		if err != nil {
			return err
		}
		r.out.Cells = appendCell(r.out.Cells, v.Bytes)
	}
	return nil
}

// appendCell appends a value as the protocol carries it: its length, -1 for null, and its bytes.
func appendCell(dst, value []byte) []byte {
	if value == nil {
		return append(dst, 0xff, 0xff, 0xff, 0xff)
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(value)))
	return append(dst, value...)
}

// cell is what WRITETIME and TTL show of a cell of the row at hand.
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

// intValue is the value of an int expression, which may be null or unset.
func intValue(x *expr.Context, e expr.Expr) (v types.Value, n int32, err error) {
	if v, err = e.Eval(x); err != nil || len(v.Bytes) != 4 {
		return v, 0, err
	}
	return v, int32(binary.BigEndian.Uint32(v.Bytes)), nil
}
