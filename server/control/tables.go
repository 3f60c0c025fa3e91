package control

import (
	"bytes"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/system"
)

// Keyspace is the keyspace of the tables that Register fills. The server's store has to be opened with it.
func Keyspace() *schema.Keyspace { return system.Controls() }

// table is a table of keyspace cqld_control, and the resource of the endpoint with its name.
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

// errCannot refuses a statement that a table does not support.
func errCannot(format string, args ...any) error { return cqlerr.Invalidf(format, args...) }

// textKey is a key of a table whose key is a text.
func textKey(name string) []byte { return types.EncodeText(name) }

// values are the bytes of columns by their names; nil is null.
type values map[string][]byte

// text returns a text, or "".
func (v values) text(name string) string { return string(v[name]) }

// int returns a number, with a default. It refuses numbers below 0.
func (v values) int(name string, otherwise int) (int, error) {
	if v[name] == nil {
		return otherwise, nil
	}
	n := int(types.DecodeInt(v[name]))
	if n < 0 {
		return 0, cqlerr.Invalidf("%s is %d, and cannot be negative", name, n)
	}
	return n, nil
}

// bool returns a boolean, or false.
func (v values) bool(name string) bool { return types.DecodeBoolean(v[name]) }

// duration returns a duration, or 0. A day has 24 hours; months have no length.
func (v values) duration(name string) (time.Duration, error) {
	if v[name] == nil {
		return 0, nil
	}
	months, days, nanos := types.DecodeDuration(v[name])
	if months != 0 {
		return 0, cqlerr.Invalidf("%s has months, which are not equally long", name)
	}
	const most = int64(100 * 365 * 24 * time.Hour)
	if hours := days * 24; days > most/int64(24*time.Hour) || -days > most/int64(24*time.Hour) || nanos > most || -nanos > most {
		return 0, cqlerr.Invalidf("%s is longer than a hundred years", name)
	} else if d := time.Duration(hours)*time.Hour + time.Duration(nanos); d.Abs() <= time.Duration(most) {
		return d, nil
	}
	return 0, cqlerr.Invalidf("%s is longer than a hundred years", name)
}

// setDuration sets a duration that is null when zero.
func (v values) setDuration(name string, d time.Duration) {
	if d != 0 {
		v[name] = types.EncodeDuration(0, 0, int64(d))
	}
}

// setText sets a text that is null when empty.
func (v values) setText(name, text string) {
	if text != "" {
		v[name] = types.EncodeText(text)
	}
}

// setInt sets a number.
func (v values) setInt(name string, n int) { v[name] = types.EncodeInt(int32(n)) }

// setBool sets a boolean.
func (v values) setBool(name string, yes bool) { v[name] = types.EncodeBoolean(yes) }
