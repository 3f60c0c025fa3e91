package exec

import (
	"cmp"
	"context"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec/restriction"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
	"github.com/cqld/cqld/store"
)

// addStatement makes the mutations of one statement.
func (w *writing) addStatement(ctx context.Context, m *planner.Modification, values []types.Value) error {
	if err := w.bind(m, values); err != nil {
		return err
	}
	if err := w.guardRows(m); err != nil {
		return err
	}
	maxRows := w.e.store.MaxRows()
	switch more, err := w.evaluateKeys(m, maxRows-w.rows); {
	case err != nil:
		return err
	case more:
		return errTooManyRows(maxRows)
	}
	oneRow := namesOneRow(m)
	writes, err := w.evaluateRows(m, oneRow, maxRows)
	if err != nil {
		return err
	}
	w.rows += len(w.keys) * max(1, len(w.ranges))
	ts, expiry, err := w.using(m)
	if err != nil || !writes {
		return err
	}
	if err := w.checkDeletion(m, oneRow); err != nil {
		return err
	}
	w.virtual = m.Table.TakenByCode()
	for i, key := range w.keys {
		if i%64 == 63 {
			if err := restriction.Step(&w.x); err != nil {
				return err
			}
		}
		w.target = target{plan: m, to: w.newMutation(m.Table, key), key: key, ts: ts, expiry: expiry}
		write := w.set
		if m.Removes {
			write = w.remove
		}
		if err := write(ctx, oneRow); err != nil {
			return err
		}
	}
	return nil
}

// newMutation adds the mutation of one partition.
func (w *writing) newMutation(t *schema.Table, key []byte) *store.Mutation {
	if n := len(w.mutations); n > 0 {
		w.bytes += w.mutations[n-1].Size()
	}
	mutation := store.NewMutation(t, key)
	mutation.At(w.x.Now)
	w.mutations = append(w.mutations, mutation)
	w.size.partition(t, key)
	w.options.Touched.hit(t, key)
	return mutation
}

// bind sets the values that the expressions of a statement are evaluated with.
func (w *writing) bind(m *planner.Modification, values []types.Value) (err error) {
	w.x.Values = values
	if w.x.Env == nil && !m.Plain {
		w.x.Return = func(n int) error { return w.returned.grow(w.turn(), n) }
		w.x.Env = w.e.env(context.Background(), w.options.Turn, w.x.Step)
	}
	if m.JSON != nil {
		w.x.JSON, err = m.JSON.Read(&w.x)
	}
	return err
}

// evaluateKeys evaluates the keys of the partitions that a statement names, up to a number of keys, and reports whether
// there are more.
func (w *writing) evaluateKeys(m *planner.Modification, maxKeys int) (more bool, err error) {
	var rest *restriction.KeyWalk
	if w.keys, rest, err = restriction.AppendKeys(w.keys[:0], &w.x, m.Where, maxKeys); err != nil {
		return false, err
	}
	if err := restriction.CheckKeys(w.keys); err != nil {
		return false, err
	}
	return rest != nil, restriction.CheckKeyValues(m.Table, w.keys)
}

// namesOneRow reports whether a statement names one row by its clustering.
func namesOneRow(m *planner.Modification) bool {
	return m.OneRow && len(m.Where.Clustering) == len(m.Table.Clustering)
}

// evaluateRows evaluates the row, or the rows and ranges of rows, that a statement names. It reports false if no row
// can match the restrictions: then static columns are not written either.
func (w *writing) evaluateRows(m *planner.Modification, oneRow bool, maxRows int) (writes bool, err error) {
	if oneRow {
		return true, w.evaluateRow(m)
	}
	var tooMany, null bool
	maxRanges := (maxRows - w.rows) / max(1, len(w.keys))
	if m.Where.Slice != nil && m.Where.Slice.MixedOrder() {
		w.ranges, tooMany, err = restriction.AppendMixedSlices(w.ranges[:0], &w.x, m.Where, maxRanges)
	} else {
		var many *restriction.Ranges
		w.ranges, many, null, err = restriction.AppendSlices(w.ranges[:0], &w.x, m.Where, maxRanges)
		tooMany = many != nil
	}
	if tooMany {
		err = errTooManyRows(maxRows)
	}
	if err != nil {
		return false, err
	}
	for _, s := range w.ranges {
		if err := cmp.Or(restriction.CheckLength(s.Start), restriction.CheckLength(s.End)); err != nil {
			return false, err
		}
	}
	restricted := m.Where.Slice != nil || len(m.Where.Clustering) > 0
	return !restricted || len(w.ranges) > 0 || null, nil
}

// evaluateRow evaluates the clustering of the only row that a statement names.
func (w *writing) evaluateRow(m *planner.Modification) (err error) {
	w.row = w.row[:0]
	for _, c := range m.Where.Clustering {
		if w.row, err = restriction.AppendPoint(w.row, &w.x, c.Points[0], c.Columns); err != nil {
			return err
		}
	}
	return restriction.CheckLength(w.row)
}

// checkDeletion refuses to delete a range that begins or ends with null, where Cassandra fails, and to delete cells of
// rows that are not named one by one.
func (w *writing) checkDeletion(m *planner.Modification, oneRow bool) error {
	if len(w.keys) == 0 {
		return nil
	}
	if m.Where.Slice != nil {
		if err := checkBounds(&w.x, m.Where.Slice); err != nil {
			return err
		}
	}
	if oneRow || m.Verb != planner.Delete || len(m.Sets) == 0 {
		return nil
	}
	for _, s := range w.ranges {
		if m.Where.Slice != nil || len(s.Start) != len(m.Table.Clustering) {
			return cqlerr.Invalidf("Range deletions are not supported for specific columns")
		}
	}
	return nil
}

// checkBounds refuses null in the bounds of a range.
func checkBounds(x *expr.Context, r *where.Range) error {
	for _, b := range [...]*where.Bound{r.Lower, r.Upper} {
		if b == nil {
			continue
		}
		if _, err := restriction.AppendPoint(nil, x, b.Point, b.Columns); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes a partition, rows or ranges of rows. Rows that the same conditional batch writes are not deleted with
// their partition or range.
func (w *writing) remove(_ context.Context, oneRow bool) error {
	m, t := w.target.plan, &w.target
	hiding := t.ts
	if w.stored != nil {
		hiding--
	}
	switch {
	case len(m.Where.Clustering) == 0 && m.Where.Slice == nil:
		t.to.DeletePartition(hiding)
		return nil
	case oneRow:
		return w.removeRow(w.row)
	}
	for _, s := range w.ranges {
		if len(s.Start) < len(m.Table.Clustering) || m.Where.Slice != nil {
			t.to.DeleteRange(s, hiding)
			w.size.deletedRange(s.Start, s.End)
		} else if err := w.removeRow(s.Start); err != nil {
			return err
		}
	}
	return nil
}

// removeRow deletes a row. In a table WITH COMPACT STORAGE it deletes the cell that makes the row exist.
func (w *writing) removeRow(row [][]byte) error {
	t, to, ts := w.target.plan.Table, w.target.to, w.target.ts
	if err := checkCompactRow(t, row); err != nil {
		return err
	}
	to.Row(row)
	w.guardClustering(t, row)
	c := t.KeepsRows()
	if c == nil {
		to.DeleteRow(ts)
		return nil
	}
	if t.Counter {
		to.DeleteCounter(c, ts)
	} else {
		to.Set(c, nil, ts, store.Expiry{})
	}
	return nil
}

// checkCompactRow refuses rows without a value in the only clustering column of a table WITH COMPACT STORAGE.
func checkCompactRow(t *schema.Table, row [][]byte) error {
	if t.Compact == schema.CompactDense && len(t.Clustering) == 1 && len(row[0]) == 0 {
		return cqlerr.Invalidf("Invalid empty or null value for column %s", t.Clustering[0].Name)
	}
	return nil
}
