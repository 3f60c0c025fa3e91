package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/pace"
	"github.com/cqld/cqld/store/rows"
)

// maxViewBytes is roughly how many bytes of a view's rows a read holds at a time. More rows are made in further
// passes over the base.
const maxViewBytes = 16 << 20

// readView is Read for a materialized view: it makes the view's rows from a snapshot of the base.
func (s *Store) readView(ctx context.Context, rd *reader, r *Read, fn func(*Row) (bool, error)) error {
	for {
		era := s.restores.Load()
		state := s.current()
		if s.lapsed() {
			return errLapsed
		}
		view := state.catalog.Table(r.Table.Keyspace, r.Table.Name)
		if view == nil || view.ID != r.Table.ID {
			return noTable(r.Table)
		}
		table := state.catalog.Base(view)
		if table == nil {
			return fmt.Errorf("the base of view %s.%s does not exist", view.Keyspace, view.Name)
		}
		v := newViewRows(r, view, table)
		v.limit = s.viewBytes
		rd.begin(ctx, s, r, 0, fn)
		base := readers.Get().(*reader)
		id := state.ids[v.base.ID]
		entries := state.viewEntries(id, v, r)
		known := s.filters.of(id)
		err := s.engine.View(func(src engine.Reader) error {
			if s.restores.Load() != era || s.moved(state) {
				return errTruncated
			}
			v.kept = &base.row.kept
			if entries != nil {
				base.begin(ctx, s, &entries.read, id, v.take)
				base.row.keeps, base.tombstones.known = true, known
				if err := base.beginNamed(src); err != nil {
					return err
				}
				entries.src, entries.base = src, base
				return rd.run(entries)
			}
			v.load = func(take func(*Row) (bool, error)) error {
				for _, read := range v.reads {
					base.begin(ctx, s, read, id, take)
					base.row.keeps, base.tombstones.known = true, known
					if err := base.run(src); err != nil {
						return err
					}
				}
				return nil
			}
			return rd.run(v)
		})
		base.release()
		v.turn.Give(int64(v.held))
		if !errors.Is(err, errTruncated) {
			return err
		}
	}
}

// viewRows is an engine's reader of a view's rows. It makes them from the rows of the base when they are asked for,
// and holds those between two keys, in order: as many as there is room for, from where the read begins.
type viewRows struct {
	view, base *schema.Table
	reads      []*Read
	wanted     map[string]bool // the partitions of the view that are read; nil: all
	load       func(take func(*Row) (bool, error)) error
	kept       *[]rows.Cell // of the row that is taken

	key     []int             // the places in the base of the columns of the view's key
	columns map[uint32]uint32 // the IDs in the view of columns of the base

	// Of the row that is taken.
	values        [][]byte // of the view's key
	partition, at []byte   // the partition and the whole key of the row

	rows     sortedRows
	size     int
	from, to []byte // rows has all rows from the one key up to the other
	reverse  bool   // when there is no room those at the beginning are left out
	limit    int    // of size
	turn     *pace.Turn
	held     int // on it
}

// opOverhead is roughly what a row takes besides its key and value.
const opOverhead = 96

// heldStep is how many bytes a turn is asked for at a time.
const heldStep = 64 << 10

func newViewRows(r *Read, view, base *schema.Table) *viewRows {
	v := &viewRows{turn: r.Turn, view: view, base: base, reads: baseReads(r, view, base), columns: map[uint32]uint32{}}
	for _, c := range slices.Concat(view.PartitionKey, view.Clustering) {
		v.key = append(v.key, base.Column(c.Name).Index)
	}
	v.values = make([][]byte, len(v.key))
	for _, c := range view.Regular {
		v.columns[base.Column(c.Name).ID] = c.ID
	}
	if r.Keys != nil {
		v.wanted = map[string]bool{}
		for _, key := range r.Keys {
			v.wanted[string(key)] = true
		}
	}
	return v
}

// Get calls fn with the value of key.
func (v *viewRows) Get(key []byte, fn func(value []byte) error) (bool, error) {
	if err := v.cover(key, append(bytes.Clone(key), 0), false); err != nil {
		return false, err
	}
	return v.rows.Get(key, fn)
}

// Scan calls fn for the keys in a range.
func (v *viewRows) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	more := true
	for more && bytes.Compare(start, end) < 0 {
		if err := v.cover(start, end, o.Reverse); err != nil {
			return err
		}
		low, high := start, end
		if o.Reverse && bytes.Compare(v.from, low) > 0 {
			low = v.from
		} else if !o.Reverse && bytes.Compare(v.to, high) < 0 {
			high = v.to
		}
		err := v.rows.Scan(low, high, o, func(key, value []byte) (_ bool, err error) {
			more, err = fn(key, value)
			return more, err
		})
		if err != nil {
			return err
		}
		if o.Reverse {
			end = low
		} else {
			start = high
		}
	}
	return nil
}

// cover makes rows hold the beginning of a range, or its end. Partitions that are asked for one by one are all made
// at once, if there is room.
func (v *viewRows) cover(start, end []byte, reverse bool) error {
	first := v.from == nil
	if v.has(start, end, reverse) {
		return nil
	}
	if first && v.wanted != nil {
		area := rows.AppendArea(nil, 0, rows.AreaRows)
		if err := v.fill(area, rows.Successor(bytes.Clone(area)), reverse); err != nil || v.has(start, end, reverse) {
			return err
		}
	}
	return v.fill(start, end, reverse)
}

// has reports whether rows holds the beginning of a range, or its end.
func (v *viewRows) has(start, end []byte, reverse bool) bool {
	if v.from == nil {
		return false
	}
	if reverse {
		return bytes.Compare(v.from, end) < 0 && bytes.Compare(end, v.to) <= 0
	}
	return bytes.Compare(v.from, start) <= 0 && bytes.Compare(start, v.to) < 0
}

// fill makes the rows of a range, as many as there is room for.
func (v *viewRows) fill(start, end []byte, reverse bool) error {
	v.from, v.to, v.reverse = bytes.Clone(start), bytes.Clone(end), reverse
	v.rows, v.size = v.rows[:0], 0
	if err := v.load(v.take); err != nil {
		return err
	}
	v.sort()
	return nil
}

// take makes a row of the view from one of the base. The view's row is alive as long as the base's; if a column of
// its key is not in the base's key, only while that column has this value.
func (v *viewRows) take(row *Row) (bool, error) {
	if row.Static {
		return true, nil
	}
	inKey := len(v.view.PartitionKey)
	for i, place := range v.key {
		value := row.Values[place]
		if value == nil || inKey > 1 && i < inKey && len(value) > math.MaxUint16 {
			return true, nil
		}
		v.values[i] = value
	}
	v.partition = joinKey(v.partition[:0], v.values[:inKey])
	if v.wanted != nil && !v.wanted[string(v.partition)] {
		return true, nil
	}
	v.at = append(rows.AppendPartition(v.at[:0], v.view, 0, v.partition), rows.KindRow)
	v.at = rows.AppendClustering(v.at, v.view, v.values[inKey:])
	if bytes.Compare(v.at, v.from) < 0 || bytes.Compare(v.at, v.to) >= 0 {
		return true, nil
	}
	for i := range v.view.View.Where {
		if !v.view.View.Where[i].Holds(v.base, row.Values) {
			return true, nil
		}
	}
	v.add(v.row(v.partition, v.values[inKey:]))
	return true, v.hold()
}

// row returns the row as it would be stored.
func (v *viewRows) row(partition []byte, clustering [][]byte) engine.Op {
	m := NewMutation(v.view, partition)
	m.Row(clustering)
	m.Mark(0, Expiry{})
	for _, c := range *v.kept {
		if id, ok := v.columns[c.Column]; ok {
			c.Column = id
			m.add(c)
		}
	}
	op := m.appendOps(nil, 0)[0]
	op.Key, op.Value = bytes.Clone(op.Key), bytes.Clone(op.Value)
	m.release()
	return op
}

// add adds a row. When there is no more room half of the rows go.
func (v *viewRows) add(op engine.Op) {
	v.rows = append(v.rows, op)
	if v.size += len(op.Key) + len(op.Value) + opOverhead; v.size <= v.limit {
		return
	}
	v.sort()
	for len(v.rows) > 1 && v.size > v.limit/2 {
		last := len(v.rows) - 1
		gone := v.rows[last]
		if v.reverse {
			gone = v.rows[0]
			v.rows, v.from = v.rows[1:], v.rows[1].Key
		} else {
			v.rows, v.to = v.rows[:last], gone.Key
		}
		v.size -= len(gone.Key) + len(gone.Value) + opOverhead
	}
}

// hold charges the turn for what the rows have grown by.
func (v *viewRows) hold() error {
	if v.size <= v.held || v.size < heldStep {
		return nil
	}
	n := max(heldStep, v.size-v.held)
	v.held += n
	return v.turn.Hold(int64(n))
}

func (v *viewRows) sort() {
	slices.SortFunc(v.rows, func(a, b engine.Op) int { return bytes.Compare(a.Key, b.Key) })
}
