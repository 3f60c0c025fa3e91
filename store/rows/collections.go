package rows

import (
	"encoding/binary"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// AppendField appends the path of a user type's field.
func AppendField(dst []byte, position int) []byte {
	return binary.BigEndian.AppendUint16(dst, uint16(position))
}

// AppendPath appends the path of an element's cell. The bytes of paths compare as the elements do.
func AppendPath(dst []byte, t types.Type, name []byte) []byte {
	switch t := t.(type) {
	case *types.Set:
		return t.Elem.AppendKey(dst, name, false)
	case *types.Map:
		return t.Key.AppendKey(dst, name, false)
	}
	return append(dst, name...)
}

// KeepsName reports whether a cell's value begins with the element's name. It does for elements of sets and keys of
// maps that cannot be decoded from the path.
func KeepsName(t types.Type) bool {
	switch t := t.(type) {
	case *types.Set:
		return t.Elem.LossyKey()
	case *types.Map:
		return t.Key.LossyKey()
	}
	return false
}

// CellMeta is the metadata of a cell that WRITETIME and TTL return.
type CellMeta struct {
	Timestamp int64 // microseconds
	TTL       int32 // seconds as written; 0: none
	ExpiresAt int64 // seconds since 1970; 0: never

	// Parts are the elements of a collection that is not frozen, or the fields of such a user type. Timestamp is
	// their latest.
	Parts []PartMeta
}

// PartMeta is CellMeta of one element or field.
type PartMeta struct {
	Name      []byte // the element as Mutation.SetPart names it; nil: a field without a value
	Timestamp int64
	TTL       int32
	ExpiresAt int64
}

// maxKeptBuffer is the largest buffer worth keeping.
const maxKeptBuffer = 64 << 10

// CollectionBuilder assembles the value of a collection or a user type from its cells. It is reused for one column
// after the other; Reset frees their memory.
type CollectionBuilder struct {
	Column   *schema.Column // nil: no value is begun
	start    int            // where its value begins in memory
	count    int
	memory   []byte
	Meta     CellMeta
	WithMeta bool // fill Meta
}

// Reset frees the memory of the values that were built, which are not used any more.
func (a *CollectionBuilder) Reset() { a.memory = a.memory[:0] }

// Release drops everything except a buffer of usual size.
func (a *CollectionBuilder) Release() {
	memory := a.memory[:0]
	if cap(memory) > maxKeptBuffer {
		memory = nil
	}
	*a = CollectionBuilder{memory: memory}
}

// Begin starts the value of a column.
func (a *CollectionBuilder) Begin(c *schema.Column) {
	a.Column, a.start, a.count, a.Meta = c, len(a.memory), 0, CellMeta{Timestamp: NoTimestamp}
	if _, ok := c.Type.(*types.UserType); !ok {
		a.memory = append(a.memory, 0, 0, 0, 0)
	}
}

// Add adds the next cell of the column.
func (a *CollectionBuilder) Add(c *Cell) (err error) {
	name, value := c.Path, c.Value
	if KeepsName(a.Column.Type) {
		n, size := binary.Uvarint(value)
		if size <= 0 || n > uint64(len(value)-size) {
			return ErrRow
		}
		name, value = value[size:size+int(n)], value[size+int(n):]
	}
	switch t := a.Column.Type.(type) {
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
	if a.WithMeta {
		a.addMeta(c)
	}
	return err
}

// addName appends the element of a set or the key of a map.
func (a *CollectionBuilder) addName(t types.Type, name []byte) error {
	if t.LossyKey() {
		a.memory = types.AppendElement(a.memory, name)
		return nil
	}
	at := len(a.memory)
	memory, _, err := t.DecodeKey(append(a.memory, 0, 0, 0, 0), name, false)
	if err != nil {
		return ErrRow
	}
	a.memory = memory
	binary.BigEndian.PutUint32(a.memory[at:], uint32(len(a.memory)-at-4))
	return nil
}

// addField appends a field, after nulls for the fields before it that have no value.
func (a *CollectionBuilder) addField(t *types.UserType, c *Cell) error {
	if len(c.Path) != 2 {
		return ErrRow
	}
	position := int(binary.BigEndian.Uint16(c.Path))
	if position >= len(t.Fields) {
		return ErrRow
	}
	a.skipFields(position)
	a.memory = types.AppendElement(a.memory, c.Value)
	return nil
}

// skipFields appends nulls up to a field.
func (a *CollectionBuilder) skipFields(position int) {
	for ; a.count < position; a.count++ {
		a.memory = types.AppendElement(a.memory, nil)
		if a.WithMeta {
			a.Meta.Parts = append(a.Meta.Parts, PartMeta{})
		}
	}
}

// addMeta adds the metadata of a cell.
func (a *CollectionBuilder) addMeta(c *Cell) {
	a.Meta.Timestamp = max(a.Meta.Timestamp, c.Timestamp)
	a.Meta.Parts = append(a.Meta.Parts, PartMeta{
		Name: c.Path, Timestamp: c.Timestamp, TTL: c.Expiry.TTL, ExpiresAt: c.Expiry.At,
	})
}

// Value ends the column and returns its value.
func (a *CollectionBuilder) Value() []byte {
	if t, ok := a.Column.Type.(*types.UserType); ok {
		a.skipFields(len(t.Fields))
	} else {
		binary.BigEndian.PutUint32(a.memory[a.start:], uint32(a.count))
	}
	a.Column = nil
	return a.memory[a.start:len(a.memory):len(a.memory)]
}

// AppendPlace appends the path of a list's element. Elements are ordered by at, then by id. at is the time of an
// append, and minus the time of a prepend, which comes in front of all elements that were there.
func AppendPlace(dst []byte, at int64, id uint64) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(at)^1<<63)
	return binary.BigEndian.AppendUint64(dst, id)
}
