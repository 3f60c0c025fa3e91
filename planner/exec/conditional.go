package exec

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec/restriction"
	"github.com/cqld/cqld/store"
)

// conditional is one execution of modifications with conditions, alone or in a batch: what is compared in their
// partition, and what is written if all of it holds.
type conditional struct {
	*writing
	ctx        context.Context
	table      *schema.Table
	key        []byte
	statements []conditionalWrite
	static     *rowConditions
	rows       []*rowConditions // in the order of rows

	// The columns whose values are looked at, by index. A row exists if it has one of these, or a marker.
	fetched  []bool
	anyRow   bool // statements name rows, so that all their columns are looked at
	everyRow bool // all columns are shown, not only those of conditions
	batch    bool
	shown    []*schema.Column

	current  []*storedRow // of rows, nil where there is none; without conditions on rows the first one of the partition
	statics  [][]byte     // by column index; nil: there is no static row
	snapshot *store.Snapshot
}

// conditionalWrite is one of the modifications, with its values.
type conditionalWrite struct {
	plan   *planner.Modification
	values []types.Value
}

// storedRow is a row as it is before the write, by column index.
type storedRow struct{ values [][]byte }

// conditionally runs modifications of which one has conditions.
func (e *Executor) conditionally(ctx context.Context, o *Options, batch bool, statements []conditionalWrite) (Result, error) {
	w := e.startWriting(o)
	defer w.release()
	t := statements[0].plan.Table
	c := &conditional{writing: w, ctx: ctx, table: t, statements: statements, batch: batch, fetched: make([]bool, len(t.Columns))}
	w.conditional, w.kind, w.size = c, Conditional, newSize()
	for i := range statements {
		if err := c.take(&statements[i]); err != nil {
			return nil, err
		}
	}
	c.finishColumns()
	if err := checkConditionalLevels(e.store.Catalog(), t, o); err != nil {
		return nil, err
	}
	applied := false
	err := e.store.Decide(ctx, t, c.key, func(s *store.Snapshot) ([]*store.Mutation, error) {
		var err error
		if applied, err = c.decide(s); err != nil || !applied {
			return nil, err
		}
		return w.mutations, nil
	})
	w.mutations = w.mutations[:0] // the store has them
	switch {
	case errors.Is(err, store.ErrUnknown):
		return nil, cqlerr.CASUnknown(o.serial())
	case err != nil:
		return nil, err
	}
	return c.answer(applied)
}

// Conditional is what the protocol calls the kind of a conditional write.
const Conditional = "CAS"

// serial is the level that conditions are compared at.
func (o *Options) serial() cqlerr.Consistency {
	if o.SerialConsistency == cqlerr.LocalSerial {
		return cqlerr.LocalSerial
	}
	return cqlerr.Serial
}

// take adds a modification: its partition, and its conditions with their values.
func (c *conditional) take(s *conditionalWrite) error {
	m := s.plan
	c.x.Values = s.values
	c.x.Env = c.e.env()
	c.x.Env.Step = c.x.Step
	if m.JSON != nil {
		var err error
		if c.x.JSON, err = m.JSON.Read(&c.x); err != nil {
			return err
		}
	}
	if err := c.takeKey(m); err != nil {
		return err
	}
	c.look(m)
	if m.If == nil && m.Where.Slice != nil {
		return nil
	}
	row, err := c.rowOf(m)
	if err != nil || m.If == nil {
		return err
	}
	return c.addConditions(m, row)
}

// takeKey finds the partition that a modification names, which must be that of the others.
func (c *conditional) takeKey(m *planner.Modification) error {
	keys, rest, err := restriction.AppendKeys(nil, &c.x, m.Where, 1)
	if err != nil {
		return err
	}
	if err := restriction.CheckKeys(keys); err != nil {
		return err
	}
	if err := restriction.CheckKeyValues(m.Table, keys); err != nil {
		return err
	}
	if m.Where.MultiPartition() || rest != nil || len(keys) != 1 {
		if c.batch {
			return cqlerr.Invalidf("Batch with conditions cannot span multiple partitions (you cannot use IN on the partition key)")
		}
		return m.CheckNoIn()
	}
	switch {
	case c.key == nil:
		c.key = bytes.Clone(keys[0])
	case !bytes.Equal(c.key, keys[0]):
		return cqlerr.Invalidf("Batch with conditions cannot span multiple partitions")
	}
	return m.CheckNoClusteringIn()
}

// rowOf is the clustering of the row that a modification names. It is nil if it is about static columns alone.
func (c *conditional) rowOf(m *planner.Modification) ([][]byte, error) {
	if !m.ChecksRow() {
		return nil, nil
	}
	if err := c.oneRow(m); err != nil {
		return nil, err
	}
	row := make([][]byte, len(c.row))
	for i, v := range c.row {
		row[i] = bytes.Clone(v)
	}
	return row, nil
}

// look notes which columns a modification makes necessary to look at.
func (c *conditional) look(m *planner.Modification) {
	c.anyRow = c.anyRow || m.ChecksRow()
	if m.If == nil {
		return
	}
	if m.If.Exists || m.If.NotExists {
		c.everyRow = true
	}
	for _, column := range m.If.Columns() {
		c.fetched[column.Index] = true
		if !slices.Contains(c.shown, column) {
			c.shown = append(c.shown, column)
		}
	}
	for _, sets := range [...][]planner.SetColumn{m.Statics, m.Sets} {
		for i := range sets {
			if sets[i].ReadsRow() {
				c.fetched[sets[i].Column.Index] = true
			}
		}
	}
	if len(m.Statics) > 0 {
		for _, column := range c.table.Static {
			c.fetched[column.Index] = true
		}
	}
}

// finishColumns settles what is looked at and shown.
func (c *conditional) finishColumns() {
	if c.anyRow {
		for _, column := range c.table.Regular {
			c.fetched[column.Index] = true
		}
	}
	for _, key := range [...][]*schema.Column{c.table.PartitionKey, c.table.Clustering} {
		for _, column := range key {
			c.fetched[column.Index] = true
		}
	}
	switch {
	case c.everyRow:
		c.shown = c.table.Shown()
	case c.batch:
		c.shown = slices.Concat(c.table.PartitionKey, c.table.Clustering, c.shown)
	}
}

// decide compares, and makes the mutations if all conditions hold. It may be called again.
func (c *conditional) decide(s *store.Snapshot) (bool, error) {
	c.snapshot = s
	if err := c.read(); err != nil {
		return false, err
	}
	if c.static != nil {
		if holds, err := c.static.hold(c.statics); !holds || err != nil {
			return false, err
		}
	}
	for i, r := range c.rows {
		var values [][]byte
		if row := c.current[i]; row != nil {
			values = row.values
		}
		if holds, err := r.hold(values); !holds || err != nil {
			return false, err
		}
	}
	c.mutations, c.writing.rows, c.bytes = c.mutations[:0], 0, 0
	c.given, c.stamp = true, c.e.store.Timestamp()
	for i := range c.statements {
		if err := c.add(c.ctx, c.statements[i].plan, c.statements[i].values); err != nil {
			return false, err
		}
	}
	return true, c.unindexed
}

// read reads the rows that are compared, or the first one where there is none.
func (c *conditional) read() error {
	c.statics = nil
	c.current = make([]*storedRow, max(1, len(c.rows)))
	read := store.Read{Table: c.table, Keys: [][]byte{c.key}, Now: c.x.Now}
	for _, r := range c.rows {
		read.Slices = append(read.Slices, store.Slice{
			Start: r.clustering, End: r.clustering, StartInclusive: true, EndInclusive: true,
		})
	}
	return c.snapshot.Read(c.ctx, &read, func(row *store.Row) (bool, error) {
		if row.Static {
			c.statics = c.keep(row.Values, c.table.Static)
			return true, nil
		}
		values := c.keep(row.Values, c.table.Regular)
		if values == nil && row.Marked {
			values = c.copyRow(row.Values)
		}
		if values == nil {
			return true, nil
		}
		c.current[c.place(values)] = &storedRow{values}
		return len(c.rows) > 0, nil
	})
}

// place is which of the rows that are compared a row is.
func (c *conditional) place(values [][]byte) int {
	for i, r := range c.rows {
		if slices.EqualFunc(c.table.Clustering, r.clustering, func(column *schema.Column, v []byte) bool {
			return bytes.Equal(values[column.Index], v)
		}) {
			return i
		}
	}
	return 0
}

// keep copies what is looked at of a row that has a value in one of the columns, else it returns nil.
func (c *conditional) keep(values [][]byte, columns []*schema.Column) [][]byte {
	for _, column := range columns {
		if c.fetched[column.Index] && values[column.Index] != nil {
			return c.copyRow(values)
		}
	}
	return nil
}

func (c *conditional) copyRow(values [][]byte) [][]byte {
	kept := make([][]byte, len(values))
	for i, v := range values {
		if c.fetched[i] {
			kept[i] = bytes.Clone(v)
		}
	}
	return kept
}

// answer tells whether the write was applied; if not, it shows what the conditions were compared with.
func (c *conditional) answer(applied bool) (Result, error) {
	out := &Rows{Conditional: true, Columns: []planner.ResultColumn{{
		Keyspace: c.table.Keyspace, Table: c.table.Name, Name: "[applied]", Type: types.Boolean,
	}}}
	shown := c.found()
	if applied || len(shown) == 0 {
		verdict := []byte{0}
		if applied {
			verdict[0] = 1
		}
		out.Count, out.Cells = 1, appendCell(nil, verdict)
		return out, nil
	}
	for _, column := range c.shown {
		out.Columns = append(out.Columns, planner.ResultColumn{
			Keyspace: c.table.Keyspace, Table: c.table.Name, Name: column.Name, Type: column.Type, Desc: column.Desc,
		})
	}
	for _, values := range shown {
		out.Count++
		out.Cells = appendCell(out.Cells, []byte{0})
		for _, column := range c.shown {
			out.Cells = appendCell(out.Cells, values[column.Index])
		}
	}
	return out, nil
}

// found are the rows that were compared, or the static row if there are none.
func (c *conditional) found() [][][]byte {
	var found [][][]byte
	for _, row := range c.current {
		if row != nil {
			found = append(found, row.values)
		}
	}
	if len(found) > 0 || c.statics == nil {
		return found
	}
	for _, column := range c.table.Clustering {
		c.statics[column.Index] = nil
	}
	return [][][]byte{c.statics}
}

// stored is what a column holds before the write; nil: nothing, or the row was not looked at.
func (c *conditional) stored(column *schema.Column, row [][]byte, static bool) []byte {
	if static {
		if c.statics == nil {
			return nil
		}
		return c.statics[column.Index]
	}
	for i, r := range c.rows {
		if c.current[i] != nil && slices.EqualFunc(r.clustering, row, bytes.Equal) {
			return c.current[i].values[column.Index]
		}
	}
	return nil
}

// checkConditionalLevels refuses the levels that conditional writes cannot have, and those that one node cannot give.
func checkConditionalLevels(catalog *schema.Catalog, t *schema.Table, o *Options) error {
	switch {
	case !o.SerialConsistency.IsSerial():
		return cqlerr.Invalidf("Invalid consistency for conditional update. Must be one of SERIAL or LOCAL_SERIAL")
	case o.Consistency.IsSerial():
		return cqlerr.Invalidf("%s is not supported as conditional update commit consistency. Use ANY if you mean \"make sure it "+
			"is accepted but I don't care how many replicas commit it for non-SERIAL reads\"", o.Consistency)
	}
	if err := checkLevel(o.Consistency); err != nil {
		return err
	}
	if err := checkReplicas(catalog, t, readLevel(o.SerialConsistency, false)); err != nil {
		return err
	}
	return checkReplicas(catalog, t, o.Consistency)
}
