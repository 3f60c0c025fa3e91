package store

import (
	"encoding/binary"
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// SetPart writes one part of a column that is not frozen; a nil value deletes it. What names the part depends on the
// column: the element of a set, whose value is empty; the key of a map; the place of an element in a list, see
// AppendPlace; the position of a user type's field, see AppendField.
func (m *Mutation) SetPart(c *schema.Column, name, value []byte, ts int64, e Expiry) {
	at := len(m.paths)
	m.paths = appendPath(m.paths, c.Type, name)
	path := m.paths[at:len(m.paths):len(m.paths)]
	if value != nil && keepsName(c.Type) {
		at := len(m.paths)
		m.paths = append(binary.AppendUvarint(m.paths, uint64(len(name))), name...)
		m.paths = append(m.paths, value...)
		value = m.paths[at:len(m.paths):len(m.paths)]
	}
	if value == nil {
		e = Expiry{At: m.second}
	}
	m.add(cell{column: c.ID, path: path, deleted: value == nil, ts: ts, expiry: e, value: value})
}

// Clear deletes all parts of a column that is not frozen that were written at ts or before.
func (m *Mutation) Clear(c *schema.Column, ts int64) {
	m.add(cell{column: c.ID, deleted: true, ts: ts, expiry: Expiry{At: m.second}})
}

// AppendPlace appends the name of an element's place in a list. Elements come in the order of at, then of id.
func AppendPlace(dst []byte, at int64, id uint64) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(at)^1<<63)
	return binary.BigEndian.AppendUint64(dst, id)
}

// AppendField appends the name of a user type's field.
func AppendField(dst []byte, position int) []byte {
	return binary.BigEndian.AppendUint16(dst, uint16(position))
}

// appendPath appends the path that cells of a part have, whose bytes compare as the parts are ordered.
func appendPath(dst []byte, t types.Type, name []byte) []byte {
	switch t := t.(type) {
	case *types.Set:
		return t.Elem.AppendKey(dst, name, false)
	case *types.Map:
		return t.Key.AppendKey(dst, name, false)
	}
	return append(dst, name...)
}

// keepsName reports whether cells have the name of their part in front of their value: that of a set's element or a
// map's key whose path does not give it back.
func keepsName(t types.Type) bool {
	switch t := t.(type) {
	case *types.Set:
		return t.Elem.LossyKey()
	case *types.Map:
		return t.Key.LossyKey()
	}
	return false
}

// hiding follows the cells of a row in their order, and tells which of them the deletion of a whole column hides.
type hiding struct {
	column uint32
	ts     int64
}

// hides reports whether c is hidden by what came before it.
func (h *hiding) hides(c *cell) bool {
	if c.path == nil {
		if h.column, h.ts = c.column, noTime; c.deleted {
			h.ts = c.ts
		}
		return false
	}
	return c.column == h.column && c.ts <= h.ts
}

// dropHidden takes out the cells that the deletion of a whole column hides.
func dropHidden(cells []cell) []cell {
	var h hiding
	return slices.DeleteFunc(cells, func(c cell) bool { return h.hides(&c) })
}

// assembly puts the values of columns together of their parts.
type assembly struct {
	column *schema.Column // nil: none is begun
	start  int            // where its value begins in memory
	count  int
	memory []byte
	meta   CellMeta
	metas  bool // meta is wanted
}

// release forgets all but a memory of usual size.
func (a *assembly) release() {
	memory := a.memory[:0]
	if cap(memory) > maxKeptBuffer {
		memory = nil
	}
	*a = assembly{memory: memory}
}

// begin starts the value of a column.
func (a *assembly) begin(c *schema.Column) {
	a.column, a.start, a.count, a.meta = c, len(a.memory), 0, CellMeta{Timestamp: noTime}
	if _, ok := c.Type.(*types.UserType); !ok {
		a.memory = append(a.memory, 0, 0, 0, 0)
	}
}

// add appends a part.
func (a *assembly) add(c *cell) (err error) {
	name, value := c.path, c.value
	if keepsName(a.column.Type) {
		n, size := binary.Uvarint(value)
		if size <= 0 || n > uint64(len(value)-size) {
			return errRow
		}
		name, value = value[size:size+int(n)], value[size+int(n):]
	}
	switch t := a.column.Type.(type) {
	case *types.Set:
		err = a.addName(t.Elem, name)
	case *types.Map:
		if err = a.addName(t.Key, name); err == nil {
			a.memory = types.AppendElement(a.memory, value)
		}
	case *types.UserType:
		err = a.addField(t, c)
	default:
		a.memory = types.AppendElement(a.memory, value)
	}
	a.count++
	if a.metas {
		a.addMeta(c)
	}
	return err
}

// addName appends the element or key of a part.
func (a *assembly) addName(t types.Type, name []byte) error {
	if t.LossyKey() {
		a.memory = types.AppendElement(a.memory, name)
		return nil
	}
	at := len(a.memory)
	memory, _, err := t.DecodeKey(append(a.memory, 0, 0, 0, 0), name, false)
	if err != nil {
		return errRow
	}
	a.memory = memory
	binary.BigEndian.PutUint32(a.memory[at:], uint32(len(a.memory)-at-4))
	return nil
}

// addField appends a field behind those before it that have no value.
func (a *assembly) addField(t *types.UserType, c *cell) error {
	if len(c.path) != 2 {
		return errRow
	}
	position := int(binary.BigEndian.Uint16(c.path))
	if position >= len(t.Fields) {
		return errRow
	}
	a.skipFields(position)
	a.memory = types.AppendElement(a.memory, c.value)
	return nil
}

// skipFields appends nulls up to a field.
func (a *assembly) skipFields(position int) {
	for ; a.count < position; a.count++ {
		a.memory = types.AppendElement(a.memory, nil)
		if a.metas {
			a.meta.Parts = append(a.meta.Parts, PartMeta{})
		}
	}
}

// addMeta notes what WRITETIME and TTL tell of the part.
func (a *assembly) addMeta(c *cell) {
	a.meta.Timestamp = max(a.meta.Timestamp, c.ts)
	a.meta.Parts = append(a.meta.Parts, PartMeta{
		Name: c.path, Timestamp: c.ts, TTL: c.expiry.TTL, ExpiresAt: c.expiry.At,
	})
}

// end returns the value.
func (a *assembly) end() []byte {
	if t, ok := a.column.Type.(*types.UserType); ok {
		a.skipFields(len(t.Fields))
	} else {
		binary.BigEndian.PutUint32(a.memory[a.start:], uint32(a.count))
	}
	a.column = nil
	return a.memory[a.start:len(a.memory):len(a.memory)]
}
