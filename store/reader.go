package store

import (
	"bytes"
	"context"
	"sync"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/rows"
	"github.com/cqld/cqld/store/tombstones"
)

// reader runs one Read. It is reused with its buffers, so that reading one row allocates nothing here.
type reader struct {
	ctx     context.Context
	store   *core
	read    *Read
	id      uint32 // of the table's keys; 0: they are not in the engine
	fn      func(*Row) (bool, error)
	src     engine.Reader
	state   *state         // in use before the snapshot was taken
	indexes []*index.Index // of the table, in this state
	era     uint64         // how often the store was restored before
	clock   uint64         // of deletions, before the snapshot was chosen
	after   *Position      // until the partition it is in has been read
	done    bool           // fn wants no more
	ticks   int            // rows of scans

	place      readPlace
	tombstones tombstones.Reader
	row        rowAssembly
	dead       deadRun
	lookup     lookup
	calls      readerCalls
}

// readPlace is where in the table a read is.
type readPlace struct {
	prefix     []byte // of the partition's keys
	partition  []byte // its serialized key, unless Read.Keys has it
	slice      Slice  // of the partition, that is being read
	start, end []byte // its first key, and the first one after it
}

// readerCalls are methods of a reader as values, which are made once.
type readerCalls struct {
	readSnapshot func(engine.Reader) error
	onlyRow      func(value []byte) error
	staticRow    func(value []byte) error
	scanned      func(key, value []byte) (bool, error)
}

var readers = sync.Pool{New: func() any { return newReader() }}

func newReader() *reader {
	r := new(reader)
	r.calls = readerCalls{
		readSnapshot: r.readSnapshot, onlyRow: r.takeOnlyRow, staticRow: r.takeStatic, scanned: r.takeScanned,
	}
	return r
}

func (r *reader) prepare(ctx context.Context, s *core, read *Read, id uint32, fn func(*Row) (bool, error)) {
	r.ctx, r.store, r.read, r.id, r.fn = ctx, s, read, id, fn
	r.after, r.ticks, r.done = read.After, 0, false
	r.tombstones.Begin(nil)
	r.clock = 0
	if id != 0 {
		r.clock = s.deletions.Clock()
		r.era = s.restores.Load()
		r.state = s.state.Load()
		r.indexes = r.state.indexes[id]
	}
	r.row.begin(read)
	read.Tombstones.begin(read)
}

// release forgets the request and keeps the reader for another.
func (r *reader) release() {
	r.ctx, r.store, r.read, r.fn, r.src, r.after, r.place.slice = nil, nil, nil, nil, nil, nil, Slice{}
	r.state, r.indexes = nil, nil
	r.lookup.index, r.lookup.entry, r.lookup.gather, r.lookup.others = nil, nil, gathering{}, nil
	r.lookup.prefetch.getter = nil
	r.row.release()
	r.tombstones.Release()
	readers.Put(r)
}

// readSnapshot reads from one snapshot. Under a number that is not in use any more only a part of the rows may be left.
func (r *reader) readSnapshot(src engine.Reader) error {
	if r.id != 0 {
		now, table := r.store.state.Load(), r.read.Table.ID
		if now.ids[table] != r.id || r.store.moved(r.state) || now.suspended[table] != 0 {
			return errTruncated
		}
		r.tombstones.BeginKept(&r.store.deletions, r.id, r.clock)
	}
	r.src = src
	if r.read.Nearest != nil && r.id != 0 {
		if chosen, err := r.chooseGraphs(); err != nil {
			return err
		} else if chosen {
			return r.throughIndex()
		}
	}
	if len(r.read.Lookups) > 0 && r.id != 0 {
		if r.era != r.store.restores.Load() {
			return errTruncated // the indexes are from before the Restore
		}
		if chosen, err := r.chooseIndex(); err != nil {
			return err
		} else if chosen {
			return r.throughIndex()
		}
	}
	if r.read.Keys != nil {
		return r.keys()
	}
	return r.scan()
}

// keys reads the partitions asked for, after those before the position to continue from.
func (r *reader) keys() error {
	keys := r.read.Keys
	if r.after != nil {
		for len(keys) > 0 && !bytes.Equal(keys[0], r.after.Partition) {
			keys = keys[1:]
		}
		if len(keys) == 0 {
			return cqlerr.Protocolf("Invalid value for the paging state")
		}
		if r.after.Whole {
			r.after, keys = nil, keys[1:]
		}
	}
	for _, key := range keys {
		if err := r.step(); err != nil {
			return err
		}
		r.place.prefix = rows.AppendPartition(r.place.prefix[:0], r.read.Table, r.id, key)
		r.read.Tombstones.BeginCommand()
		if err := r.readPartition(key); err != nil || r.done {
			return err
		}
		r.after = nil
	}
	return nil
}

// step is called between rows: it lets others run, and says when the read has to end.
func (r *reader) step() error {
	if r.read.Turn != nil {
		return r.read.Turn.Step()
	}
	return r.ctx.Err()
}

// beginPartition reads the tombstones of a partition and prepares for its rows, but for its static row.
func (r *reader) beginPartition(key []byte) error {
	r.read.Tombstones.beginPartition()
	if err := r.row.beginPartition(key); err != nil {
		return err
	}
	if err := r.tombstones.Load(r.src, r.place.prefix); err != nil {
		return err
	}
	r.row.coveredBy(&r.tombstones.PartitionTombstones)
	return nil
}

// readPartition reads the wanted rows of the current partition.
func (r *reader) readPartition(key []byte) error {
	if err := r.beginPartition(key); err != nil {
		return err
	}
	p, t := &r.place, r.read.Table
	if len(t.Static) > 0 {
		p.start = append(append(p.start[:0], p.prefix...), rows.KindStatic)
		if _, err := r.src.Get(p.start, r.calls.staticRow); err != nil || r.done {
			return err
		}
	}
	if len(t.Clustering) == 0 {
		return r.readOnlyRow()
	}
	if r.read.allRows() {
		return r.readSlice(&Slice{})
	}
	n := r.read.ranges()
	for i := range n {
		at := i
		if r.read.Reverse {
			at = n - 1 - i
		}
		p.slice = r.read.slice(at)
		if err := r.readSlice(&p.slice); err != nil || r.done {
			return err
		}
	}
	return nil
}

func (r *reader) readOnlyRow() error {
	if r.after != nil {
		return nil
	}
	r.row.given = nil
	p := &r.place
	p.start = append(append(p.start[:0], p.prefix...), rows.KindRow)
	_, err := r.src.Get(p.start, r.calls.onlyRow)
	return err
}

// readSlice reads the rows of one slice after the position to continue from.
func (r *reader) readSlice(s *Slice) error {
	if err := r.step(); err != nil {
		return err
	}
	p, t := &r.place, r.read.Table
	p.start = rows.AppendStart(append(p.start[:0], p.prefix...), t, s.Start, s.StartInclusive)
	behind := r.after != nil && r.after.Clustering != nil
	if !behind && s.isRow(t) {
		r.row.given = s.Start
		if r.tombstones.Any {
			p.appendEnd(r.read, s)
			r.countRanges()
		}
		if _, err := r.src.Get(p.start, r.calls.onlyRow); err != nil || r.done {
			return err
		}
		return r.read.Tombstones.passRanges(nil)
	}
	p.appendEnd(r.read, s)
	if behind {
		r.skipTo(r.after.Clustering)
	}
	if bytes.Compare(p.start, p.end) >= 0 {
		return nil
	}
	r.row.given = nil
	if r.tombstones.Any {
		r.countRanges()
	}
	if err := r.scanRows(p.start, p.end); err != nil || r.done {
		return err
	}
	return r.read.Tombstones.passRanges(nil)
}

// appendEnd sets the end of a slice of the partition.
func (p *readPlace) appendEnd(read *Read, s *Slice) {
	p.end = rows.AppendEnd(append(p.end[:0], p.prefix...), read.Table, s.End, s.EndInclusive)
}

func (r *reader) countRanges() {
	p := &r.place
	r.read.Tombstones.beginSlice(&r.tombstones.PartitionTombstones, p.start[len(p.prefix):], p.end[len(p.prefix):])
}

// skipTo narrows the current slice to the rows after a given one.
func (r *reader) skipTo(clustering [][]byte) {
	p := &r.place
	at := rows.AppendClustering(append(bytes.Clone(p.prefix), rows.KindRow), r.read.Table, clustering)
	if r.read.Reverse {
		if bytes.Compare(at, p.end) < 0 {
			p.end = at
		}
		return
	}
	if at = append(at, 0); bytes.Compare(at, p.start) > 0 {
		p.start = at
	}
}

func (r *reader) takeOnlyRow(value []byte) error {
	return r.deliverRow(r.place.start[len(r.place.prefix):], value)
}

// takeStatic takes the value of the static row, and delivers it unless the read continues inside the partition.
func (r *reader) takeStatic(value []byte) error {
	a, count := &r.row, r.read.Tombstones
	if count != nil && !count.Statics {
		count = nil
	}
	a.count = count
	live, err := a.static(value, r.tombstones.Partition.Timestamp)
	a.count = r.read.Tombstones
	if err == nil && !live {
		err = count.deadRow(&a.values.Head, r.tombstones.Partition.Timestamp)
	}
	if err != nil || !live || r.after != nil {
		return err
	}
	if count != nil {
		count.Rows++
	}
	a.clear(r.read.Table.Clustering)
	a.clear(r.read.Table.Regular)
	return r.deliver(true)
}

// deliverRow delivers a row if it is alive. position is its key from its kind on.
func (r *reader) deliverRow(position, value []byte) error {
	a := &r.row
	if a.plainRow(value) {
		return r.deliverLive(position)
	}
	hidden := r.tombstones.TimestampOver(position)
	live, deletion, err := a.regular(value, hidden)
	if err != nil {
		return err
	}
	if !live {
		r.dead.gone = isGone(&a.purger, &a.values.Head, deletion)
		return r.read.Tombstones.deadRow(&a.values.Head, hidden)
	}
	return r.deliverLive(position)
}

// deliverLive delivers a row that is alive.
func (r *reader) deliverLive(position []byte) error {
	r.dead.alive = true
	if err := r.read.Tombstones.liveRow(position); err != nil {
		return err
	}
	if len(r.read.Table.Clustering) > 0 {
		if err := r.row.setClustering(position[1:]); err != nil {
			return err
		}
	}
	return r.deliver(false)
}

func (r *reader) deliver(static bool) error {
	r.row.row.Static = static
	more, err := r.fn(&r.row.row)
	r.done = !more || err != nil
	return err
}
