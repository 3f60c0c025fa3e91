package exec

import (
	"context"
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/exec/condition"
	"github.com/cqld/cqld/store"
)

// storedRows are the rows that a conditional write depends on, as they are stored before it. The values of a row are by
// column index, in memory that is reused.
type storedRows struct {
	table      *schema.Table
	conditions condition.Set // on the rows
	snapshot   *store.Snapshot
	deciding   bool // other writes wait for the decision

	// The columns that are read, by index. A row exists if it has a value in one of these, or a marker.
	fetched []bool
	copied  []bool // columns of fetched that are compared, shown or written again

	rows   [][][]byte // with conditions, nil if there is none; else the first row of the partition
	static [][]byte   // nil: there is no static row

	request    store.Read
	keys       [][]byte
	slices     []store.Slice
	clustering [][]byte // of one row
	memory     values
	step       func() error
	onRow      func(*store.Row) (bool, error) // takeRow
}

// clear drops the rows and conditions, and keeps the buffers.
func (s *storedRows) clear() {
	s.memory.clear()
	s.conditions.Clear()
	clear(s.keys)
	clear(s.slices)
	clear(s.clustering)
	clear(s.rows)
	*s = storedRows{
		conditions: s.conditions, fetched: s.fetched[:0], copied: s.copied[:0], rows: s.rows[:0], keys: s.keys[:0],
		slices: s.slices[:0], clustering: s.clustering[:0], memory: s.memory, step: s.step, onRow: s.onRow,
	}
}

// read reads the rows of a partition that have conditions. If no row has any, it reads the first one.
func (s *storedRows) read(ctx context.Context, key []byte, now int64) error {
	s.memory.clear()
	s.static = nil
	s.rows = append(s.rows[:0], nil)
	s.slices = s.slices[:0]
	for i := range s.conditions.Len() {
		if i > 0 {
			s.rows = append(s.rows, nil)
		}
		row := s.conditions.Clustering(i)
		s.slices = append(s.slices, store.Slice{Start: row, End: row, StartInclusive: true, EndInclusive: true})
	}
	s.keys = append(s.keys[:0], key)
	s.request = store.Read{Table: s.table, Keys: s.keys, Now: now}
	if len(s.slices) > 0 {
		s.request.Slices = s.slices
	}
	return s.snapshot.Read(ctx, &s.request, s.onRow)
}

// takeRow takes a row that was read.
func (s *storedRows) takeRow(row *store.Row) (bool, error) {
	if row.Static {
		if s.exists(row.Values, s.table.Static) {
			s.static = s.copyRow(row.Values)
		}
		return true, nil
	}
	if !row.Marked && !s.exists(row.Values, s.table.Regular) {
		return true, nil
	}
	if s.conditions.Len() > 1 {
		if err := s.step(); err != nil {
			return false, err
		}
	}
	values := s.copyRow(row.Values)
	i, _ := s.conditions.Find(s.table, s.clusteringOf(values))
	s.rows[i] = values
	return s.conditions.Len() > 0, nil
}

// exists reports whether a row has a value in one of the columns that is fetched.
func (s *storedRows) exists(values [][]byte, columns []*schema.Column) bool {
	return slices.ContainsFunc(columns, func(c *schema.Column) bool { return s.fetched[c.Index] && values[c.Index] != nil })
}

// clusteringOf is the clustering of a row. It is valid until the next call.
func (s *storedRows) clusteringOf(values [][]byte) [][]byte {
	s.clustering = s.clustering[:0]
	for _, column := range s.table.Clustering {
		s.clustering = append(s.clustering, values[column.Index])
	}
	return s.clustering
}

// copyRow copies the values of a row that are needed once it has been read.
func (s *storedRows) copyRow(values [][]byte) [][]byte {
	row := s.memory.row(len(values))
	for i, v := range values {
		if s.copied[i] {
			row[i] = s.memory.copy(v)
		}
	}
	return row
}

// value is the value of a column before the write; nil: it has none, or the row was not read.
func (s *storedRows) value(column *schema.Column, row [][]byte, static bool) []byte {
	if static {
		if s.static == nil {
			return nil
		}
		return s.static[column.Index]
	}
	i, _ := s.conditions.Find(s.table, row)
	if i == len(s.rows) || s.rows[i] == nil || condition.Compare(s.table, s.clusteringOf(s.rows[i]), row) != 0 {
		return nil
	}
	return s.rows[i][column.Index]
}

// existing returns the rows that exist. If there is none, it returns the static row.
func (s *storedRows) existing() [][][]byte {
	s.rows = slices.DeleteFunc(s.rows, func(row [][]byte) bool { return row == nil })
	if len(s.rows) == 0 && s.static != nil {
		for _, column := range s.table.Clustering {
			s.static[column.Index] = nil
		}
		s.rows = append(s.rows, s.static)
	}
	return s.rows
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
