package exec

import (
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec/condition"
	"github.com/cqld/cqld/store"
)

// readRows reads the rows that have conditions. If no row has any, it reads the first one of the partition.
func (c *conditional) readRows() error {
	c.read.clear()
	c.statics = nil
	c.current = append(c.current[:0], nil)
	c.slices = c.slices[:0]
	for i := range c.conditions.Len() {
		if i > 0 {
			c.current = append(c.current, nil)
		}
		row := c.conditions.Clustering(i)
		c.slices = append(c.slices, store.Slice{Start: row, End: row, StartInclusive: true, EndInclusive: true})
	}
	c.keys = append(c.keys[:0], c.key)
	c.reading = store.Read{Table: c.table, Keys: c.keys, Now: c.x.Now}
	if len(c.slices) > 0 {
		c.reading.Slices = c.slices
	}
	return c.snapshot.Read(c.ctx, &c.reading, c.onRow)
}

// takeRow takes a row that was read.
func (c *conditional) takeRow(row *store.Row) (bool, error) {
	if row.Static {
		if c.isThere(row.Values, c.table.Static) {
			c.statics = c.copyRow(row.Values)
		}
		return true, nil
	}
	if !row.Marked && !c.isThere(row.Values, c.table.Regular) {
		return true, nil
	}
	if c.conditions.Len() > 1 {
		if err := c.step(); err != nil {
			return false, err
		}
	}
	values := c.copyRow(row.Values)
	i, _ := c.conditions.Find(c.table, c.clusteringOf(values))
	c.current[i] = values
	return c.conditions.Len() > 0, nil
}

// clusteringOf is the clustering of a row that was read. It is valid until the next call.
func (c *conditional) clusteringOf(values [][]byte) [][]byte {
	c.clustering = c.clustering[:0]
	for _, column := range c.table.Clustering {
		c.clustering = append(c.clustering, values[column.Index])
	}
	return c.clustering
}

// isThere reports whether a row has a value in one of the columns that is fetched.
func (c *conditional) isThere(values [][]byte, columns []*schema.Column) bool {
	for _, column := range columns {
		if c.fetched[column.Index] && values[column.Index] != nil {
			return true
		}
	}
	return false
}

// copyRow copies the values of a row that are needed once it has been read.
func (c *conditional) copyRow(values [][]byte) [][]byte {
	row := c.read.row(len(values))
	for i, v := range values {
		if c.copied[i] {
			row[i] = c.read.copy(v)
		}
	}
	return row
}

// makeAnswer says whether the write was applied. If it was not, the answer has the rows that the conditions refused.
func (c *conditional) makeAnswer() {
	out := &c.answer
	out.Conditional = true
	c.columns = append(c.columns[:0], planner.ResultColumn{
		Keyspace: c.table.Keyspace, Table: c.table.Name, Name: "[applied]", Type: types.Boolean,
	})
	verdict := [1]byte{}
	if c.applied {
		verdict[0] = 1
	}
	c.dropMissing()
	if c.applied || len(c.current) == 0 {
		out.Count, out.Cells, out.Columns = 1, appendCell(out.Cells[:0], verdict[:]), c.columns
		return
	}
	for _, column := range c.shown {
		c.columns = append(c.columns, planner.ResultColumn{
			Keyspace: c.table.Keyspace, Table: c.table.Name, Name: column.Name, Type: column.Type, Desc: column.Desc,
		})
	}
	out.Columns = c.columns
	out.Cells = slices.Grow(out.Cells, c.shownSize())
	for _, values := range c.current {
		out.Count++
		out.Cells = appendCell(out.Cells, verdict[:])
		for _, column := range c.shown {
			out.Cells = appendCell(out.Cells, values[column.Index])
		}
	}
}

// shownSize is the size of the cells of the rows that are shown, each row after the verdict.
func (c *conditional) shownSize() (n int) {
	for _, values := range c.current {
		n += 5
		for _, column := range c.shown {
			n += 4 + len(values[column.Index])
		}
	}
	return n
}

// dropMissing removes the rows that do not exist from current. If no row is left, it adds the static row.
func (c *conditional) dropMissing() {
	c.current = slices.DeleteFunc(c.current, func(row [][]byte) bool { return row == nil })
	if len(c.current) > 0 || c.statics == nil {
		return
	}
	for _, column := range c.table.Clustering {
		c.statics[column.Index] = nil
	}
	c.current = append(c.current, c.statics)
}

// stored is the value of a column before the write; nil: it has none, or the row was not read.
func (c *conditional) stored(column *schema.Column, row [][]byte, static bool) []byte {
	if static {
		if c.statics == nil {
			return nil
		}
		return c.statics[column.Index]
	}
	i, _ := c.conditions.Find(c.table, row)
	if i == len(c.current) || c.current[i] == nil || condition.Compare(c.table, c.clusteringOf(c.current[i]), row) != 0 {
		return nil
	}
	return c.current[i][column.Index]
}

// values is memory for rows of values.
type values struct {
	bytes []byte // the block that values are copied to
	rows  [][]byte
}

// keepValues is how many bytes of values are kept for the next request. minBlock is how many there is room for at
// first.
const (
	keepValues = 64 << 10
	minBlock   = 128
)

func (v *values) clear() {
	clear(v.rows)
	if v.bytes, v.rows = v.bytes[:0], v.rows[:0]; cap(v.bytes) > keepValues {
		v.bytes = nil
	}
}

// row makes a row of n values, all nil. It is never nil itself.
func (v *values) row(n int) [][]byte {
	if n == 0 {
		return [][]byte{}
	}
	at := len(v.rows)
	for range n {
		v.rows = append(v.rows, nil)
	}
	return v.rows[at:len(v.rows):len(v.rows)]
}

// copy copies a value. A full block is left to the values in it: to make it larger would copy them all again.
func (v *values) copy(value []byte) []byte {
	if len(value) == 0 {
		return value
	}
	if len(value) > cap(v.bytes)-len(v.bytes) {
		v.bytes = make([]byte, 0, max(len(value), min(2*cap(v.bytes), keepValues), minBlock))
	}
	at := len(v.bytes)
	v.bytes = append(v.bytes, value...)
	return v.bytes[at:len(v.bytes):len(v.bytes)]
}
