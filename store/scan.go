package store

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// Read calls fn for each row until it returns false or an error. Rows come partition by partition: in
// the order of Keys, else by token. The static row comes whatever the slices are; a Read that continues
// inside a partition does not deliver it again, but the rows have its values.
func (s *core) Read(ctx context.Context, r *Read, fn func(*Row) (bool, error)) error {
	rd := readers.Get().(*reader)
	defer rd.release()
	for {
		if s.cluster != nil && !s.isVirtual(r.Table.ID) {
			if _, err := s.usable(ctx, r.Table.ID); err != nil {
				return err
			}
		}
		src, id, err := s.source(r)
		if err != nil {
			return err
		}
		rd.prepare(ctx, s, r, id, fn)
		if src != nil {
			return rd.readSnapshot(src)
		}
		if s.cluster != nil && rd.readsOneKey() {
			err = rd.readSnapshot(newest{s.engine, rd})
		} else {
			err = s.engine.View(rd.calls.readSnapshot)
		}
		if !errors.Is(err, errTruncated) {
			return err
		}
	}
}

// isVirtual reports whether code makes the rows of a table. They are read without a lease too, so that drivers stay
// connected to a node that does not reach its cluster.
func (s *core) isVirtual(table [16]byte) bool {
	_, ok := s.state.Load().virtual[table]
	return ok
}

// source says where the rows of a table come from: from a reader if code makes them, else from the engine under a
// number.
func (s *core) source(r *Read) (engine.Reader, uint32, error) {
	state := s.current()
	if v, ok := state.virtual[r.Table.ID]; ok {
		src, err := v.read(r.Session, state.catalog)
		return src, 0, err
	}
	if id, ok := state.ids[r.Table.ID]; ok {
		return nil, id, nil
	}
	if state.catalog.Table(r.Table.Keyspace, r.Table.Name) != nil {
		return sortedRows{}, 0, nil
	}
	return nil, 0, noTable(r.Table)
}

// A view of a shared engine costs a request for its timestamp. A read of a single key needs none: the last commit is a
// snapshot of it.

// newest reads the last commit. It reads one key, and fails if definitions have changed meanwhile: the table may have
// been truncated, or its tombstones may have to be read.
type newest struct {
	engine.Reader
	reader *reader
}

// Get reads the key.
func (n newest) Get(key []byte, fn func(value []byte) error) (found bool, err error) {
	r := n.reader
	found, err = n.Reader.Get(key, func(value []byte) error {
		if r.store.moved(r.state) {
			return errTruncated
		}
		return fn(value)
	})
	if !found && err == nil && r.store.moved(r.state) {
		err = errTruncated
	}
	return found, err
}

// readsOneKey reports whether the read gets one key and nothing else.
func (r *reader) readsOneKey() bool {
	read, t := r.read, r.read.Table
	if len(read.Keys) != 1 || read.After != nil || len(read.Lookups) > 0 || read.Nearest != nil ||
		len(t.Static) > 0 || r.store.deletions.FilterOf(r.id, r.clock) != nil {
		return false
	}
	if _, marked := r.state.marked[r.id]; marked {
		return false
	}
	if len(t.Clustering) == 0 {
		return true
	}
	if read.allRows() || read.ranges() != 1 {
		return false
	}
	r.place.slice = read.slice(0)
	return r.place.slice.isRow(t)
}

func (r *reader) scan() error {
	start, end, ok := r.tokenBounds()
	if !ok {
		return nil
	}
	p := &r.place
	if r.after != nil {
		p.prefix = rows.AppendPartition(p.prefix[:0], r.read.Table, r.id, r.after.Partition)
		behind := rows.Successor(bytes.Clone(p.prefix))
		if !r.after.Whole && bytes.Compare(p.prefix, start) >= 0 && bytes.Compare(p.prefix, end) < 0 {
			if err := r.readPartition(r.after.Partition); err != nil || r.done {
				return err
			}
		}
		r.after = nil
		if bytes.Compare(behind, start) > 0 {
			start = behind
		}
	}
	p.prefix = p.prefix[:0]
	r.tombstones.Scan(r.src, r.id, start, end)
	if r.read.allRows() && !r.read.Reverse {
		if err := r.scanRows(start, end); err != nil || r.done {
			return err
		}
		return r.read.Tombstones.passRanges(nil)
	}
	return r.hop(start, end)
}

// hop reads partition by partition: it finds the first key of the next one, and reads the wanted rows of it.
func (r *reader) hop(start, end []byte) error {
	for {
		if err := r.step(); err != nil {
			return err
		}
		found := false
		err := r.src.Scan(start, end, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
			found = true
			return false, r.place.enter(key)
		})
		if err != nil {
			return err
		}
		if !found {
			return nil
		}
		if err := r.readPartition(r.place.partition); err != nil || r.done {
			return err
		}
		start = rows.Successor(bytes.Clone(r.place.prefix))
	}
}

// tokenBounds are the keys that the token range begins with and ends before; not ok: it has no tokens.
func (r *reader) tokenBounds() (start, end []byte, ok bool) {
	start = rows.AppendArea(nil, r.id, rows.AreaRows)
	end = rows.Successor(bytes.Clone(start))
	t := r.read.Tokens
	if t == (TokenRange{}) {
		return start, end, true
	}
	from, to := t.Start, t.End
	if !t.StartInclusive {
		if from == math.MaxInt64 {
			return nil, nil, false
		}
		from++
	}
	if !t.EndInclusive {
		if to == math.MinInt64 {
			return nil, nil, false
		}
		to--
	}
	if from > to {
		return nil, nil, false
	}
	if to < math.MaxInt64 {
		end = rows.AppendToken(bytes.Clone(start), to+1)
	}
	return rows.AppendToken(start, from), end, true
}

// enter makes the partition of a key the current one.
func (p *readPlace) enter(key []byte) error {
	if len(key) < rows.AreaSize+rows.TokenSize {
		return rows.ErrKey
	}
	partition, rest, err := rows.SplitEscaped(p.partition[:0], key[rows.AreaSize+rows.TokenSize:])
	if err != nil {
		return err
	}
	if partition == nil {
		partition = []byte{} // the key of a view's partition can be empty, and nil would be null
	}
	p.partition = partition
	p.prefix = append(p.prefix[:0], key[:len(key)-len(rest)]...)
	return nil
}

// RowsPerStep is how many rows, or entries of an index, a read goes over between two steps of its turn.
const RowsPerStep = 32

// takeScanned takes a key and its value from a scan of one partition or many.
func (r *reader) takeScanned(key, value []byte) (bool, error) {
	if r.ticks++; r.ticks%RowsPerStep == 0 {
		if err := r.step(); err != nil {
			return false, err
		}
	}
	if r.dead.waiting {
		r.endWait(key)
	}
	p := &r.place
	if len(p.prefix) == 0 || !bytes.HasPrefix(key, p.prefix) {
		if err := r.scanPartition(key); err != nil {
			return false, err
		}
	}
	position := key[len(p.prefix):]
	if len(position) == 0 {
		return false, rows.ErrKey
	}
	if position[0] == rows.KindStatic {
		err := r.takeStatic(value)
		return !r.done, err
	}
	r.dead.alive = false
	err := r.deliverRow(position, value)
	if r.dead.alive {
		r.endRun(nil)
	} else if err == nil {
		r.dead.addDead(key)
	}
	return !r.done, err
}

// scanPartition goes on with the partition of a key.
func (r *reader) scanPartition(key []byte) error {
	if err := r.read.Tombstones.passRanges(nil); err != nil {
		return err
	}
	if err := r.place.enter(key); err != nil {
		return err
	}
	if err := r.beginPartition(r.place.partition); err != nil {
		return err
	}
	if r.tombstones.Any {
		r.read.Tombstones.beginSlice(&r.tombstones.PartitionTombstones, nil, nil)
	}
	return nil
}

// sortedRows is an engine's reader of keys and values in memory.
type sortedRows []engine.Op

func (r sortedRows) find(key []byte) (int, bool) {
	return slices.BinarySearchFunc(r, key, func(op engine.Op, key []byte) int { return bytes.Compare(op.Key, key) })
}

// Get calls fn with the value of key.
func (r sortedRows) Get(key []byte, fn func(value []byte) error) (bool, error) {
	i, ok := r.find(key)
	if !ok {
		return false, nil
	}
	return true, fn(r[i].Value)
}

// Scan calls fn for the keys in a range.
func (r sortedRows) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	from, _ := r.find(start)
	to := len(r)
	if end != nil {
		to, _ = r.find(end)
	}
	for i := range max(0, to-from) {
		op := r[from+i]
		if o.Reverse {
			op = r[to-1-i]
		}
		if more, err := fn(op.Key, op.Value); err != nil || !more {
			return err
		}
	}
	return nil
}
