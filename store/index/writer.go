package index

import (
	"encoding/binary"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// Writer makes the operations that write the entries of a mutation's rows. It reads each row once for all indexes.
type Writer struct {
	maker Maker
	ops   []engine.Op
	row   []byte // the key of the row at hand
	buf   []byte // keys and values of entries, one behind the other: operations point into it until the mutation ends

	add func(entry []byte) bool // addEntry, as a value that is made once
}

func NewWriter() *Writer {
	w := new(Writer)
	w.add = w.addEntry
	return w
}

// maxKeptEntries is the largest buffer worth keeping.
const maxKeptEntries = 64 << 10

// Release forgets the entries that were made.
func (w *Writer) Release() {
	if w.buf = w.buf[:0]; cap(w.buf) > maxKeptEntries {
		w.buf = nil
	}
}

// addEntry adds the entry of the row at hand that begins so.
func (w *Writer) addEntry(entry []byte) bool {
	begin := len(w.buf)
	w.buf = append(append(w.buf, entry...), w.row[rows.AreaSize:]...)
	end := len(w.buf)
	w.buf = binary.AppendUvarint(w.buf, uint64(len(entry)))
	n := len(w.buf)
	w.ops = append(w.ops, engine.Op{Kind: engine.Put, Key: w.buf[begin:end:end], Value: w.buf[end:n:n]})
	return true
}

// Append appends operations that write the entries of rows, in a round. ops write the rows, which are of one
// partition; prefix is the length of the prefix of its keys.
func (w *Writer) Append(all, ops []engine.Op, indexes []*Index, prefix int, round uint64) ([]engine.Op, error) {
	w.ops, w.maker.round = all, round
	defer func() { w.ops, w.row = nil, nil }()
	for i := range ops {
		if rows.IsTombstoneKey(ops[i].Key) {
			continue
		}
		w.row = ops[i].Key
		if err := w.addRow(indexes, prefix, ops[i].Value); err != nil {
			return w.ops, err
		}
	}
	return w.ops, nil
}

// addRow adds the entries of the row at hand, given the length of its partition's prefix and its value.
func (w *Writer) addRow(indexes []*Index, prefix int, value []byte) error {
	cells := false
	for _, x := range indexes {
		switch {
		case x.View != nil:
		case x.Column.Kind == schema.Regular || x.Column.Kind == schema.Static:
			cells = true
		default:
			if err := w.maker.EachEntry(x, w.row, prefix, value, w.add); err != nil {
				return err
			}
		}
	}
	if !cells {
		return nil
	}
	static := w.row[prefix] == rows.KindStatic
	r := &w.maker.row
	if err := r.ReadHead(value); err != nil {
		return err
	}
	for r.ReadCell() {
		if err := w.addCell(indexes, static); err != nil {
			return err
		}
	}
	return r.Err
}

// addCell adds the entries of the cell at hand.
func (w *Writer) addCell(indexes []*Index, static bool) error {
	c := &w.maker.row.Cell
	if c.Deleted {
		return nil
	}
	for _, x := range indexes {
		if x.View != nil || x.Column.ID != c.Column || (x.Column.Kind == schema.Static) != static {
			continue
		}
		if _, err := w.maker.ofCell(x, c, w.add); err != nil {
			return err
		}
	}
	return nil
}
