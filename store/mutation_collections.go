package store

import (
	"encoding/binary"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/rows"
)

// SetPart writes one element of a collection, or one field of a user type, that is not frozen. A nil value deletes
// it. name is the element of a set, whose value is empty; the key of a map; the place in a list (see AppendPlace);
// the position of a field (see AppendField).
func (m *Mutation) SetPart(c *schema.Column, name, value []byte, ts int64, e Expiry) {
	at := len(m.paths)
	m.paths = rows.AppendPath(m.paths, c.Type, name)
	path := m.paths[at:len(m.paths):len(m.paths)]
	if value != nil && rows.KeepsName(c.Type) {
		at := len(m.paths)
		m.paths = append(binary.AppendUvarint(m.paths, uint64(len(name))), name...)
		m.paths = append(m.paths, value...)
		value = m.paths[at:len(m.paths):len(m.paths)]
	}
	if value == nil {
		e = Expiry{At: m.second}
	}
	m.add(rows.Cell{Column: c.ID, Path: path, Deleted: value == nil, Timestamp: ts, Expiry: e, Value: value})
}

// Clear deletes all elements of a column that were written at ts or before.
func (m *Mutation) Clear(c *schema.Column, ts int64) {
	m.add(rows.Cell{Column: c.ID, Deleted: true, Timestamp: ts, Expiry: Expiry{At: m.second}})
}
