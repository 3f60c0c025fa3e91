package store

import (
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/rows"
	"github.com/cqld/cqld/store/tombstones"
	"github.com/cqld/cqld/store/usage"
)

// Mutation is the change that one write makes to one partition. It is built and applied once: Apply takes it over.
// Values given to it must stay unchanged until the next call of Row, Static or Apply.
//
// Keys and values are written into one buffer as the mutation is built. Apply cuts them into operations of the engine.
type Mutation struct {
	table     *schema.Table
	partition []byte // the serialized partition key
	prefix    []byte // of the partition's keys
	buf       []byte // keys and values, one after the other
	spans     []span
	ops       []engine.Op

	// The row that is being built.
	open     bool
	key      int // where its key begins in buf
	head     rows.Head
	cells    []rows.Cell
	paths    []byte // memory of its cells' paths
	lossy    []byte
	sorted   bool
	elements bool         // some of its cells are elements of collections
	size     int          // a lower bound of its bytes, unless some cells are in the same place
	united   int          // size when cells were last united
	counts   bool         // it changes counters
	parts    bool         // some of its cells are elements of collections or fields of user types
	adds     bool         // it writes something besides tombstones
	moved    bool         // its keys have another number than the table's
	second   int64        // in which its tombstones are written; 0: not known
	due      int64        // the second from which something may be purged; math.MaxInt64: never
	usage    *usage.Table // of the table, while it is being committed
	period   int          // of usage, in which it began
	state    *state       // under which it is being committed
	id       uint32       // of the table, in this state

	deleting tombstones.Deletion
	entries  *index.Writer // of indexes; nil: no table that this mutation was for had any

	apply applying // of the first mutation of an Apply
}

// span is one operation in the buffer. Its value ends where the next key begins.
type span struct{ key, value, end int }

// mutations are kept for reuse with their buffers.
var mutations = sync.Pool{New: func() any { return new(Mutation) }}

// maxKeptBuffer is the largest buffer worth keeping, and maxKeptCells the most cells.
const (
	maxKeptBuffer = 64 << 10
	maxKeptCells  = 1 << 10
)

// NewMutation starts a mutation of the partition with a serialized key.
func NewMutation(t *schema.Table, partition []byte) *Mutation {
	m := mutations.Get().(*Mutation)
	if m.apply.finished == nil {
		m.apply.finished = m.finish
	}
	m.table, m.partition, m.second, m.due = t, partition, 0, math.MaxInt64
	m.prefix = rows.AppendPartition(m.prefix[:0], t, uint32(t.StoreID), partition)
	return m
}

// Partition returns the table and the serialized key of the partition.
func (m *Mutation) Partition() (*schema.Table, []byte) { return m.table, m.partition }

// At sets the second, since 1970, in which tombstones from here on are written. gc_grace_seconds later they may be
// purged.
func (m *Mutation) At(second int64) { m.second = second }

func (m *Mutation) release() {
	if cap(m.buf) > maxKeptBuffer {
		m.buf = nil
	}
	m.dropCells()
	clear(m.ops)
	m.table, m.partition, m.usage = nil, nil, nil
	m.open, m.counts, m.parts, m.adds, m.moved = false, false, false, false, false
	m.deleting = tombstones.Deletion{}
	if m.entries != nil {
		m.entries.Release()
	}
	m.buf, m.spans, m.ops = m.buf[:0], m.spans[:0], m.ops[:0]
	mutations.Put(m)
}

func (m *Mutation) dropCells() {
	m.size, m.united = 0, 0
	if cap(m.cells) > maxKeptCells {
		m.cells = nil
	}
	if cap(m.paths) > maxKeptBuffer {
		m.paths = nil
	}
	clear(m.cells)
	m.cells, m.paths = m.cells[:0], m.paths[:0]
}

// Row starts a row: cells that are set belong to it until the next Row or Static. clustering has a value for every
// clustering column.
func (m *Mutation) Row(clustering [][]byte) {
	m.beginRow(rows.KindRow)
	m.buf = rows.AppendClustering(m.buf, m.table, clustering)
	m.lossy = m.lossy[:0]
	for i, c := range m.table.Clustering {
		if c.Type.LossyKey() {
			m.lossy = binary.AppendUvarint(m.lossy, uint64(len(clustering[i])))
			m.lossy = append(m.lossy, clustering[i]...)
		}
	}
	if len(m.lossy) > 0 {
		m.head.Clustering = m.lossy
	}
}

// Static starts the static row.
func (m *Mutation) Static() { m.beginRow(rows.KindStatic) }

func (m *Mutation) beginRow(kind byte) {
	m.endRow()
	m.open, m.sorted, m.elements, m.head = true, true, false, rows.NoHead
	m.key = len(m.buf)
	m.buf = append(append(m.buf, m.prefix...), kind)
}

// Mark writes the row's marker: the row exists even without cells. A zero expiry is none.
func (m *Mutation) Mark(ts int64, e Expiry) {
	m.ends(e)
	m.adds = true
	if n := (rows.Marker{Timestamp: ts, Expiry: e}); n.Beats(&m.head.Marker) {
		m.head.Marker = n
	}
}

// Set writes a cell; a nil value deletes it.
func (m *Mutation) Set(c *schema.Column, value []byte, ts int64, e Expiry) {
	if value == nil {
		e = Expiry{At: m.second}
	}
	m.cells = append(m.cells, rows.Cell{Column: c.ID, Deleted: value == nil, Timestamp: ts, Expiry: e, Value: value})
	m.added()
}

func (m *Mutation) addCell(c rows.Cell) {
	m.cells = append(m.cells, c)
	m.added()
}

func (m *Mutation) added() {
	n := len(m.cells) - 1
	c := &m.cells[n]
	m.size += c.MinSize()
	if c.Deleted {
		m.dies(c.Expiry.At)
	} else {
		m.adds = true
		m.ends(c.Expiry)
	}
	if c.Path != nil {
		m.elements, m.parts = true, true
	}
	if n > 0 && m.cells[n-1].Column >= c.Column && m.cells[n-1].Compare(c) >= 0 {
		m.sorted = false
	}
}

// dies notes that the mutation has a tombstone written in that second.
func (m *Mutation) dies(second int64) {
	if second != 0 {
		m.due = min(m.due, second+int64(m.table.Options.GCGraceSeconds)+1)
	}
}

// ends notes that something of the mutation expires.
func (m *Mutation) ends(e Expiry) {
	if e.At != 0 {
		m.due = min(m.due, e.At)
	}
}

// endRow encodes the row that is being built, if it has anything.
func (m *Mutation) endRow() {
	if !m.open {
		return
	}
	m.open = false
	m.normalize()
	if len(m.cells) == 0 && m.head.Marker.Timestamp == rows.NoTimestamp && m.head.Deletion.Timestamp == rows.NoTimestamp {
		m.buf = m.buf[:m.key]
		m.dropCells()
		return
	}
	if m.size > maxKeptBuffer {
		m.buf = slices.Grow(m.buf, m.size+m.size/16)
	}
	s := span{key: m.key, value: len(m.buf)}
	w := rows.Writer{Head: m.head, Dst: m.buf}
	for i := range m.cells {
		w.WriteCell(&m.cells[i])
	}
	m.buf = w.Finish()
	s.end = len(m.buf)
	m.spans = append(m.spans, s)
	m.dropCells()
}

// normalize sorts the cells, merges cells in the same place, and removes cells that tombstones hide.
func (m *Mutation) normalize() {
	if !m.sorted {
		slices.SortFunc(m.cells, func(a, b rows.Cell) int {
			if o := a.Compare(&b); o != 0 {
				return o
			}
			if a.Beats(&b) {
				return -1
			}
			return 1
		})
		m.unite()
	}
	if m.elements {
		m.cells = rows.DropHidden(m.cells)
	}
	if m.head.Deletion.Timestamp != rows.NoTimestamp {
		m.cells = slices.DeleteFunc(m.cells, func(c rows.Cell) bool {
			return c.Timestamp <= m.head.Deletion.Timestamp && !c.Counter
		})
		if m.head.Marker.Timestamp <= m.head.Deletion.Timestamp {
			m.head.Marker = rows.NoHead.Marker
		}
	}
}

func (m *Mutation) unite() {
	kept := m.cells[:0]
	for _, c := range m.cells {
		if n := len(kept); n > 0 && kept[n-1].Compare(&c) == 0 {
			kept[n-1] = kept[n-1].Unite(&c)
			continue
		}
		kept = append(kept, c)
	}
	m.cells = kept
}

func (m *Mutation) appendOps(ops []engine.Op, id uint32) []engine.Op {
	m.endRow()
	for _, s := range m.spans {
		key, value := m.buf[s.key:s.value:s.value], m.buf[s.value:s.end:s.end]
		if uint32(m.table.StoreID) != id || m.moved {
			m.moved = true
			rows.SetArea(key, id, uint32(key[rows.AreaSize-1]&1))
		}
		ops = append(ops, engine.Op{Kind: engine.Merge, Key: key, Value: value})
	}
	return ops
}

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
	m.addCell(rows.Cell{Column: c.ID, Path: path, Deleted: value == nil, Timestamp: ts, Expiry: e, Value: value})
}

// Clear deletes all elements of a column that were written at ts or before.
func (m *Mutation) Clear(c *schema.Column, ts int64) {
	m.addCell(rows.Cell{Column: c.ID, Deleted: true, Timestamp: ts, Expiry: Expiry{At: m.second}})
}

// DeletePartition deletes everything in the partition that was written at ts or before.
func (m *Mutation) DeletePartition(ts int64) {
	m.endRow()
	m.deletion(nil, ts)
}

// DeleteRange deletes the rows of a slice that were written at ts or before.
func (m *Mutation) DeleteRange(s Slice, ts int64) {
	m.endRow()
	start := rows.AppendStart(nil, m.table, s.Start, s.StartInclusive)
	end := rows.AppendEnd(nil, m.table, s.End, s.EndInclusive)
	if string(start) < string(end) {
		m.deletion(append(rows.AppendEscaped(nil, start), end...), ts)
	}
}

// deletion writes a tombstone of the partition, or of a range if there are bounds.
func (m *Mutation) deletion(bounds []byte, ts int64) {
	m.dies(m.second)
	s := span{key: len(m.buf)}
	m.buf = append(append(m.buf, m.prefix...), bounds...)
	rows.SetArea(m.buf[s.key:], uint32(m.table.StoreID), rows.AreaTombstones)
	s.value = len(m.buf)
	m.buf = rows.Tombstone{Timestamp: ts, Second: m.second}.Append(m.buf)
	s.end = len(m.buf)
	m.spans = append(m.spans, s)
}

// DeleteRow deletes the row as it was at ts.
func (m *Mutation) DeleteRow(ts int64) {
	m.dies(m.second)
	m.head.Deletion = m.head.Deletion.Later(rows.Tombstone{Timestamp: ts, Second: m.second})
}

// deletes reports which kinds of tombstones of its partition the mutation has.
func (m *Mutation) deletes() (kinds [tombstones.Kinds]bool) {
	m.endRow()
	for _, s := range m.spans {
		if key := m.buf[s.key:s.value]; rows.IsTombstoneKey(key) {
			kinds[tombstones.KindOf(key, len(m.prefix))] = true
		}
	}
	return kinds
}

// applying is the state of an Apply until its commit is done. It is part of the first mutation.
type applying struct {
	store    *core
	group    []*Mutation
	done     func(error)
	bound    int64       // of timestamps, which the commit moves; 0: it does not
	finished func(error) // calls done
}

// anyViewsOf reports whether a table of some mutations has views.
func (s *state) anyViewsOf(ms []*Mutation) bool {
	return s.anyViews && slices.ContainsFunc(ms, func(m *Mutation) bool { return s.hasViews(m.table) })
}

func appendGuard(dst []byte, t *schema.Table, partition []byte) []byte {
	return append(append(dst, t.ID[:]...), partition...)
}
