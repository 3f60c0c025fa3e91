package control

import (
	"bytes"
	"maps"
	"slices"
	"sync"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/system"
)

// Keyspace is the keyspace of the tables that Register fills. The server's store is to be opened with it.
func Keyspace() *schema.Keyspace { return system.Controls() }

// table is a table of keyspace cqld_control, and what the endpoint of its name shows.
type table interface {
	// Statements write to it. Errors of package cqlerr reach the client.
	store.VirtualWriter

	// rows returns its rows, in any order.
	rows() []Row
}

// replacer is a table whose rows can be written as a whole.
type replacer interface {
	Replace(key []byte, values map[string][]byte) error
}

// Row is a row of a table: its key, and the values of the other columns that are not null.
type Row struct {
	Key    []byte
	Values map[string][]byte
}

// recorded is how many statements the table of statements has, the last ones.
const recorded = 10_000

// Tables are the tables of keyspace cqld_control for one server.
type Tables struct {
	controls *Controls
	byName   map[string]*Table
}

// Names returns the names of the tables.
func (t *Tables) Names() []string { return slices.Sorted(maps.Keys(t.byName)) }

// Table returns a table by its name.
func (t *Tables) Table(name string) *Table { return t.byName[name] }

// Register gives the server's store the tables of keyspace cqld_control, and has statements recorded.
func (c *Controls) Register() *Tables {
	t := &Tables{controls: c, byName: map[string]*Table{}}
	for name, of := range map[string]table{
		"clock":      clockTable{c.Clock},
		"faults":     &faultTable{faults: &c.Faults, named: map[string]*namedFault{}},
		"nodes":      nodeTable{c.server},
		"snapshots":  &snapshotTable{controls: c, named: map[string]*namedSnapshot{}},
		"statements": statementTable{&c.Record},
	} {
		o := &Table{table: of, Schema: Keyspace().Tables[name]}
		t.byName[name] = o
		c.store.AddVirtual(o.Schema, func(store.Session, *schema.Catalog) ([]*store.Mutation, error) {
			return mutations(o.Schema, o.rows()), nil
		}, o)
	}
	c.Record.Start(recorded)
	return t
}

// mutations are the rows of a table as the store reads them.
func mutations(t *schema.Table, rows []Row) []*store.Mutation {
	const timestamp = 1
	all := make([]*store.Mutation, len(rows))
	for i, r := range rows {
		m := store.NewMutation(t, r.Key)
		m.Row(nil)
		m.Mark(timestamp, store.Expiry{})
		for name, value := range r.Values {
			if value != nil {
				m.Set(t.Column(name), value, timestamp, store.Expiry{})
			}
		}
		all[i] = m
	}
	return all
}

// Table is a table of keyspace cqld_control, which serves one client at a time.
type Table struct {
	Schema *schema.Table

	table table
	mu    sync.Mutex
}

func (o *Table) rows() []Row {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.table.rows()
}

// Rows returns the rows in the order of their keys.
func (o *Table) Rows() []Row {
	all := o.rows()
	slices.SortFunc(all, func(a, b Row) int { return bytes.Compare(a.Key, b.Key) })
	return all
}

// Row returns the row of a key; false: there is none.
func (o *Table) Row(key []byte) (Row, bool) {
	return find(o.rows(), key)
}

// find returns the row of a key; false: there is none.
func find(rows []Row, key []byte) (Row, bool) {
	at := slices.IndexFunc(rows, func(r Row) bool { return bytes.Equal(r.Key, key) })
	if at < 0 {
		return Row{}, false
	}
	return rows[at], true
}

// Replace is Write for a row that has no other columns then.
func (o *Table) Replace(key []byte, values map[string][]byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if t, ok := o.table.(replacer); ok {
		return t.Replace(key, values)
	}
	return o.table.Write(key, values)
}

// Write implements store.VirtualWriter.
func (o *Table) Write(key []byte, values map[string][]byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.table.Write(key, values)
}

// Delete implements store.VirtualWriter.
func (o *Table) Delete(key []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.table.Delete(key)
}

// Truncate implements store.VirtualWriter.
func (o *Table) Truncate() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.table.Truncate()
}

// readOnly refuses to write to columns other than some.
func readOnly(values map[string][]byte, writable ...string) error {
next:
	for name := range values {
		for _, w := range writable {
			if name == w {
				continue next
			}
		}
		return cqlerr.Invalidf("Column %s cannot be written", name)
	}
	return nil
}

// errCannot is the refusal of a statement that a table has no use for.
func errCannot(format string, args ...any) error { return cqlerr.Invalidf(format, args...) }

// textKey is a key of a table whose key is a text.
func textKey(name string) []byte { return types.EncodeText(name) }
