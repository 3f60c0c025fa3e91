package store

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
// What follows the value is the key of the row, but for the number of its table. In form 0 the value is as
// types.Type.AppendKey writes it, in form 1 the SHA-256 of that. Entries of maps have the key in front of the value.
const (
	wholeValue  = 0
	hashedValue = 1

	longestWhole = 256
)

// entryValue is what all entries have as their value, because no value may be empty.
var entryValue = []byte{1}

// entryMaker makes the entries of rows. It is reused with its buffers.
type entryMaker struct {
	row       rows.Reader
	value     []byte // that is indexed, as it stands in keys
	entry     []byte
	partition []byte
	fields    [][]byte
}

// appendValue appends what the entries of a value begin with.
func (x *keptIndex) appendValue(dst, encoded []byte) []byte {
	dst = rows.AppendArea(dst, x.id, rows.AreaRows)
	if len(encoded) > longestWhole {
		sum := sha256.Sum256(encoded)
		return append(append(dst, hashedValue), sum[:]...)
	}
	return append(append(dst, wholeValue), encoded...)
}

// each calls fn with what comes in front of the row's key in each entry of a row, until it returns false. The row is as
// it is stored; prefix is the length of what all keys of its partition begin with. Values that have expired, or that a
// tombstone of a range or of the partition hides, have entries too.
func (e *entryMaker) each(x *keptIndex, key []byte, prefix int, value []byte, fn func(entry []byte) bool) error {
	if err := e.row.ReadHead(value); err != nil {
		return err
	}
	static := len(key) > prefix && key[prefix] == rows.KindStatic
	switch x.column.Kind {
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
		if c.Column != x.column.ID || c.Deleted {
			continue
		}
		if e.value = x.appendCell(e.value[:0], c); !e.give(x, fn) {
			return nil
		}
	}
	return e.row.Err
}

// give calls fn with the value at hand.
func (e *entryMaker) give(x *keptIndex, fn func(entry []byte) bool) bool {
	e.entry = x.appendValue(e.entry[:0], e.value)
	return fn(e.entry)
}

// appendCell appends what is indexed of a cell, as it stands in keys.
func (x *keptIndex) appendCell(dst []byte, c *rows.Cell) []byte {
	value := c.Value
	if c.Path == nil {
		return x.value.AppendKey(dst, value, false)
	}
	if rows.KeepsName(x.column.Type) {
		if n, size := binary.Uvarint(value); size > 0 && n <= uint64(len(value)-size) {
			value = value[size+int(n):]
		}
	}
	_, isSet := x.column.Type.(*types.Set)
	switch {
	case isSet || x.part == schema.IndexKeys:
		return append(dst, c.Path...)
	case x.part == schema.IndexEntries:
		dst = append(dst, c.Path...)
	}
	return x.value.AppendKey(dst, value, false)
}

// ofRow gives the value of a column of the key, if the row has anything but tombstones.
func (e *entryMaker) ofRow(x *keptIndex, key []byte, prefix int, fn func(entry []byte) bool) error {
	alive := e.row.Marker.Timestamp != rows.NoTimestamp
	for !alive && e.row.ReadCell() {
		alive = !e.row.Cell.Deleted
	}
	if !alive {
		return e.row.Err
	}
	value, err := e.keyValue(x, key, prefix)
	if err != nil {
		return err
	}
	e.value = x.value.AppendKey(e.value[:0], value, false)
	e.give(x, fn)
	return nil
}

// keyValue returns the value of a column of the key.
func (e *entryMaker) keyValue(x *keptIndex, key []byte, prefix int) (value []byte, err error) {
	if x.column.Kind == schema.PartitionKey {
		var partition []byte
		if partition, _, err = rows.SplitEscaped(e.partition[:0], key[rows.AreaSize+rows.TokenSize:]); err != nil {
			return nil, err
		}
		e.partition = partition
		e.fields = slices.Grow(e.fields[:0], len(x.definition.Columns))[:len(x.definition.Columns)]
		err = rows.SplitPartitionKey(e.fields, x.definition, partition)
		return e.fields[x.column.Index], err
	}
	rest := key[prefix+1:]
	for _, c := range x.definition.Clustering {
		if len(rest) == 0 {
			return nil, nil // the last column of a row in a table WITH COMPACT STORAGE
		}
		if value, rest, err = c.Type.DecodeKey(e.partition[:0], rest, c.Desc); err != nil {
			return nil, errors.Join(rows.ErrKey, err)
		}
		if c == x.column {
			break
		}
	}
	return value, nil
}

// has reports whether a row, as it is stored, has the entry that begins so.
func (e *entryMaker) has(x *keptIndex, key []byte, prefix int, value, entry []byte) (found bool, err error) {
	err = e.each(x, key, prefix, value, func(of []byte) bool {
		found = bytes.Equal(of, entry)
		return !found
	})
	return found, err
}

// appendEntries appends operations that write the entries of the rows of a mutation. ops are its operations.
func (m *Mutation) appendEntries(all, ops []engine.Op, indexes []*keptIndex) ([]engine.Op, error) {
	if m.entries == nil {
		m.entries = new(entryMaker)
	}
	for i := range ops {
		op := &ops[i]
		if rows.IsTombstoneKey(op.Key) {
			continue
		}
		for _, x := range indexes {
			err := m.entries.each(x, op.Key, len(m.prefix), op.Value, func(entry []byte) bool {
				key := slices.Concat(entry, op.Key[rows.AreaSize:])
				all = append(all, engine.Op{Kind: engine.Put, Key: key, Value: entryValue})
				return true
			})
			if err != nil {
				return all, err
			}
		}
	}
	return all, nil
}
