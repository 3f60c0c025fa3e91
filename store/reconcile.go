package store

import (
	"encoding/binary"
	"errors"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/rows"
)

// beginPartition sets what the partition's rows have in common, but for its static row.
func (r *reader) beginPartition(key []byte) error {
	r.row.Partition = key
	if err := rows.SplitPartitionKey(r.row.Values, r.table, key); err != nil {
		return err
	}
	r.clear(r.table.Static)
	r.deletions.Reset()
	if p := r.read.Passed; p != nil {
		p.enter(key)
	}
	r.plain, r.floor = !r.read.Meta && !r.keeps && !r.lossy, r.lastDrop
	if r.known == nil {
		return nil
	}
	if err := r.loadDeletions(); err != nil || !r.deletions.Any {
		return err
	}
	r.floor = max(r.floor, r.deletions.Partition.Timestamp)
	if len(r.deletions.Ranges) > 0 {
		r.plain = false
	}
	if p := r.read.Passed; p != nil && r.deletions.Partition.Timestamp != rows.NoTimestamp && !r.forgets(r.deletions.Partition.Second) {
		p.note()
	}
	return nil
}

// loadDeletions reads the tombstones of the partition.
func (r *reader) loadDeletions() error {
	if r.cursor.src != nil {
		return r.cursor.load(&r.deletions, r.prefix)
	}
	return r.deletions.load(r.src, r.known, r.prefix)
}

// clear forgets the values of columns of one kind, which stand together.
func (r *reader) clear(columns []*schema.Column) {
	if len(columns) == 0 {
		return
	}
	first := columns[0].Index
	clear(r.row.Values[first : first+len(columns)])
	if r.row.Meta != nil {
		clear(r.row.Meta[first : first+len(columns)])
	}
}

// pointRow takes the value of a row that was read by its key.
func (r *reader) pointRow(value []byte) error { return r.deliverRow(r.start[len(r.prefix):], value) }

// pointStatic takes the value of the static row. Its cells are copied, as they are needed with all rows
// that follow.
func (r *reader) pointStatic(value []byte) error {
	r.statics = append(r.statics[:0], value...)
	if err := r.values.ReadHead(r.statics); err != nil {
		return r.damaged(err)
	}
	deletion := max(r.values.Deletion.Timestamp, r.deletions.Partition.Timestamp)
	r.staticParts.Reset()
	if p := r.read.Passed; p != nil {
		p.beginStatic()
	}
	live, err := r.cells(deletion, &r.staticParts)
	if err != nil {
		return err
	}
	if err := r.passStatic(live); err != nil || !live || r.after != nil {
		return err
	}
	r.clear(r.table.Clustering)
	r.clear(r.table.Regular)
	return r.deliver(true)
}

// deliverRow reconciles a row and hands it out if it exists.
func (r *reader) deliverRow(position, value []byte) error {
	if done, err := r.deliverPlain(position, value); done {
		return err
	}
	if err := r.values.ReadHead(value); err != nil {
		return r.damaged(err)
	}
	r.clear(r.table.Regular)
	hidden := r.deletions.TimestampOver(position)
	deletion := max(r.values.Deletion.Timestamp, hidden)
	r.parts.Reset()
	live, err := r.cells(deletion, &r.parts)
	if err != nil {
		return err
	}
	if !live && !r.values.Marker.Live(deletion, r.read.Now) {
		r.gone = r.isGone(deletion)
		return r.passDead(hidden)
	}
	return r.deliverLive(position)
}

// deliverPlain is deliverRow for the common case: the row has a marker without an expiry and plain cells, it was written
// after the partition was deleted, no range is, and nobody asks for more than values. It reports whether it is such a row.
func (r *reader) deliverPlain(position, value []byte) (done bool, err error) {
	if !r.plain || len(value) == 0 || value[0] != rows.RowMarked {
		return false, nil
	}
	base, n := binary.Varint(value[1:])
	if n <= 0 || base <= r.floor {
		return false, nil
	}
	all := len(r.table.Regular)
	if !r.full {
		r.clear(r.table.Regular)
	}
	r.values.Rest = value[1+n:]
	set := r.values.ReadPlain(r.columns, r.row.Values)
	if len(r.values.Rest) > 0 {
		return false, nil
	}
	if r.full && set < all { // there are values of the row before
		r.clear(r.table.Regular)
		r.values.Rest = value[1+n:]
		r.values.ReadPlain(r.columns, r.row.Values)
	}
	r.full = set == all
	return true, r.deliverLive(position)
}

// deliverLive hands out a row that lives.
func (r *reader) deliverLive(position []byte) error {
	r.seen = true
	if r.read.Passed != nil {
		if err := r.passLive(position); err != nil {
			return err
		}
	}
	if len(r.table.Clustering) > 0 {
		if err := r.setClustering(position[1:]); err != nil {
			return err
		}
	}
	return r.deliver(false)
}

func (r *reader) deliver(static bool) error {
	r.row.Static = static
	more, err := r.fn(&r.row)
	r.done = !more || err != nil
	return err
}

// cells sets the values of the cells that live, and reports whether there is one. parts has the memory of values that
// consist of several.
func (r *reader) cells(deletion int64, parts *rows.CollectionBuilder) (live bool, err error) {
	r.lost, r.kept = lostCells{}, r.kept[:0]
	parts.WithMeta = r.row.Meta != nil
	simple := r.row.Meta == nil && !r.keeps && r.values.Base > max(deletion, r.lastDrop)
	for {
		if simple && r.values.ReadPlain(r.columns, r.row.Values) > 0 {
			live = true
		}
		if !r.values.ReadCell() {
			break
		}
		c := &r.values.Cell
		i := r.index(c.Column, c.Timestamp)
		if i < 0 {
			continue
		}
		if !c.Live(deletion, r.read.Now) {
			r.passCell(c, deletion)
			continue
		}
		live = true
		if r.keeps {
			r.kept = append(r.kept, *c)
		}
		if c.Path != nil {
			if err := r.part(parts, i, c); err != nil {
				return false, r.damaged(err)
			}
			continue
		}
		value := c.Value
		if c.Counter {
			value = c.CounterValue()
		}
		r.row.Values[i] = value
		if r.row.Meta != nil {
			r.row.Meta[i] = CellMeta{Timestamp: c.Timestamp, TTL: c.Expiry.TTL, ExpiresAt: c.Expiry.At}
		}
	}
	if parts.Column != nil {
		r.assembled(parts)
	}
	if r.values.Err != nil {
		return false, r.damaged(r.values.Err)
	}
	return live, nil
}

// part adds a cell to the value of its column.
func (r *reader) part(parts *rows.CollectionBuilder, index int, c *rows.Cell) error {
	if parts.Column == nil || parts.Column.Index != index {
		if parts.Column != nil {
			r.assembled(parts)
		}
		parts.Begin(r.table.Columns[index])
	}
	return parts.Add(c)
}

// assembled sets the value of a column whose parts are all there.
func (r *reader) assembled(parts *rows.CollectionBuilder) {
	i := parts.Column.Index
	r.row.Values[i] = parts.Value()
	if r.row.Meta != nil {
		r.row.Meta[i] = parts.Meta
	}
}

// setClustering sets the clustering columns' values: those the row was asked for by, else those in its
// key, where those that are null are missing; of types whose keys do not give them back, those in its value.
func (r *reader) setClustering(key []byte) error {
	if !r.lossy {
		return r.setPlainClustering(key)
	}
	kept := r.values.Clustering
	buf := r.clustering[:0]
	for i, c := range r.table.Clustering {
		switch {
		case i > 0 && len(key) == 0 && r.given == nil:
			r.row.Values[c.Index] = nil
		case c.Type.LossyKey():
			n, size := binary.Uvarint(kept)
			if size <= 0 || n > uint64(len(kept)-size) {
				return r.damaged(rows.ErrRow)
			}
			kept = kept[size:]
			r.row.Values[c.Index] = kept[:n:n]
			kept = kept[n:]
			if r.given == nil {
				_, rest, err := c.Type.DecodeKey(buf[len(buf):], key, c.Desc)
				if err != nil {
					return errors.Join(rows.ErrKey, err)
				}
				key = rest
			}
		case r.given != nil:
			r.row.Values[c.Index] = r.given[i]
		default:
			var err error
			if buf, key, err = r.decodeClustering(buf, key, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// setPlainClustering is setClustering where all values are to be had from keys.
func (r *reader) setPlainClustering(key []byte) error {
	if r.given != nil {
		for i, c := range r.table.Clustering {
			r.row.Values[c.Index] = r.given[i]
		}
		return nil
	}
	buf := r.clustering[:0]
	for i, c := range r.table.Clustering {
		if i > 0 && len(key) == 0 {
			r.row.Values[c.Index] = nil
			continue
		}
		var err error
		if buf, key, err = r.decodeClustering(buf, key, c); err != nil {
			return err
		}
	}
	return nil
}

// decodeClustering sets the value of a clustering column that key begins with. It returns buf with the value behind it, if
// there is room, and the rest of the key.
func (r *reader) decodeClustering(buf, key []byte, c *schema.Column) (grown, rest []byte, err error) {
	value, rest, err := c.Type.DecodeKey(buf[len(buf):], key, c.Desc)
	if err != nil {
		return nil, nil, errors.Join(rows.ErrKey, err)
	}
	r.row.Values[c.Index] = value
	if len(value) <= cap(buf)-len(buf) {
		return buf[:len(buf)+len(value)], rest, nil
	}
	r.clustering = make([]byte, 0, 2*cap(buf)+len(value)+64) // for the next row
	return buf, rest, nil
}

func (r *reader) damaged(err error) error {
	return errors.Join(err, errors.New("in a row of "+r.table.Keyspace+"."+r.table.Name))
}

// index is the place of the column that a cell of that time is of, or -1 if it is of none.
func (r *reader) index(id uint32, ts int64) int {
	if int(id) >= len(r.columns) {
		return -1
	}
	i := int(r.columns[id])
	if r.dropped != nil && i >= 0 && ts <= r.dropped[i] {
		return -1
	}
	return i
}
