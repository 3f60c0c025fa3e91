package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/cqld/cqld/cql/types"
)

// sample reads something at random and compares it: a row, a slice of a partition, a partition, or the rows that an
// index or a view finds for one value.
func (w *worker) sample(ctx context.Context, s *session) error {
	o, p, c := w.choose()
	at := place{o, p, c}
	if len(w.recent) > 0 && w.random.IntN(2) == 0 {
		at = w.recent[w.random.IntN(len(w.recent))]
	}
	var err error
	switch n := w.random.IntN(100); {
	case n < 50:
		err = w.readRow(ctx, s, at, "by its key")
	case n < 85:
		to := min(at.row+w.random.IntN(narrowRows), at.partition.rows-1)
		err = w.readSlice(ctx, s, at, at.row, to, w.random.IntN(2) == 0)
	case n < 95 || len(at.owned.lookups) == 0:
		err = w.readPartition(ctx, s, at, "as a partition")
	default:
		l := at.owned.lookups[w.random.IntN(len(at.owned.lookups))]
		err = w.readGroup(ctx, s, at.owned, l, w.random.IntN(groups), "during the load")
	}
	if err != nil {
		return w.unlessRefused(s.epoch, "read of "+at.owned.name, err)
	}
	return nil
}

// readRow reads one row.
func (w *worker) readRow(ctx context.Context, s *session, at place, how string) error {
	return w.readRows(ctx, s, at, question{from: at.row, to: at.row}, how, " AND c = ?", int32Bytes(at.row))
}

// readSlice reads some rows, in either order.
func (w *worker) readSlice(ctx context.Context, s *session, at place, from, to int, reversed bool) error {
	where, how := " AND c >= ? AND c <= ?", "as a slice"
	if reversed {
		where, how = where+" ORDER BY c DESC", "as a slice in reverse"
	}
	return w.readRows(ctx, s, at, question{from: from, to: to}, how, where, int32Bytes(from), int32Bytes(to))
}

func (w *worker) readPartition(ctx context.Context, s *session, at place, how string) error {
	return w.readRows(ctx, s, at, at.partition.everything(window{}), how, "")
}

// readRows reads rows of a partition and compares them with the model.
func (w *worker) readRows(
	ctx context.Context, s *session, at place, q question, how, where string, bounds ...[]byte,
) error {
	p, t := at.partition, at.owned.table
	if p.broken {
		return nil
	}
	values := []types.Value{{Bytes: int64Bytes(p.key)}}
	for _, b := range bounds {
		values = append(values, types.Value{Bytes: b})
	}
	var rows []observed
	began := time.Now()
	err := s.read(ctx, "read of "+t.name, t.selection(t.name)+" WHERE p = ?"+where, values, func(row [][]byte) {
		_, o := parseRow(t, row)
		rows = append(rows, o)
	})
	if err != nil {
		return err
	}
	q.when = windowOf(began, time.Now())
	w.report.compare(t, p, q, rows, how)
	return nil
}

// readGroup reads the worker's rows with one value by an index or a view, and compares them by partition.
func (w *worker) readGroup(ctx context.Context, s *session, o *owned, l lookup, group int, when string) error {
	k := o.cellKind(l.column)
	v := integerValue(w.group(group))
	if k == word {
		v = wordValue(w.group(group))
	}
	rows := map[int64][]observed{}
	began := time.Now()
	name := o.columns[l.column].name
	err := s.read(ctx, "lookup in "+l.from, o.selection(l.from)+" WHERE "+name+" = ?", []types.Value{{Bytes: v.bytes(k)}},
		func(row [][]byte) {
			key, r := parseRow(o.table, row)
			rows[key] = append(rows[key], r)
		})
	if err != nil {
		return err
	}
	how := fmt.Sprintf("from %s by %s = %s, %s", l.from, name, v.text(k), when)
	w.report.compareGathered(o, rows, &match{l.column, v}, windowOf(began, time.Now()), how)
	w.report.strangers(o.table, rows, how)
	return nil
}

// parseRow turns a row of table.selection into a row of the model.
func parseRow(t *table, row [][]byte) (key int64, o observed) {
	if len(row[0]) == 8 {
		key = int64(binary.BigEndian.Uint64(row[0]))
	}
	if len(row[1]) == 4 {
		o.c = int(int32(binary.BigEndian.Uint32(row[1])))
	}
	for i, c := range t.columns {
		o.set(t, i, row[2+i], c.kind)
	}
	if t.hasMap {
		o.setElements(t, row[2+len(t.columns)])
	}
	return key, o
}

func (o *observed) set(t *table, i int, b []byte, k kind) {
	v, err := parseValue(b, k)
	if err != nil {
		o.wrong += fmt.Sprintf("%s has %v; ", t.cellName(i), err)
	}
	o.cells[i] = v
}

// setElements reads a map of the protocol.
func (o *observed) setElements(t *table, b []byte) {
	next := func() (part []byte) {
		if len(b) < 4 {
			return nil
		}
		n := int(binary.BigEndian.Uint32(b))
		if b = b[4:]; n > len(b) {
			return nil
		}
		part, b = b[:n], b[n:]
		return part
	}
	if b == nil {
		return
	}
	n := binary.BigEndian.Uint32(b)
	b = b[4:]
	for range n {
		k := next()
		if len(k) != 4 || binary.BigEndian.Uint32(k) >= mapKeys {
			o.wrong += fmt.Sprintf("m has the key %x; ", k)
			return
		}
		o.set(t, firstElement+int(binary.BigEndian.Uint32(k)), next(), elementKind)
	}
}
