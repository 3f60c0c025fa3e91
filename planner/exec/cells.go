package exec

import (
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec/filter"
	"github.com/cqld/cqld/planner/exec/restriction"
	"github.com/cqld/cqld/store"
)

// target is the partition that a statement writes to, and the row whose cells it sets at the moment.
type target struct {
	plan   *planner.Modification
	to     *store.Mutation
	key    []byte
	row    [][]byte // its clustering
	static bool     // the row is the static one
	ts     int64
	expiry store.Expiry
	lists  []*list                   // that the statement has read
	sums   map[*schema.Column][]byte // of the row, that the statement has made
}

// set writes the cells of the named rows of one partition, and the static cells after each row.
func (w *writing) set(ctx context.Context, oneRow bool) error {
	m := w.target.plan
	if !m.Mark && len(m.Sets) == 0 && m.Mandatory == nil {
		return w.staticCells(ctx)
	}
	if oneRow {
		return w.rowCells(ctx, w.row)
	}
	for i, s := range w.ranges {
		if i%64 == 63 {
			if err := restriction.Step(&w.x); err != nil {
				return err
			}
		}
		if err := w.rowCells(ctx, s.Start); err != nil {
			return err
		}
	}
	return nil
}

// staticCells writes the cells of the partition's static row.
func (w *writing) staticCells(ctx context.Context) error {
	t := &w.target
	if len(t.plan.Statics) == 0 {
		return nil
	}
	t.to.Static()
	t.static = true
	err := w.cells(ctx, t.plan.Statics)
	t.static = false
	return err
}

// rowCells writes the cells of one row, and the static cells.
func (w *writing) rowCells(ctx context.Context, row [][]byte) error {
	t := &w.target
	if err := checkCompactRow(t.plan.Table, row); err != nil {
		return err
	}
	if c := t.plan.Mandatory; c != nil {
		return cqlerr.Invalidf("Column %s is mandatory for this COMPACT STORAGE table", c.Name)
	}
	if missing := len(t.plan.Table.Clustering) - len(row); missing > 0 {
		row = append(slices.Clone(row), make([][]byte, missing)...)
	}
	t.row = row
	t.to.Row(row)
	w.guardClustering(t.plan.Table, row)
	if t.plan.Mark {
		t.to.Mark(t.ts, t.expiry)
	}
	if err := w.cells(ctx, t.plan.Sets); err != nil {
		return err
	}
	return w.staticCells(ctx)
}

// cells evaluates and writes columns. Null deletes a cell, and unset leaves it as it is.
func (w *writing) cells(ctx context.Context, sets []planner.SetColumn) error {
	t := &w.target
	if err := w.readLists(ctx, sets); err != nil {
		return err
	}
	for i := range sets {
		s := &sets[i]
		if t.plan.Table.Counter {
			if err := w.count(s); err != nil {
				return err
			}
			continue
		}
		if types.IsMultiCell(s.Column.Type) {
			if err := w.collection(s); err != nil {
				return err
			}
			continue
		}
		v, err := s.Value.Eval(&w.x)
		if err == nil && s.Change == planner.Sum {
			v, err = w.sum(s.Column, v)
		}
		if err != nil {
			return err
		}
		if v.Unset {
			continue
		}
		if err := w.guardCell(s.Column, v.Bytes); err != nil {
			return err
		}
		if v.Bytes == nil {
			t.to.Set(s.Column, nil, t.ts, store.Expiry{})
		} else {
			t.to.Set(s.Column, v.Bytes, t.ts, t.expiry)
		}
		w.checkIndexed(t.plan.Table, s.Column, nil, v.Bytes)
		if err := w.checkSize(0); err != nil {
			return err
		}
	}
	return nil
}

// sum adds a value to the stored one, and to values that the statement has added before. Null stays null.
func (w *writing) sum(c *schema.Column, v types.Value) (types.Value, error) {
	switch {
	case v.Unset && (c.Type == types.Text || c.Type == types.ASCII):
		v.Bytes = []byte{} // Cassandra writes the text that there is once more
	case v.Unset:
		return v, nil
	}
	t := &w.target
	stored, found := t.sums[c]
	if !found {
		stored = w.stored.value(c, t.row, t.static)
	}
	switch {
	case stored == nil:
		return types.Value{Unset: true}, nil
	case v.Bytes == nil:
		return v, restriction.ErrNull(c) // Cassandra fails
	}
	sum, err := functions.Add(c.Type, stored, v.Bytes)
	if err != nil {
		return v, err
	}
	if t.sums == nil {
		t.sums = make(map[*schema.Column][]byte)
	}
	t.sums[c] = sum
	return types.Value{Bytes: sum}, nil
}

// count changes or deletes a counter.
func (w *writing) count(s *planner.SetColumn) error {
	t := &w.target
	if s.Change == planner.Replace { // by null only
		t.to.DeleteCounter(s.Column, t.ts)
		return nil
	}
	v, err := s.Value.Eval(&w.x)
	switch {
	case err != nil:
		return err
	case v.Unset:
		return nil
	case len(v.Bytes) != 8:
		return cqlerr.Invalidf("Invalid null value for counter increment")
	}
	change := int64(binary.BigEndian.Uint64(v.Bytes))
	if s.Change == planner.Remove {
		if change == math.MinInt64 {
			return cqlerr.Invalidf("The negation of %d overflows supported counter precision (signed 8 bytes integer)", change)
		}
		change = -change
	}
	t.to.Add(s.Column, change, t.ts)
	return nil
}

// checkIndexed notes the first value, or element of a collection, that an index refuses. The write is refused when all
// its statements are evaluated.
func (w *writing) checkIndexed(t *schema.Table, c *schema.Column, name, value []byte) {
	if len(t.Indexes) == 0 || w.refusal != nil {
		return
	}
	for _, x := range t.Indexes {
		if x.Column() != c.Name {
			continue
		}
		_, isVector := c.Type.(*types.Vector)
		switch x.Kind() {
		case schema.LegacyIndex:
			if n := indexedSize(c, x.Part(), name, value); n >= filter.MaxLegacyValue {
				w.refusal = cqlerr.Invalidf("Cannot index value of size %d for index %s on %s.%s(%s) (maximum allowed size=%d)",
					n, x.Name, quote.Name(t.Keyspace), quote.Name(t.Name), c.Name, filter.MaxLegacyValue)
			}
		case schema.SAI:
			w.guardIndexed(x, c, name, value)
			if isVector && value != nil {
				w.refusal = checkVector(x, value, c.Type)
			}
		}
	}
}

// checkTerms refuses values that indexes do not take.
func (w *writing) checkTerms() error {
	if err := w.guardTerms(); err != nil {
		return err
	}
	return w.refusal
}

// indexedSize is the number of bytes of a cell, or of a deleted element, that go into an index.
func indexedSize(c *schema.Column, part schema.IndexPart, name, value []byte) int {
	_, isSet := c.Type.(*types.Set)
	switch {
	case part == schema.IndexKeys || isSet && types.IsMultiCell(c.Type):
		return len(name)
	case part == schema.IndexEntries:
		return len(name) + len(value) + filter.EntryOverhead
	}
	return len(value)
}
