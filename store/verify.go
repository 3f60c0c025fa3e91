package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/rows"
)

// Fault is a stored key that is not as it must be.
type Fault struct {
	Table string // with its keyspace; "": the key is of no table
	Index string // the name of an index or a view; "": it is a row or a tombstone
	Key   string // the row, as a WHERE clause has it, or the stored key in hexadecimal
	What  string
}

// String prints the fault on one line.
func (f Fault) String() string {
	var parts []string
	for _, part := range []string{f.Table, f.Index, f.Key} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(append(parts, f.What), ": ")
}

// Verified counts the keys that Verify has looked at.
type Verified struct {
	Tables, Indexes int   // a view counts as an index
	Unbuilt         int   // indexes and views that lack rows
	Rows            int64 // static ones too
	Tombstones      int64 // of ranges and partitions
	Entries         int64 // of indexes, and rows of views
	Stale           int64 // entries of values that their rows do not have any more, and rows of views that have expired
	Faults          int64
}

// VerifyProgress is the progress of Verify.
type VerifyProgress struct {
	Name string  // of a table, or of a table and its index
	Part float64 // of its keys, from 0 to 1; tokens tell, as if rows were spread evenly
	Verified
}

// Verifier receives the findings of Verify. Neither function may be nil.
type Verifier struct {
	Fault    func(Fault)
	Progress func(VerifyProgress) // is called every few thousand keys
}

// Verify checks a snapshot of all data: every row and tombstone can be read and has the right key, every row has its
// entries in the indexes and views that are built, and every entry belongs to a row. An entry whose row does not have
// its value any more is stale, which is no fault: writes leave such entries, reads pass over them, and sweeps remove
// them. An entry that contradicts the key of its row is a fault.
func (s *Store) Verify(ctx context.Context, by Verifier) (Verified, error) {
	v := &verification{ctx: ctx, by: by, store: &s.core, clock: s.deletions.Clock()}
	err := s.view(func(src engine.Reader, now *state) error {
		v.state = now
		return v.all(src)
	})
	if err != nil {
		return v.done, fmt.Errorf("verify the data: %w", err)
	}
	return v.done, nil
}

// verification is one run of Verify.
type verification struct {
	ctx   context.Context
	by    Verifier
	store *core
	state *state
	src   engine.Reader
	clock uint64 // of deletions, before src was chosen
	done  Verified
	dead  map[uint32]bool // dropped tables whose rows are being removed
	ticks int

	maker     index.Maker
	ofRows    index.Maker // makes the entries that rows must have
	partition []byte
	row       []byte // the key of a row
	entry     []byte // the key of an entry
	views     *viewWriter
}

func (v *verification) all(src engine.Reader) error {
	v.src, v.dead = src, map[uint32]bool{}
	v.ofRows.Expired = v.store.now().Unix()
	v.views = newViewWriter(v.store, src, v.clock, map[uint32][]*index.Index{})
	defer v.views.base.release()
	end := rows.Successor(bytes.Clone(deadKey))
	err := src.Scan(deadKey, end, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
		if len(key) == len(deadKey)+4 {
			v.dead[binary.BigEndian.Uint32(key[len(deadKey):])] = true
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	tables, indexes := map[uint32]*schema.Table{}, map[uint32]*index.Index{}
	for _, k := range v.state.catalog.Keyspaces() {
		for _, t := range k.Tables {
			if id, ok := v.state.ids[t.ID]; ok {
				tables[id] = t
			}
		}
	}
	for _, all := range v.state.indexes {
		for _, x := range all {
			indexes[x.ID] = x
			v.done.Indexes++
			if !x.Built {
				v.done.Unbuilt++
			}
		}
	}
	v.done.Tables = len(tables)
	return v.tables(tables, indexes)
}

// tables goes over the keys of one table or index after the other.
func (v *verification) tables(tables map[uint32]*schema.Table, indexes map[uint32]*index.Index) error {
	for start := rows.AppendArea(nil, 1, rows.AreaTombstones); start != nil; {
		id, found, err := v.nextTable(start)
		if err != nil || !found {
			return err
		}
		end := rows.Successor(rows.AppendArea(nil, id, rows.AreaRows))
		switch t, x := tables[id], indexes[id]; {
		case t != nil:
			err = v.each(t.Keyspace+"."+t.Name, id, end, func(key, value []byte) error {
				return v.tableKey(t, v.state.indexes[id], key, value)
			})
		case x != nil && x.View != nil:
			err = v.each(x.TableName()+" "+x.Label(), id, end, func(key, value []byte) error {
				return v.rowOfView(x, key, value)
			})
		case x != nil && x.IsVector():
			err = v.each(x.TableName()+" "+x.Label(), id, end, func(key, value []byte) error {
				if rows.IsTombstoneKey(key) {
					return nil // a part of a graph
				}
				return v.entryOf(x, key, value)
			})
		case x != nil:
			err = v.each(x.TableName()+" "+x.Label(), id, end, func(key, value []byte) error {
				return v.entryOf(x, key, value)
			})
		case !v.dead[id] && !v.state.live[id]:
			v.fault(Fault{What: fmt.Sprintf("there are keys of the number %d, which is no table's", id)})
		}
		if err != nil {
			return err
		}
		start = end
	}
	return nil
}

func (v *verification) nextTable(start []byte) (id uint32, found bool, err error) {
	err = v.src.Scan(start, nil, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
		if len(key) < rows.AreaSize {
			return false, rows.ErrKey
		}
		id, found = binary.BigEndian.Uint32(key)>>1, true
		return false, nil
	})
	return id, found, err
}

// verifyStep is how many keys are looked at between two calls of Progress.
const verifyStep = 4096

func (v *verification) each(name string, id uint32, end []byte, fn func(key, value []byte) error) error {
	start := rows.AppendArea(nil, id, rows.AreaTombstones)
	return v.src.Scan(start, end, engine.ScanOptions{}, func(key, value []byte) (bool, error) {
		if v.ticks++; v.ticks%verifyStep == 0 {
			if err := errors.Join(v.ctx.Err(), v.store.closing.Err()); err != nil {
				return false, err
			}
			p := VerifyProgress{Name: name, Verified: v.done}
			if len(key) >= rows.AreaSize+2 && !rows.IsTombstoneKey(key) {
				p.Part = float64(binary.BigEndian.Uint16(key[rows.AreaSize:])) / (1 << 16)
			}
			v.by.Progress(p)
		}
		return true, fn(key, value)
	})
}

func (v *verification) fault(f Fault) {
	v.done.Faults++
	v.by.Fault(f)
}

// tableKey looks at a row or a tombstone.
func (v *verification) tableKey(t *schema.Table, indexes []*index.Index, key, value []byte) error {
	name := t.Keyspace + "." + t.Name
	prefix := rows.PartitionPrefixLength(key)
	if prefix < 0 {
		v.fault(Fault{Table: name, Key: fmt.Sprintf("%x", key), What: "the key cannot be read"})
		return nil
	}
	if !v.atItsPlace(key) {
		v.fault(Fault{Table: name, Key: fmt.Sprintf("%x", key), What: "the token is not that of the partition key"})
		return nil
	}
	if rows.IsTombstoneKey(key) {
		v.done.Tombstones++
		return nil
	}
	v.done.Rows++
	if prefix == len(key) || key[prefix] != rows.KindStatic && key[prefix] != rows.KindRow {
		v.fault(Fault{Table: name, Key: fmt.Sprintf("%x", key), What: "the key is of no kind of row"})
		return nil
	}
	if err := v.maker.ReadKey(t, key, prefix); err != nil {
		v.fault(Fault{Table: name, Key: fmt.Sprintf("%x", key), What: err.Error()})
		return nil
	}
	if err := v.cells(value); err != nil {
		v.fault(Fault{Table: name, Key: v.where(t, key), What: err.Error()})
		return nil
	}
	for _, x := range indexes {
		if !x.Built || x.IsVector() || x.View != nil {
			continue
		}
		if err := v.entriesOf(x, key, prefix, value); err != nil {
			return err
		}
	}
	if key[prefix] == rows.KindRow && hasViews(indexes) {
		return v.viewsOf(key, value)
	}
	return nil
}

// atItsPlace reports whether a key has the token of its partition.
func (v *verification) atItsPlace(key []byte) bool {
	partition, _, err := rows.SplitEscaped(v.partition[:0], key[rows.AreaSize+rows.TokenSize:])
	if err != nil {
		return false
	}
	v.partition = partition
	return rows.TokenOf(key) == types.Token(partition)
}

func (v *verification) cells(value []byte) error {
	var r rows.Reader
	if err := r.ReadHead(value); err != nil {
		return err
	}
	for r.ReadCell() {
		continue
	}
	return r.Err
}

func (v *verification) entriesOf(x *index.Index, key []byte, prefix int, value []byte) error {
	var failed error
	missing := false
	err := v.ofRows.EachEntry(x, key, prefix, value, func(entry []byte) bool {
		v.entry = append(append(v.entry[:0], entry...), key[rows.AreaSize:]...)
		sound := false
		found, err := v.src.Get(v.entry, func(value []byte) error {
			n, err := index.EntryLength(v.entry, value)
			sound = err == nil && n == len(entry)
			return nil
		})
		failed = err
		missing = missing || err == nil && (!found || !sound)
		return err == nil
	})
	if failed != nil {
		return failed
	}
	switch {
	case err != nil:
		v.fault(Fault{Table: x.TableName(), Index: x.Label(), Key: v.where(x.Table, key), What: err.Error()})
	case missing:
		v.fault(Fault{Table: x.TableName(), Index: x.Label(), Key: v.where(x.Table, key), What: "the row has no entry"})
	}
	return nil
}

func (v *verification) entryOf(x *index.Index, key, value []byte) error {
	v.done.Entries++
	bad := func(what string) error {
		v.fault(Fault{Table: x.TableName(), Index: x.Label(), Key: fmt.Sprintf("%x", key), What: what})
		return nil
	}
	n, err := index.EntryLength(key, value)
	if err != nil {
		return bad("the entry cannot be read")
	}
	if !x.MayBegin(key[:n]) {
		return bad("the entry is of a form that the index does not have")
	}
	v.row = append(rows.AppendArea(v.row[:0], x.TableID, rows.AreaRows), key[n:]...)
	prefix := rows.PartitionPrefixLength(v.row)
	if prefix < 0 || prefix == len(v.row) || !v.atItsPlace(v.row) {
		return bad("the entry names no row")
	}
	if err := v.maker.ReadKey(x.Table, v.row, prefix); err != nil {
		return bad("the entry names no row")
	}
	if !v.maker.Agrees(x, key[:n]) {
		v.fault(Fault{
			Table: x.TableName(), Index: x.Label(), Key: v.where(x.Table, v.row),
			What: "there is an entry of a key that is not the row's",
		})
		return nil
	}
	has := false
	_, err = v.src.Get(v.row, func(value []byte) error {
		has = v.maker.MayHaveEntry(x, v.row, value, key[:n])
		return nil
	})
	if !has {
		v.done.Stale++
	}
	return err
}

// where prints the key of a row as a WHERE clause has it.
func (v *verification) where(t *schema.Table, key []byte) string {
	prefix := rows.PartitionPrefixLength(key)
	var e index.Maker
	if prefix < 0 || e.ReadKey(t, key, prefix) != nil {
		return fmt.Sprintf("%x", key)
	}
	var parts []string
	for _, c := range slices.Concat(t.PartitionKey, t.Clustering) {
		if value := e.Fields[c.Index]; value != nil {
			parts = append(parts, c.Name+" = "+c.Type.Format(value))
		}
	}
	return strings.Join(parts, " AND ")
}
