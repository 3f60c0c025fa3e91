package store

import (
	"bytes"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// newKeptView returns what is kept for a view of a table, or nil if nothing is: where the key of the view's row has a
// clustering value that can be spelled in several ways, a write does not know which of them the row has.
func newKeptView(t, view *schema.Table) *keptIndex {
	k := &keptIndex{tableID: uint32(t.StoreID), table: t, view: view}
	name := []string{"", hex.EncodeToString(view.ID[:])}
	for _, c := range slices.Concat(view.PartitionKey, view.Clustering) {
		c := t.Column(c.Name)
		if !comparesByKey(c.Type) || c.Kind == schema.Clustering && c.Type.LossyKey() {
			return nil
		}
		if !c.Kind.IsKey() {
			k.column = c
		}
		k.places = append(k.places, c.Index)
		name = append(name, strconv.Itoa(int(c.ID)))
	}
	for i := range view.View.Where {
		w := &view.View.Where[i]
		other := func(name string) bool { return !slices.Contains(k.places, t.Column(name).Index) }
		if !slices.ContainsFunc(w.Columns, other) {
			k.conditions = append(k.conditions, w)
		}
	}
	k.name = strings.Join(name, "\x00")
	return k
}

// ofView gives the keys of the view's rows.
func (e *entryMaker) ofView(x *keptIndex, key []byte, prefix int, fn func(entry []byte) bool) error {
	if x.column == nil {
		if !e.alive() {
			return e.row.Err
		}
		if err := e.readKey(x.table, key, prefix); err != nil {
			return err
		}
		e.giveView(x, fn)
		return nil
	}
	read := false
	for e.row.ReadCell() {
		c := &e.row.Cell
		if c.Column != x.column.ID || e.passesOver(c) {
			continue
		}
		if !read {
			if err := e.readKey(x.table, key, prefix); err != nil {
				return err
			}
			read = true
		}
		e.fields[x.column.Index] = c.Value
		if !e.giveView(x, fn) {
			return nil
		}
	}
	return e.row.Err
}

// giveView calls fn with the key of the view's row, unless the view has none.
func (e *entryMaker) giveView(x *keptIndex, fn func(entry []byte) bool) bool {
	values := make([][]byte, 0, 8)
	inKey := len(x.view.PartitionKey)
	for i, place := range x.places {
		v := e.fields[place]
		if v == nil || inKey > 1 && i < inKey && len(v) > math.MaxUint16 {
			return true
		}
		values = append(values, v)
	}
	for _, w := range x.conditions {
		if !w.Holds(x.table, e.fields) {
			return true
		}
	}
	e.value = joinKey(e.value[:0], values[:inKey])
	e.entry = rows.AppendPartition(e.entry[:0], x.view, x.id, e.value)
	e.entry = rows.AppendClustering(append(e.entry, rows.KindRow), x.view, values[inKey:])
	return fn(e.entry)
}

// viewEntries is an engine's reader of a view's rows: it makes them one by one from the rows of the base that the
// entries of the view name.
type viewEntries struct {
	*viewRows
	src   engine.Reader
	index *keptIndex
	read  Read // of the base

	indexed *IndexRead // of who reads the view
	base    *reader    // which reads from src
}

// newViewEntries returns a reader of the rows of v.
func newViewEntries(v *viewRows, x *keptIndex, r *Read) *viewEntries {
	r.Indexed.use(v.view.Name)
	return &viewEntries{viewRows: v, index: x, indexed: r.Indexed, read: Read{Table: v.base, Now: r.Now, Turn: r.Turn}}
}

// Get calls fn with the value of key.
func (v *viewEntries) Get(key []byte, fn func(value []byte) error) (found bool, err error) {
	err = v.Scan(key, append(bytes.Clone(key), 0), engine.ScanOptions{}, func(_, value []byte) (bool, error) {
		found = true
		return false, fn(value)
	})
	return found, err
}

// Scan calls fn for the keys in a range.
func (v *viewEntries) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	if bytes.Compare(start, end) >= 0 {
		return nil
	}
	from, to := v.place(start), v.place(end)
	if n := len(end) - 1; end[n] == 0 { // the row of a key that goes on with 0 is before the end, but its entries are not
		to = v.place(rows.Successor(bytes.Clone(end[:n])))
	}
	v.from, v.to = start, end
	return v.src.Scan(from, to, engine.ScanOptions{Reverse: o.Reverse}, func(key, value []byte) (bool, error) {
		v.indexed.entry()
		n, err := entryLength(key, value)
		if err != nil {
			return false, err
		}
		switch at := key[rows.AreaSize:n]; {
		case isBefore(at, start):
			return !o.Reverse, nil
		case !isBefore(at, end):
			return o.Reverse, nil
		}
		v.rows, v.size, v.at = v.rows[:0], 0, v.at[:0]
		if err := v.base.readNamed(key[n:]); err != nil {
			return false, err
		}
		switch {
		case len(v.at) == 0 || !bytes.Equal(v.at[rows.AreaSize:], key[rows.AreaSize:n]):
			v.base.store.noteStale(v.index, key[:n], key[n:])
			return true, nil
		case len(v.rows) == 0: // the view does not want it
			return true, nil
		}
		return fn(v.rows[0].Key, v.rows[0].Value)
	})
}

// isBefore compares a key of the view's rows, behind the number, with another one.
func isBefore(at, key []byte) bool {
	area := rows.AppendArea(nil, 0, rows.AreaRows)
	if !bytes.HasPrefix(key, area) {
		return bytes.Compare(area, key) < 0
	}
	return bytes.Compare(at, key[rows.AreaSize:]) < 0
}

// place is where in the entries a key of the view's rows is.
func (v *viewEntries) place(key []byte) []byte {
	entry := bytes.Clone(key)
	if len(entry) < rows.AreaSize {
		return rows.Successor(rows.AppendArea(nil, v.index.id, rows.AreaRows))
	}
	area := rows.AppendArea(nil, 0, rows.AreaRows)
	if bytes.Equal(entry[:rows.AreaSize], area) {
		rows.SetArea(entry, v.index.id, rows.AreaRows)
		return entry
	}
	return rows.Successor(rows.AppendArea(nil, v.index.id, rows.AreaRows))
}

// readNamed reads the row whose key ends so, behind the number of the table.
func (r *reader) readNamed(rest []byte) error {
	p := &r.place
	if r.ticks++; r.ticks%64 == 0 {
		if err := r.step(); err != nil {
			return err
		}
	}
	if len(p.prefix) == 0 || !bytes.HasPrefix(rest, p.prefix[rows.AreaSize:]) {
		if err := r.enterNamed(rest); err != nil {
			return err
		}
	}
	r.row.given = nil
	p.start = append(append(p.start[:0], p.prefix...), rest[len(p.prefix)-rows.AreaSize:]...)
	_, err := r.src.Get(p.start, r.calls.onlyRow)
	return err
}

// enterNamed begins with the partition of a row that is named.
func (r *reader) enterNamed(rest []byte) error {
	r.lookup.value = append(rows.AppendArea(r.lookup.value[:0], r.id, rows.AreaRows), rest...)
	if err := r.place.enter(r.lookup.value); err != nil {
		return err
	}
	return r.beginPartition(r.place.partition)
}

// beginNamed begins to read rows that are named, from a snapshot.
func (r *reader) beginNamed(src engine.Reader) error {
	if r.store.state.Load().ids[r.read.Table.ID] != r.id {
		return errTruncated
	}
	r.tombstones.known = r.store.filters.in(r.id, r.tombstones.known)
	r.src = src
	r.place.prefix = r.place.prefix[:0]
	return nil
}

// viewEntries returns a reader of a view's rows by entries, or nil if the view does not have those of all rows.
func (s *state) viewEntries(id uint32, v *viewRows, r *Read) *viewEntries {
	for _, x := range s.indexes[id] {
		if x.view != nil && x.built && x.view.ID == v.view.ID {
			return newViewEntries(v, x, r)
		}
	}
	return nil
}
