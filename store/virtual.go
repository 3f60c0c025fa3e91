package store

import (
	"bytes"
	"errors"
	"maps"
	"sync"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// virtual is a table that exists only as code.
type virtual struct {
	fill   func(Session, *schema.Catalog) ([]*Mutation, error)
	kept   *keptRows // nil: its rows are made at each read
	writer VirtualWriter
}

// keptRows caches the rows made from a catalog, because making many rows takes longer than reading them.
type keptRows struct {
	mu      sync.Mutex
	catalog *schema.Catalog
	rows    sortedRows
}

// AddVirtual makes rows of a table that exists only as code readable. Each read calls fill, which returns the rows,
// in any order, as mutations of the table. The table is known by its ID. w receives writes to it; nil: it has none.
func (s *definer) AddVirtual(
	t *schema.Table, fill func(Session, *schema.Catalog) ([]*Mutation, error), w VirtualWriter,
) {
	s.addVirtual(t, virtual{fill: fill, writer: w})
}

// AddDefinitions is AddVirtual for a table whose rows depend only on the catalog.
func (s *definer) AddDefinitions(
	t *schema.Table, fill func(Session, *schema.Catalog) ([]*Mutation, error), w VirtualWriter,
) {
	s.addVirtual(t, virtual{fill: fill, kept: new(keptRows), writer: w})
}

// WriteVirtual applies mutations of writable tables one after the other, up to the first error, and frees them.
func (s *core) WriteVirtual(ms []*Mutation) (err error) {
	virtual := s.current().virtual
	for _, m := range ms {
		if err == nil {
			if v, ok := virtual[m.table.ID]; ok && v.receiver() != nil {
				err = m.writeTo(v.receiver())
			} else {
				err = noTable(m.table)
			}
		}
		m.release()
	}
	return err
}

func (m *Mutation) writeTo(w VirtualWriter) error {
	m.endRow()
	key := bytes.Clone(m.partition)
	for _, span := range m.spans {
		if rows.IsTombstoneKey(m.buf[span.key:span.value]) {
			if err := w.Delete(key); err != nil {
				return err
			}
			continue
		}
		var r rows.Reader
		if err := r.ReadHead(m.buf[span.value:span.end]); err != nil {
			return err
		}
		values, err := m.clusteringOf(m.buf[span.key:span.value])
		if err != nil {
			return err
		}
		for r.ReadCell() {
			for _, c := range m.table.Columns {
				if c.ID == r.Cell.Column {
					values[c.Name] = bytes.Clone(r.Cell.Value)
				}
			}
		}
		if r.Err != nil {
			return r.Err
		}
		if err := w.Write(key, values); err != nil {
			return err
		}
	}
	return nil
}

// clusteringOf are the clustering columns' values in a row's key, by name.
func (m *Mutation) clusteringOf(key []byte) (values map[string][]byte, err error) {
	values = map[string][]byte{}
	rest := key[len(m.prefix)+1:]
	for _, c := range m.table.Clustering {
		if values[c.Name], rest, err = c.Type.DecodeKey(nil, rest, c.Desc); err != nil {
			return nil, errors.Join(rows.ErrKey, err)
		}
	}
	return values, nil
}

func (s *definer) addVirtual(t *schema.Table, v virtual) {
	s.defining.Lock()
	defer s.defining.Unlock()
	next := *s.state.Load()
	next.virtual = maps.Clone(next.virtual)
	if next.virtual == nil {
		next.virtual = map[[16]byte]virtualTable{}
	}
	next.virtual[t.ID] = v
	s.state.Store(&next)
}

func (v virtual) receiver() VirtualWriter { return v.writer }

func (v virtual) read(session Session, c *schema.Catalog) (engine.Reader, error) {
	if v.kept == nil {
		return v.make(session, c)
	}
	v.kept.mu.Lock() // others wait for the same rows
	defer v.kept.mu.Unlock()
	if v.kept.catalog != c {
		sorted, err := v.make(session, c)
		if err != nil {
			return nil, err
		}
		v.kept.catalog, v.kept.rows = c, sorted
	}
	return v.kept.rows, nil
}

func (v virtual) make(session Session, c *schema.Catalog) (sortedRows, error) {
	ms, err := v.fill(session, c)
	if err != nil {
		return nil, err
	}
	var ops []engine.Op
	for _, m := range ms {
		ops = m.appendOps(ops, 0)
	}
	return unite(ops)
}
