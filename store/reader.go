package store

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// reader runs one Read. It is reused with its buffers, so that reading one row allocates nothing here.
type reader struct {
	ctx    context.Context
	store  *Store
	read   *Read
	id     uint32
	fn     func(*Row) (bool, error)
	src    engine.Reader
	view   func(engine.Reader) error       // run, as a value that is made once
	onRow  func(value []byte) error        // pointRow, likewise
	onStat func(value []byte) error        // pointStatic, likewise
	onScan func(k, v []byte) (bool, error) // scanRow, likewise
	after  *Position                       // until the partition it is in has been read
	ticks  int
	done   bool // fn wants no more

	// The table's columns, kept as long as the reader is used for the same table.
	table    *schema.Table
	columns  []int16 // their indexes by ID; -1: no such column
	dropped  []int64 // by index: what was written then or before is lost; nil: nothing is of any column
	lastDrop int64   // the latest of these
	lossy    bool    // there is a clustering column whose values are not to be had from keys

	// The partition and the row.
	known       *knownDeletions // of the table's tombstones
	cursor      deletionCursor  // beside a scan of partitions
	prefix      []byte          // what the partition's keys begin with
	partition   []byte          // its serialized key, unless Read.Keys has it
	deletions   deletions
	plain       bool     // rows may be delivered by deliverPlain
	floor       int64    // if they were written later than this
	full        bool     // the last such row had all regular columns, so the next one is likely to
	given       [][]byte // the clustering values of a row that is read by its whole key
	slice       Slice    // the range being read
	row         Row
	values      rows.Reader
	statics     []byte // the memory of static values
	clustering  []byte // the memory of clustering values
	parts       rows.CollectionBuilder
	staticParts rows.CollectionBuilder
	start, end  []byte // keys
	dead        deadRows
	seen        bool      // the row at hand lives
	gone        bool      // it does not, and may be purged
	lost        lostCells // of the row at hand
	rowless     rowless
	bounds      [][]byte    // of range tombstones, that are still to be passed
	keeps       bool        // kept is filled in
	kept        []rows.Cell // those of the row at hand that live
}

var readers = sync.Pool{New: func() any { return new(reader) }}

func (r *reader) begin(ctx context.Context, s *Store, read *Read, id uint32, fn func(*Row) (bool, error)) {
	if r.view == nil {
		r.view, r.onRow, r.onStat, r.onScan = r.run, r.pointRow, r.pointStatic, r.scanRow
	}
	r.ctx, r.store, r.read, r.id, r.fn = ctx, s, read, id, fn
	r.after, r.ticks, r.done, r.bounds = read.After, 0, false, r.bounds[:0]
	r.known, r.cursor.src = nil, nil
	if id != 0 {
		r.known = s.deletions.of(id)
	}
	if t := read.Table; r.table != t {
		r.table = t
		r.row.Values = make([][]byte, len(t.Columns))
		r.row.Meta = nil
		r.columns = make([]int16, t.NextID)
		for i := range r.columns {
			r.columns[i] = -1
		}
		for _, c := range t.Columns {
			r.columns[c.ID] = int16(c.Index)
		}
		r.dropped, r.lastDrop = rows.DroppedTimes(t)
		r.lossy = slices.ContainsFunc(t.Clustering, func(c *schema.Column) bool { return c.Type.LossyKey() })
	}
	switch {
	case !read.Meta:
		r.row.Meta = nil
	case r.row.Meta == nil:
		r.row.Meta = make([]CellMeta, len(r.table.Columns))
	}
}

// release forgets what belongs to the request and keeps the reader for another.
func (r *reader) release() {
	r.ctx, r.store, r.read, r.fn, r.src, r.after, r.given, r.slice = nil, nil, nil, nil, nil, nil, nil, Slice{}
	r.values = rows.Reader{}
	clear(r.kept)
	r.keeps, r.kept = false, r.kept[:0]
	clear(r.row.Values)
	clear(r.row.Meta)
	r.row.Partition, r.known = nil, nil
	r.cursor.finish()
	if cap(r.statics) > maxKeptBuffer || cap(r.clustering) > maxKeptBuffer {
		r.statics, r.clustering = nil, nil
	}
	r.parts.Release()
	r.staticParts.Release()
	readers.Put(r)
}

// run reads from one snapshot. Of a number that is not in use any more it may have a part of the rows.
func (r *reader) run(src engine.Reader) error {
	if r.id != 0 {
		if r.store.state.Load().ids[r.read.Table.ID] != r.id {
			return errTruncated
		}
		r.known = r.store.deletions.in(r.id, r.known)
	}
	r.src = src
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
		r.prefix = rows.AppendPartition(r.prefix[:0], r.read.Table, r.id, key)
		err := r.readPartition(key)
		if p := r.read.Passed; p != nil {
			p.next()
		}
		if err != nil || r.done {
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

// readPartition reads the rows wanted of the partition that prefix is of.
func (r *reader) readPartition(key []byte) error {
	if err := r.beginPartition(key); err != nil {
		return err
	}
	if len(r.table.Static) > 0 {
		r.start = append(append(r.start[:0], r.prefix...), rows.KindStatic)
		if _, err := r.src.Get(r.start, r.onStat); err != nil || r.done {
			return err
		}
	}
	if len(r.table.Clustering) == 0 {
		return r.onlyRow()
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
		r.slice = r.read.slice(at)
		if err := r.readSlice(&r.slice); err != nil || r.done {
			return err
		}
	}
	return nil
}

// onlyRow reads the row of a partition in a table without clustering columns.
func (r *reader) onlyRow() error {
	if r.after != nil {
		return nil
	}
	r.given = nil
	r.start = append(append(r.start[:0], r.prefix...), rows.KindRow)
	_, err := r.src.Get(r.start, r.onRow)
	return err
}

// readSlice reads the rows of one slice that are behind the position to continue from.
func (r *reader) readSlice(s *Slice) error {
	if err := r.step(); err != nil {
		return err
	}
	r.start = r.appendStart(r.start[:0], s)
	behind := r.after != nil && r.after.Clustering != nil
	if !behind && s.isRow(r.table) {
		r.given = s.Start
		if r.deletions.Any {
			r.end = r.appendEnd(r.end[:0], s)
			r.boundsWithin(r.start[len(r.prefix):], r.end[len(r.prefix):])
		}
		if _, err := r.src.Get(r.start, r.onRow); err != nil || r.done {
			return err
		}
		return r.passRest()
	}
	r.end = r.appendEnd(r.end[:0], s)
	if behind {
		r.skipTo(r.after.Clustering)
	}
	if bytes.Compare(r.start, r.end) >= 0 {
		return nil
	}
	r.given = nil
	if r.deletions.Any {
		r.boundsWithin(r.start[len(r.prefix):], r.end[len(r.prefix):])
	}
	err := r.src.Scan(r.start, r.end, engine.ScanOptions{Reverse: r.read.Reverse}, r.onScan)
	r.endRun()
	if err != nil || r.done {
		return err
	}
	return r.passRest()
}

// skipTo narrows start and end to what comes behind a row.
func (r *reader) skipTo(clustering [][]byte) {
	at := rows.AppendClustering(append(bytes.Clone(r.prefix), rows.KindRow), r.table, clustering)
	if r.read.Reverse {
		if bytes.Compare(at, r.end) < 0 {
			r.end = at
		}
		return
	}
	if at = append(at, 0); bytes.Compare(at, r.start) > 0 {
		r.start = at
	}
}

// appendStart appends the key of a partition that a slice begins with.
func (r *reader) appendStart(dst []byte, s *Slice) []byte {
	return rows.AppendStart(append(dst, r.prefix...), r.table, s.Start, s.StartInclusive)
}

// appendEnd appends the first key of a partition behind a slice.
func (r *reader) appendEnd(dst []byte, s *Slice) []byte {
	return rows.AppendEnd(append(dst, r.prefix...), r.table, s.End, s.EndInclusive)
}
