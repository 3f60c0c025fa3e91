package main

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/cqld/cqld/cql/types"
)

// form is the statement of a write.
type form int

const (
	insert form = iota
	update
	deleteCells
	deleteRows
	count // of counters
)

// condition is the IF of a write.
type condition int

const (
	always condition = iota
	ifNotExists
	ifExists
	ifN // IF n = expected
)

// The effect of a write on the map as a whole.
const (
	emptiesMap  = 1 + iota // DELETE m
	replacesMap            // SET m = {...}
)

// write is one statement of the load: statement makes its CQL, row.apply applies it to the model.
type write struct {
	form      form
	table     *table
	partition *partition
	from, to  int // the rows c
	cells     []change
	emptied   int
	timestamp int64
	stated    bool // USING TIMESTAMP
	ttl       uint32
	condition condition
	expected  value // by IF n

	expires, slack uint32 // from when it was sent and answered
}

// change sets a cell to a value; null deletes it. On a counter it is an increment.
type change struct {
	cell  int
	value value
}

// size estimates how many bytes the write adds to the commit log.
func (w *write) size() int {
	n := 60
	for _, c := range w.cells {
		n += int(c.value.length) + 12
	}
	return n
}

// apply changes the rows of one state of the partition. It reports whether the condition was met.
func (w *write) apply(rows []row) (applied bool) {
	if !w.holds(&rows[w.from]) {
		return false
	}
	for c := w.from; c <= w.to; c++ {
		rows[c].apply(w)
	}
	return true
}

// holds reports whether the condition is met. Nothing expires in tables with conditional writes.
func (w *write) holds(r *row) bool {
	switch exists := r.presence(window{}) == present; w.condition {
	case ifNotExists:
		return !exists
	case ifExists:
		return exists
	case ifN:
		return r.cell(columnN, window{}) == present && r.cells[columnN].value == w.expected
	}
	return true
}

// binder builds a statement and the values of its markers.
type binder struct {
	strings.Builder
	values []types.Value
}

// bind adds text with a marker in it.
func (b *binder) bind(text string, value []byte) {
	b.WriteString(text)
	b.values = append(b.values, types.Value{Bytes: value})
}

func int32Bytes(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

func int64Bytes(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// statement returns the CQL of the write, which depends only on its kind, and the values.
func (w *write) statement() (string, []types.Value) {
	b := &binder{}
	name := "soak." + w.table.name
	switch w.form {
	case insert:
		w.insertInto(b, name)
		return b.String(), b.values
	case update, count:
		b.WriteString("UPDATE " + name)
		w.using(b)
		w.assign(b)
	case deleteCells:
		b.WriteString("DELETE ")
		w.targets(b)
		b.WriteString(" FROM " + name)
		w.using(b)
	case deleteRows:
		b.WriteString("DELETE FROM " + name)
		w.using(b)
	}
	w.where(b)
	w.conditions(b)
	return b.String(), b.values
}

func (w *write) insertInto(b *binder, name string) {
	b.WriteString("INSERT INTO " + name + " (p, c")
	for _, c := range w.cells {
		b.WriteString(", " + w.table.cellName(c.cell))
	}
	b.bind(") VALUES (?", int64Bytes(w.partition.key))
	b.bind(", ?", int32Bytes(w.from))
	for _, c := range w.cells {
		b.bind(", ?", c.value.bytes(w.table.cellKind(c.cell)))
	}
	b.WriteString(")")
	w.conditions(b)
	w.using(b)
}

// using writes the timestamp and the TTL, if the write has them.
func (w *write) using(b *binder) {
	before := " USING "
	if w.stated {
		b.bind(before+"TIMESTAMP ?", int64Bytes(w.timestamp))
		before = " AND "
	}
	if w.ttl > 0 {
		b.bind(before+"TTL ?", int32Bytes(int(w.ttl)))
	}
}

// assign is the SET of an UPDATE.
func (w *write) assign(b *binder) {
	if w.emptied == replacesMap {
		b.bind(" SET m = ?", mapBytes(w.cells))
		return
	}
	before := " SET "
	for _, c := range w.cells {
		switch v := c.value.bytes(w.table.cellKind(c.cell)); {
		case w.form == count:
			name := w.table.cellName(c.cell)
			b.bind(before+name+" = "+name+" + ?", v)
		case c.cell >= firstElement:
			b.bind(before+"m[?] = ?", int32Bytes(c.cell-firstElement))
			b.bind("", v)
		default:
			b.bind(before+w.table.cellName(c.cell)+" = ?", v)
		}
		before = ", "
	}
}

// mapBytes encodes a map.
func mapBytes(elements []change) []byte {
	b := int32Bytes(len(elements))
	for _, e := range elements {
		v := e.value.bytes(elementKind)
		b = append(append(b, int32Bytes(4)...), int32Bytes(e.cell-firstElement)...)
		b = append(append(b, int32Bytes(len(v))...), v...)
	}
	return b
}

// targets are the targets of a DELETE of cells.
func (w *write) targets(b *binder) {
	if w.emptied == emptiesMap {
		b.WriteString("m")
		return
	}
	for i, c := range w.cells {
		if i > 0 {
			b.WriteString(", ")
		}
		if c.cell >= firstElement {
			b.bind("m[?]", int32Bytes(c.cell-firstElement))
			continue
		}
		b.WriteString(w.table.cellName(c.cell))
	}
}

// where selects the rows: one row, a range that may be open at one end of the partition, or the partition.
func (w *write) where(b *binder) {
	b.bind(" WHERE p = ?", int64Bytes(w.partition.key))
	first, last := w.from == 0, w.to == w.partition.rows-1
	switch {
	case w.from == w.to:
		b.bind(" AND c = ?", int32Bytes(w.from))
	case first && last:
	case first:
		b.bind(" AND c < ?", int32Bytes(w.to+1))
	case last:
		b.bind(" AND c >= ?", int32Bytes(w.from))
	default:
		b.bind(" AND c >= ?", int32Bytes(w.from))
		b.bind(" AND c <= ?", int32Bytes(w.to))
	}
}

func (w *write) conditions(b *binder) {
	switch w.condition {
	case ifNotExists:
		b.WriteString(" IF NOT EXISTS")
	case ifExists:
		b.WriteString(" IF EXISTS")
	case ifN:
		b.bind(" IF n = ?", w.expected.bytes(integer))
	}
}

// String describes the write, for reports.
func (w *write) String() string {
	text, _ := w.statement()
	return fmt.Sprintf("%s, %d bytes", text, w.size())
}
