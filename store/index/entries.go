package index

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// The keys of the entries of an index:
//
//	| 2 × index + 1 : 4 | form : 1 | value | token : 8 | partition key | 00 00 | ...
//
// After the value comes the key of the row without the number of its table. In form 0 the value is encoded by
// types.Type.AppendKey, in form 1 it is the SHA-256 of that. Entries of maps have the map's key before the value.
// Terms of text are written as blobs. Form 2 has parts of terms, and form 3 has no value (see terms.go). Form 4 has
// the round in which the entry of a vector was written (see vectors.go). The value of an entry is the length of the
// part before the row's key, as a uvarint.
const (
	wholeValue  = 0
	HashedValue = 1
	PartOfTerm  = 2
	ManyTerms   = 3
	ofRound     = 4

	LongestWhole = 256
)

// EntryOp writes the entry of a row with a key.
func EntryOp(entry, row []byte) engine.Op {
	b := append(make([]byte, 0, len(entry)+len(row)+4), entry...)
	b = append(b, row[rows.AreaSize:]...)
	key := b[:len(b):len(b)]
	return engine.Op{Kind: engine.Put, Key: key, Value: binary.AppendUvarint(b, uint64(len(entry)))[len(b):]}
}

// EntryLength is how much of the key of an entry comes in front of the key of the row, given the entry's value.
func EntryLength(key, value []byte) (int, error) {
	n, size := binary.Uvarint(value)
	if size <= 0 || n <= rows.AreaSize || n > uint64(len(key)) {
		return 0, rows.ErrKey
	}
	return int(n), nil
}

// Maker makes the entries of rows. It is reused with its buffers.
type Maker struct {
	row       rows.Reader
	value     []byte // that is indexed, as keys have it
	entry     []byte
	partition []byte   // the partition key
	memory    []byte   // of values of clustering columns
	Fields    [][]byte // values of columns of the key, by their index
	round     uint64   // of the entries of vectors

	// If it is not 0, cells that have expired by then and have no value are skipped: sweeps remove the values of
	// expired cells and their entries, and write no entries of the rest.
	Expired int64
}

func (e *Maker) passesOver(c *rows.Cell) bool {
	return c.Deleted || c.Expiry.At != 0 && c.Expiry.At <= e.Expired && len(c.Value) == 0
}

// AppendForm appends the prefix of the entries of a form.
func (x *Index) AppendForm(dst []byte, form byte) []byte {
	return append(rows.AppendArea(dst, x.ID, rows.AreaRows), form)
}

// AppendValue appends the prefix of the entries of a value. Terms that are short are never hashed.
func (x *Index) AppendValue(dst, encoded []byte) []byte {
	if len(encoded) > LongestWhole && x.Terms.all == nil {
		sum := sha256.Sum256(encoded)
		return append(x.AppendForm(dst, HashedValue), sum[:]...)
	}
	return append(x.AppendForm(dst, wholeValue), encoded...)
}

// EachEntry calls fn with the prefix, before the row's key, of each entry of a stored row, until it returns false.
// prefix is the length of the prefix of its partition's keys. Values that have expired, or that a tombstone of a range
// or of the partition hides, have entries too.
func (e *Maker) EachEntry(x *Index, key []byte, prefix int, value []byte, fn func(entry []byte) bool) error {
	if err := e.row.ReadHead(value); err != nil {
		return err
	}
	static := len(key) > prefix && key[prefix] == rows.KindStatic
	switch x.Column.Kind {
	case schema.PartitionKey:
		return e.ofRow(x, key, prefix, fn)
	case schema.Clustering:
		if static {
			return nil
		}
		return e.ofRow(x, key, prefix, fn)
	case schema.Static:
		if !static {
			return nil
		}
	}
	for e.row.ReadCell() {
		c := &e.row.Cell
		if c.Column != x.Column.ID || e.passesOver(c) {
			continue
		}
		if more, err := e.ofCell(x, c, fn); err != nil || !more {
			return err
		}
	}
	return e.row.Err
}

// ofCell calls fn with the entries of a cell of the index's column, until it returns false.
func (e *Maker) ofCell(x *Index, c *rows.Cell, fn func(entry []byte) bool) (more bool, err error) {
	switch {
	case x.IsVector():
		e.entry = x.appendRound(e.entry[:0], e.round)
		return fn(e.entry), nil
	case x.Terms.any():
		value, err := x.partOf(c)
		if err != nil {
			return false, err
		}
		return e.giveTerms(x, value, fn), nil
	}
	e.value = x.appendCell(e.value[:0], c)
	return e.give(x, fn), nil
}

// partOf is the indexed part of a cell.
func (x *Index) partOf(c *rows.Cell) ([]byte, error) {
	if _, isSet := x.Column.Type.(*types.Set); c.Path != nil && (isSet || x.part == schema.IndexKeys) {
		value, _, err := x.Value.DecodeKey(nil, c.Path, false)
		return value, err
	}
	return x.cellValue(c), nil
}

// cellValue is the value of a cell, without the name that it keeps.
func (x *Index) cellValue(c *rows.Cell) []byte {
	if c.Path != nil && rows.KeepsName(x.Column.Type) {
		if n, size := binary.Uvarint(c.Value); size > 0 && n <= uint64(len(c.Value)-size) {
			return c.Value[size+int(n):]
		}
	}
	return c.Value
}

func (e *Maker) give(x *Index, fn func(entry []byte) bool) bool {
	e.entry = x.AppendValue(e.entry[:0], e.value)
	return fn(e.entry)
}

func (x *Index) appendCell(dst []byte, c *rows.Cell) []byte {
	value := x.cellValue(c)
	if c.Path == nil {
		return x.Value.AppendKey(dst, value, false)
	}
	_, isSet := x.Column.Type.(*types.Set)
	switch {
	case isSet || x.part == schema.IndexKeys:
		return append(dst, c.Path...)
	case x.part == schema.IndexEntries:
		dst = append(dst, c.Path...)
	}
	return x.Value.AppendKey(dst, value, false)
}

// ofRow gives the value of a column of the key, if the row has anything but tombstones.
func (e *Maker) ofRow(x *Index, key []byte, prefix int, fn func(entry []byte) bool) error {
	if !e.alive() {
		return e.row.Err
	}
	if err := e.ReadKey(x.Table, key, prefix); err != nil {
		return err
	}
	e.giveTerms(x, e.Fields[x.Column.Index], fn)
	return nil
}

func (e *Maker) alive() bool {
	alive := e.row.Marker.Timestamp != rows.NoTimestamp
	for !alive && e.row.ReadCell() {
		alive = !e.row.Cell.Deleted
	}
	return alive
}

// ReadKey reads the values of the columns of the key.
func (e *Maker) ReadKey(t *schema.Table, key []byte, prefix int) (err error) {
	e.partition, _, err = rows.SplitEscaped(e.partition[:0], key[rows.AreaSize+rows.TokenSize:])
	if err != nil {
		return err
	}
	e.Fields = slices.Grow(e.Fields[:0], len(t.Columns))[:len(t.Columns)]
	clear(e.Fields)
	if err := rows.SplitPartitionKey(e.Fields, t, e.partition); err != nil {
		return err
	}
	if key[prefix] == rows.KindStatic {
		return nil
	}
	e.memory = e.memory[:0]
	rest := key[prefix+1:]
	for _, c := range t.Clustering {
		if len(rest) == 0 {
			break // the last column of a row in a table WITH COMPACT STORAGE
		}
		at := len(e.memory)
		var value []byte
		if value, rest, err = c.Type.DecodeKey(e.memory, rest, c.Desc); err != nil {
			return errors.Join(rows.ErrKey, err)
		}
		e.memory = value
		e.Fields[c.Index] = value[at:len(value):len(value)]
	}
	return nil
}

// HasEntry reports whether a row, as it is stored, has the entry that begins so.
func (e *Maker) HasEntry(x *Index, key []byte, prefix int, value, entry []byte) (found bool, err error) {
	if x.Terms.Gram && entry[rows.AreaSize] == PartOfTerm {
		return e.hasPart(x, key, prefix, value, entry)
	}
	err = e.EachEntry(x, key, prefix, value, func(of []byte) bool {
		found = x.IsVector() || bytes.Equal(of, entry) // in whatever round it was written
		return !found
	})
	return found, err
}

// hasPart is has for the entry of a part of a term.
func (e *Maker) hasPart(x *Index, key []byte, prefix int, value, entry []byte) (found bool, err error) {
	whole := *x
	whole.Terms = termMaker{one: func(value []byte) []byte {
		found = found || x.hasPart(value, entry)
		return nil
	}}
	err = e.EachEntry(&whole, key, prefix, value, func([]byte) bool { return !found })
	return found, err
}

// MayHaveEntry is has for a row that may be damaged, whose entries stay.
func (e *Maker) MayHaveEntry(x *Index, key, value, entry []byte) bool {
	has, err := e.HasEntry(x, key, rows.PartitionPrefixLength(key), value, entry)
	return has || err != nil
}

// Agrees reports whether an entry agrees with the key of its row, which was read, in the columns of the key.
func (e *Maker) Agrees(x *Index, entry []byte) bool {
	if !x.Column.Kind.IsKey() {
		return true
	}
	value := e.Fields[x.Column.Index]
	if x.Terms.Gram && entry[rows.AreaSize] == PartOfTerm {
		return x.hasPart(value, entry)
	}
	found := false
	e.giveTerms(x, value, func(of []byte) bool {
		found = bytes.Equal(of, entry)
		return !found
	})
	return found
}

// Writer makes the operations that write the entries of a mutation's rows. It reads each row once for all indexes.
type Writer struct {
	maker Maker
	ops   []engine.Op
	row   []byte // the key of the current row
	buf   []byte // keys and values of entries: operations point into it until the mutation ends

	add func(entry []byte) bool // addEntry, as a value that is made once
}

// NewWriter returns a Writer, to be reused.
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
		for _, x := range indexes {
			if x.View != nil {
				continue
			}
			if err := w.maker.EachEntry(x, w.row, prefix, ops[i].Value, w.add); err != nil {
				return w.ops, err
			}
		}
	}
	return w.ops, nil
}
