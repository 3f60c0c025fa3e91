package store

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/rows"
)

// rowAssembly makes a Row of the stored values of a row and its partition's static row.
type rowAssembly struct {
	columns tableColumns
	now     int64
	purger  rows.Purger
	count   *TombstonesRead // counts dead cells; may be nil

	row         Row
	values      rows.Reader
	given       [][]byte // the clustering values of a row that is read by its whole key
	statics     []byte   // the memory of static values
	clustering  []byte   // the memory of clustering values
	collections rows.CollectionBuilder
	staticParts rows.CollectionBuilder // collections that are static

	keeps bool        // kept is filled in
	kept  []rows.Cell // the cells of the row that are alive

	// For plainRow.
	plain bool  // the partition and the read allow it
	floor int64 // for rows that were written later
	full  bool  // the last such row had all regular columns, so the next one is likely to have them
}

// tableColumns is what a read needs to know of a table's columns. It is kept until another table is read.
type tableColumns struct {
	table    *schema.Table
	places   []int16 // the indexes of columns by ID; -1: there is no such column
	dropped  []int64 // by index: cells up to this timestamp are of a dropped column; nil: there are none
	lastDrop int64   // the latest of these
	lossy    bool    // the key does not give back the values of some clustering column
}

// set makes t the table, and reports whether it was another one.
func (c *tableColumns) set(t *schema.Table) (changed bool) {
	if c.table == t {
		return false
	}
	c.table = t
	c.places = make([]int16, t.NextID)
	for i := range c.places {
		c.places[i] = -1
	}
	for _, column := range t.Columns {
		c.places[column.ID] = int16(column.Index)
	}
	c.dropped, c.lastDrop = rows.DroppedTimes(t)
	c.lossy = slices.ContainsFunc(t.Clustering, func(c *schema.Column) bool { return c.Type.LossyKey() })
	return true
}

// index is the place of the column that a cell of that time belongs to, or -1 if there is none.
func (c *tableColumns) index(id uint32, timestamp int64) int {
	if int(id) >= len(c.places) {
		return -1
	}
	i := int(c.places[id])
	if c.dropped != nil && i >= 0 && timestamp <= c.dropped[i] {
		return -1
	}
	return i
}

func (a *rowAssembly) begin(read *Read) {
	t := read.Table
	if a.columns.set(t) {
		a.row.Values = make([][]byte, len(t.Columns))
		a.row.Meta = nil
	}
	a.now, a.purger, a.count = read.Now, rows.NewPurger(t, read.Now), read.Tombstones
	switch {
	case !read.Meta:
		a.row.Meta = nil
	case a.row.Meta == nil:
		a.row.Meta = make([]CellMeta, len(t.Columns))
	}
}

// release forgets the rows that were read.
func (a *rowAssembly) release() {
	a.given, a.values, a.count = nil, rows.Reader{}, nil
	clear(a.kept)
	a.keeps, a.kept = false, a.kept[:0]
	clear(a.row.Values)
	clear(a.row.Meta)
	a.row.Partition = nil
	if cap(a.statics) > maxKeptBuffer || cap(a.clustering) > maxKeptBuffer {
		a.statics, a.clustering = nil, nil
	}
	a.collections.Release()
	a.staticParts.Release()
}

func (a *rowAssembly) beginPartition(key []byte) error {
	a.row.Partition = key
	if err := rows.SplitPartitionKey(a.row.Values, a.columns.table, key); err != nil {
		return err
	}
	a.clear(a.columns.table.Static)
	return nil
}

// coveredBy sets the tombstones over the partition.
func (a *rowAssembly) coveredBy(d *rows.PartitionTombstones) {
	a.plain, a.floor = a.row.Meta == nil && !a.keeps && !a.columns.lossy, a.columns.lastDrop
	if d.Any {
		a.floor = max(a.floor, d.Partition.Timestamp)
		a.plain = a.plain && len(d.Ranges) == 0
	}
}

// clear forgets the values of columns of one kind, whose indexes are adjacent.
func (a *rowAssembly) clear(columns []*schema.Column) {
	if len(columns) == 0 {
		return
	}
	first := columns[0].Index
	clear(a.row.Values[first : first+len(columns)])
	if a.row.Meta != nil {
		clear(a.row.Meta[first : first+len(columns)])
	}
}

// plainRow sets the values of a row in the common case, and reports whether it is one: plain cells and a marker
// without an expiry, written after the partition was deleted, no tombstone of a range in the partition, and a read of
// values only.
func (a *rowAssembly) plainRow(value []byte) bool {
	if !a.plain || len(value) == 0 || value[0] != rows.RowMarked {
		return false
	}
	base, n := binary.Varint(value[1:])
	if n <= 0 || base <= a.floor {
		return false
	}
	t := a.columns.table
	all := len(t.Regular)
	if !a.full {
		a.clear(t.Regular)
	}
	a.values.Rest = value[1+n:]
	set := a.values.ReadPlain(a.columns.places, a.row.Values)
	if len(a.values.Rest) > 0 {
		return false
	}
	if a.full && set < all { // values of the row before are left
		a.clear(t.Regular)
		a.values.Rest = value[1+n:]
		a.values.ReadPlain(a.columns.places, a.row.Values)
	}
	a.full, a.row.Marked = set == all, true
	return true
}

// regular sets the values of a row, and reports whether it is alive. hidden is the timestamp up to which tombstones
// of the partition and of ranges hide, and deletion that of these and the row's own.
func (a *rowAssembly) regular(value []byte, hidden int64) (live bool, deletion int64, err error) {
	if err := a.values.ReadHead(value); err != nil {
		return false, 0, a.damaged(err)
	}
	a.clear(a.columns.table.Regular)
	deletion = max(a.values.Deletion.Timestamp, hidden)
	a.collections.Reset()
	live, err = a.cells(deletion, &a.collections)
	a.row.Marked = a.values.Marker.Live(deletion, a.now)
	if a.row.Meta != nil {
		m := &a.values.Marker
		a.row.Marker = CellMeta{Timestamp: m.Timestamp, TTL: m.Expiry.TTL, ExpiresAt: m.Expiry.At}
	}
	if a.columns.table.View != nil {
		return a.row.Marked, deletion, err
	}
	return live || a.row.Marked, deletion, err
}

// static sets the values of the static row, and reports whether it has any. It copies them, because the rows that
// follow show them too.
func (a *rowAssembly) static(value []byte, hidden int64) (live bool, err error) {
	a.statics = append(a.statics[:0], value...)
	if err := a.values.ReadHead(a.statics); err != nil {
		return false, a.damaged(err)
	}
	a.staticParts.Reset()
	return a.cells(max(a.values.Deletion.Timestamp, hidden), &a.staticParts)
}

// cells sets the values of the cells that are alive in a row deleted at deletion, and reports whether there is one.
func (a *rowAssembly) cells(deletion int64, collections *rows.CollectionBuilder) (live bool, err error) {
	a.kept = a.kept[:0]
	a.count.beginRow()
	collections.WithMeta = a.row.Meta != nil
	simple := a.row.Meta == nil && !a.keeps && a.values.Base > max(deletion, a.columns.lastDrop)
	for {
		if simple && a.values.ReadPlain(a.columns.places, a.row.Values) > 0 {
			live = true
		}
		if !a.values.ReadCell() {
			break
		}
		c := &a.values.Cell
		i := a.columns.index(c.Column, c.Timestamp)
		if i < 0 {
			continue
		}
		if !c.Live(deletion, a.now) {
			a.count.deadCell(a.columns.table.Columns[i], c, deletion, a.values.Marker.Timestamp)
			continue
		}
		live = true
		if a.keeps {
			a.kept = append(a.kept, *c)
		}
		if c.Path != nil {
			if err := a.element(collections, i, c); err != nil {
				return false, a.damaged(err)
			}
			continue
		}
		value := c.Value
		if c.Counter {
			value = c.CounterValue()
		}
		a.row.Values[i] = value
		if a.row.Meta != nil {
			a.row.Meta[i] = CellMeta{Timestamp: c.Timestamp, TTL: c.Expiry.TTL, ExpiresAt: c.Expiry.At}
		}
	}
	if collections.Column != nil {
		a.endCollection(collections)
	}
	if a.values.Err != nil {
		return false, a.damaged(a.values.Err)
	}
	return live, nil
}

func (a *rowAssembly) element(collections *rows.CollectionBuilder, index int, c *rows.Cell) error {
	if collections.Column == nil || collections.Column.Index != index {
		if collections.Column != nil {
			a.endCollection(collections)
		}
		collections.Begin(a.columns.table.Columns[index])
	}
	return collections.Add(c)
}

func (a *rowAssembly) endCollection(collections *rows.CollectionBuilder) {
	i := collections.Column.Index
	a.row.Values[i] = collections.Value()
	if a.row.Meta != nil {
		a.row.Meta[i] = collections.Meta
	}
}

// setClustering sets the values of the clustering columns. It takes them from the slice if the row was read by its
// whole key, else from the key, which ends in front of the first null. Values that a key does not give back are in
// the row's value.
func (a *rowAssembly) setClustering(key []byte) error {
	kept := a.values.Clustering
	buf := a.clustering[:0]
	for i, c := range a.columns.table.Clustering {
		switch {
		case i > 0 && len(key) == 0 && a.given == nil:
			a.row.Values[c.Index] = nil
		case a.columns.lossy && c.Type.LossyKey():
			n, size := binary.Uvarint(kept)
			if size <= 0 || n > uint64(len(kept)-size) {
				return a.damaged(rows.ErrRow)
			}
			kept = kept[size:]
			a.row.Values[c.Index] = kept[:n:n]
			kept = kept[n:]
			if a.given == nil {
				_, rest, err := c.Type.DecodeKey(buf[len(buf):], key, c.Desc)
				if err != nil {
					return errors.Join(rows.ErrKey, err)
				}
				key = rest
			}
		case a.given != nil:
			a.row.Values[c.Index] = a.given[i]
		default:
			var err error
			if buf, key, err = a.decodeClustering(buf, key, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// decodeClustering sets the value of the clustering column at the beginning of key. It returns buf with the value
// appended, if there is room, and the rest of key.
func (a *rowAssembly) decodeClustering(buf, key []byte, c *schema.Column) (grown, rest []byte, err error) {
	value, rest, err := c.Type.DecodeKey(buf[len(buf):], key, c.Desc)
	if err != nil {
		return nil, nil, errors.Join(rows.ErrKey, err)
	}
	a.row.Values[c.Index] = value
	if len(value) <= cap(buf)-len(buf) {
		return buf[:len(buf)+len(value)], rest, nil
	}
	a.clustering = make([]byte, 0, 2*cap(buf)+len(value)+64) // for the next row
	return buf, rest, nil
}

// isGone reports whether a row that is not alive may be purged as far as its head tells. cover is the timestamp up to
// which it is deleted.
func isGone(p *rows.Purger, h *rows.Head, cover int64) bool {
	switch {
	case h.Deletion.Timestamp != rows.NoTimestamp:
		return p.Due(h.Deletion.Second)
	case h.Marker.Timestamp != rows.NoTimestamp && h.Marker.Timestamp > cover:
		return p.ExpiryDue(h.Marker.Expiry)
	}
	return cover != rows.NoTimestamp
}

func (a *rowAssembly) damaged(err error) error {
	return errors.Join(err, errors.New("in a row of "+a.columns.table.Keyspace+"."+a.columns.table.Name))
}
