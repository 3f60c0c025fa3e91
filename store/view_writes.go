package store

import (
	"bytes"
	"context"
	"math"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/rows"
)

// HasViews reports whether a table has views, for which writes to it read rows and wait for each other.
func (s *core) HasViews(t *schema.Table) bool { return s.state.Load().hasViews(t) }

// hasViews reports whether the table of a mutation has views in the state that it is written under.
func (m *Mutation) hasViews() bool { return m.state.anyViews && hasViews(m.state.indexes[m.id]) }

// maxViewRows is how many rows of tables with views one write may change.
const maxViewRows = 1 << 16

// viewWriter finds the changes in views that follow from changes in their bases.
type viewWriter struct {
	store   *core
	src     engine.Reader
	clock   uint64 // of deletions, before src was chosen
	now     int64
	views   map[uint32][]*index.Index // of the tables that have some, by the tables' numbers
	changes []viewChange              // in the order of their keys
	ranges  bool                      // partitions or ranges are deleted
	ops     []engine.Op               // that write the views

	base  *reader
	read  Read
	id    uint32 // of the table that base reads; 0: none
	value []byte // of the current row
	made  []viewRow
}

// viewChange is a row of a base that changes.
type viewChange struct {
	key, delta []byte    // delta is nil if the row changes only by being deleted with others
	before     []viewRow // the rows that the views have for it
}

// viewRow is a row of a view, as it is stored.
type viewRow struct {
	key, value []byte // nil: there is none
	due        int64  // the second from which something of it may be purged
}

func newViewWriter(s *core, src engine.Reader, clock uint64, views map[uint32][]*index.Index) *viewWriter {
	return &viewWriter{store: s, src: src, clock: clock, now: s.now().Unix(), views: views, base: readers.Get().(*reader)}
}

// stageWithViews gives the operations of mutations, and the changes of views, to a transaction. It reads before the
// first write where possible, because reading one's own writes costs more.
func (s *writer) stageWithViews(txn engine.Txn, ms []*Mutation, ops []engine.Op, clock uint64) error {
	w := newViewWriter(s.core, txn, clock, map[uint32][]*index.Index{})
	defer func() { w.base.release() }()
	for _, m := range ms {
		if w.views[m.id] == nil {
			w.views[m.id] = viewsAmong(m.state.indexes[m.id])
		}
	}
	if err := w.find(ops); err != nil {
		return err
	}
	if err := w.lookBefore(); err != nil {
		return err
	}
	for i := range ops {
		ops[i].WriteTo(txn)
	}
	if w.ranges {
		w.id = 0 // so that the new tombstones are read
		for i := range w.changes {
			if err := w.follow(&w.changes[i]); err != nil {
				return err
			}
		}
	}
	w.writeViews(txn)
	return nil
}

func (w *viewWriter) writeViews(txn engine.Txn) {
	for i := range w.ops {
		if w.ops[i].Kind == engine.Put {
			w.store.deletions.Fill(w.ops[i].Key)
		}
		w.ops[i].WriteTo(txn)
	}
}

// lookBefore finds the rows of views before the write, and after it if they follow from single rows.
func (w *viewWriter) lookBefore() error {
	for i := range w.changes {
		c := &w.changes[i]
		if err := w.load(c.key); err != nil {
			return err
		}
		if err := w.make(c.key, w.value); err != nil {
			return err
		}
		if c.before = slices.Clone(w.made); w.ranges {
			continue
		}
		value := c.delta
		if len(w.value) > 0 {
			var err error
			if value, err = rows.Fold(nil, c.key, w.value, c.delta); err != nil {
				return err
			}
		}
		if err := w.make(c.key, value); err != nil {
			return err
		}
		if err := w.replace(c); err != nil {
			return err
		}
	}
	return nil
}

func (w *viewWriter) find(ops []engine.Op) error {
	for i := range ops {
		op := &ops[i]
		switch prefix := rows.PartitionPrefixLength(op.Key); {
		case len(w.views[numberOf(op.Key)]) == 0:
		case rows.IsTombstoneKey(op.Key):
			w.ranges = true
			if err := w.findRange(op.Key); err != nil {
				return err
			}
		case op.Key[prefix] == rows.KindRow:
			w.changes = append(w.changes, viewChange{key: op.Key, delta: op.Value})
		}
	}
	slices.SortStableFunc(w.changes, func(a, b viewChange) int { return bytes.Compare(a.key, b.key) })
	united := w.changes[:0]
	for _, c := range w.changes {
		n := len(united)
		if n == 0 || !bytes.Equal(united[n-1].key, c.key) {
			united = append(united, c)
			continue
		}
		last := &united[n-1]
		if last.delta == nil || c.delta == nil {
			last.delta = append(last.delta, c.delta...)
			continue
		}
		delta, err := rows.Fold(nil, c.key, last.delta, c.delta)
		if err != nil {
			return err
		}
		last.delta = delta
	}
	w.changes = united
	return nil
}

// findRange finds the rows that a tombstone of a partition or a range is over.
func (w *viewWriter) findRange(tombstone []byte) error {
	start, err := rows.AppendRowsPrefix(nil, tombstone)
	if err != nil {
		return err
	}
	end := rows.Successor(bytes.Clone(start))
	if bounds := tombstone[len(start):]; len(bounds) > 0 {
		from, to, err := rows.SplitEscaped(nil, bounds)
		if err != nil {
			return err
		}
		start, end = slices.Concat(start, from), slices.Concat(start, to)
	}
	return w.src.Scan(start, end, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
		if key[rows.PartitionPrefixLength(key)] == rows.KindRow {
			w.changes = append(w.changes, viewChange{key: bytes.Clone(key)})
		}
		if len(w.changes) > maxViewRows {
			return false, cqlerr.Invalidf("Deleting more than %d rows at a time is not supported for tables with "+
				"materialized views", maxViewRows)
		}
		return true, nil
	})
}

func (w *viewWriter) follow(c *viewChange) error {
	if err := w.load(c.key); err != nil {
		return err
	}
	if err := w.make(c.key, w.value); err != nil {
		return err
	}
	return w.replace(c)
}

func (w *viewWriter) load(key []byte) error {
	w.value = w.value[:0]
	_, err := w.src.Get(key, func(value []byte) error {
		w.value = append(w.value, value...)
		return nil
	})
	return err
}

// make makes the rows of views that belong to a row of a base, given its value: one for each view.
func (w *viewWriter) make(key, value []byte) error {
	id := numberOf(key)
	w.made = append(w.made[:0], make([]viewRow, len(w.views[id]))...)
	if len(value) == 0 {
		return nil
	}
	if err := w.enter(id, key); err != nil {
		return err
	}
	return w.base.deliverRow(key[len(w.base.place.prefix):], value)
}

// enter reads the tombstones of a row's partition, unless the last row was of the same one.
func (w *viewWriter) enter(id uint32, key []byte) error {
	b := w.base
	if w.id != id {
		w.id = id
		w.read = Read{Table: w.views[id][0].Table}
		b.prepare(context.Background(), w.store, &w.read, id, w.take)
		b.row.keeps = true
		b.tombstones.BeginKept(&w.store.deletions, id, w.clock)
		b.src, b.row.given = w.src, nil
		b.place.prefix = b.place.prefix[:0]
	}
	if len(b.place.prefix) > 0 && bytes.HasPrefix(key, b.place.prefix) {
		return nil
	}
	if err := b.place.enter(key); err != nil {
		return err
	}
	return b.beginPartition(b.place.partition)
}

// take makes the rows that views have for a row of the base.
func (w *viewWriter) take(row *Row) (bool, error) {
	for i, x := range w.views[w.id] {
		m := makeViewRow(x, row, &w.base.row.values.Head, w.base.row.kept, w.now)
		if m == nil {
			continue
		}
		op := m.appendOps(nil, x.ID)[0]
		w.made[i] = viewRow{key: bytes.Clone(op.Key), value: bytes.Clone(op.Value), due: m.due}
		m.release()
	}
	return true, nil
}

// replace notes the changes in views whose previous rows differ from the ones that were made.
func (w *viewWriter) replace(c *viewChange) error {
	for i, x := range w.views[numberOf(c.key)] {
		before, after := &c.before[i], &w.made[i]
		same := bytes.Equal(before.key, after.key)
		if before.key != nil && !same {
			w.ops = append(w.ops, engine.Op{Kind: engine.Delete, Key: before.key})
		}
		if after.key == nil || same && bytes.Equal(before.value, after.value) {
			continue
		}
		if len(after.key) > w.store.limits.Key {
			return cqlerr.Invalidf("Key length of %d is longer than maximum of %d", len(after.key), w.store.limits.Key)
		}
		w.ops = append(w.ops, engine.Op{Kind: engine.Put, Key: after.key, Value: after.value})
		u := w.store.usages.Of(x.ID)
		u.EndWrite(u.BeginWrite(1, len(after.key)+len(after.value), after.due))
	}
	return nil
}

// makeViewRow makes the row of a view, given the row of the base as it was written: nothing has expired. It returns
// nil if the view has no row for it. now is the second in which that happens.
func makeViewRow(x *index.Index, row *Row, head *rows.Head, kept []rows.Cell, now int64) *Mutation {
	inKey := len(x.View.PartitionKey)
	var few [8][]byte // so that the values of most views need no allocation
	values := few[:0]
	for i, place := range x.Places {
		value := row.Values[place]
		if value == nil || inKey > 1 && i < inKey && len(value) > math.MaxUint16 {
			return nil
		}
		values = append(values, value)
	}
	for i := range x.View.View.Where {
		if !x.View.View.Where[i].Holds(x.Table, row.Values) {
			return nil
		}
	}
	ends, ok := rowEnds(x, row, head, kept, now)
	if !ok {
		return nil
	}
	m := NewMutation(x.View, index.JoinKey(nil, values[:inKey]))
	m.Row(values[inKey:])
	m.Mark(written(row, head, kept), ends)
	for i := range kept {
		c := kept[i]
		if id, ok := x.Columns[c.Column]; ok {
			c.Column = id
			m.addCell(c)
		}
	}
	m.endRow()
	return m
}

// written is the timestamp of a row of a view: the earliest of the base's row, because a row without older cells is
// read faster. If cells expire, it is that of the marker or of the first cell: by it reads decide whether an expired
// part counts as a tombstone.
func written(row *Row, head *rows.Head, kept []rows.Cell) int64 {
	first := head.Marker.Timestamp
	if !row.Marked && len(kept) > 0 {
		first = kept[0].Timestamp
	}
	earliest := first
	for i := range kept {
		if kept[i].Expiry.At != 0 {
			return first
		}
		earliest = min(earliest, kept[i].Timestamp)
	}
	return earliest
}

// rowEnds returns when the row of a view ends. It is not ok if a sweep has taken the value that is in its key.
func rowEnds(x *index.Index, row *Row, head *rows.Head, kept []rows.Cell, now int64) (ends Expiry, ok bool) {
	if x.Column != nil {
		for i := range kept {
			if c := &kept[i]; c.Column == x.Column.ID {
				return c.Expiry, c.Expiry.At == 0 || c.Expiry.At > now || len(c.Value) > 0
			}
		}
		return Expiry{}, false
	}
	last := func(e Expiry) {
		if e.At == 0 {
			e.At = math.MaxInt64
		}
		if e.At > ends.At {
			ends = e
		}
	}
	if row.Marked {
		last(head.Marker.Expiry)
	}
	for i := range kept {
		last(kept[i].Expiry)
	}
	if ends.At == math.MaxInt64 {
		return Expiry{}, true
	}
	return ends, ends.At != 0
}
