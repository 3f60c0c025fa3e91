package exec

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/exec/restriction"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/pace"
)

// storeRow takes a row from the store, and reports whether more are wanted. A static row is kept until it is known
// whether its partition has other rows.
func (r *reading) storeRow(row *store.Row) (bool, error) {
	r.meta = row.Meta
	if row.Static {
		if !r.plan.FullPartitions {
			return true, nil
		}
		more, err := r.showStatic()
		if err == nil && more {
			r.static.keep(row)
			err = r.held.atLeast(r.read.Turn, cap(r.static.bytes))
		}
		return more, err
	}
	if r.static.set && bytes.Equal(r.static.partition, row.Partition) {
		r.static.set = false
	} else if more, err := r.showStatic(); err != nil || !more {
		return more, err
	}
	return r.show(row.Partition, row.Values, false)
}

// showStatic shows the static row of a partition that turned out to have no other row.
func (r *reading) showStatic() (more bool, err error) {
	if !r.static.set {
		return true, nil
	}
	meta := r.meta
	r.meta = r.static.meta
	more, err = r.show(r.static.partition, r.static.values, true)
	r.meta, r.static.set = meta, false
	return more, err
}

// take gives a row to the collector if its partition may give one more and the row passes the filters. It reports
// whether more are wanted.
func (r *reading) take(partition []byte, row [][]byte, static bool) (more bool, err error) {
	if r.page.partitionLeft <= 0 && r.isInPartition(partition) {
		return r.skip(partition), nil
	}
	if len(r.filters) > 0 {
		if wanted, err := r.passes(row); !wanted || err != nil {
			return err == nil, err
		}
	}
	return r.collector.collect(r, partition, row, static)
}

// show is take, and forgets what functions returned for the row.
func (r *reading) show(partition []byte, row [][]byte, static bool) (more bool, err error) {
	before := r.held.used
	more, err = r.take(partition, row, static)
	r.held.used = before
	return more, err
}

// passes reports whether a row satisfies all filters.
func (r *reading) passes(row [][]byte) (bool, error) {
	if length(row) > heldStep { // large values may take long to compare
		if err := restriction.Step(&r.x); err != nil {
			return false, err
		}
	}
	for i, satisfied := range r.filters {
		if i%16 == 15 {
			if err := restriction.Step(&r.x); err != nil {
				return false, err
			}
		}
		if ok, err := satisfied(row); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// maxSkipped is how many rows of a partition beyond its limit are dropped one by one, before the store begins again
// after the partition.
const maxSkipped = 32

// skip drops a row of a partition that has reached its limit, and reports whether the store's read goes on.
func (r *reading) skip(partition []byte) bool {
	if r.skipped++; r.skipped < maxSkipped {
		return true
	}
	r.skipped = 0
	r.position = store.Position{Partition: bytes.Clone(partition), Whole: true}
	r.again = true
	return false
}

// staticRow is a copy of the static row of a partition.
type staticRow struct {
	set       bool
	partition []byte
	values    [][]byte
	meta      []store.CellMeta
	bytes     []byte // the memory of values
}

// keep copies a row.
func (s *staticRow) keep(row *store.Row) {
	s.set = true
	s.partition = append(s.partition[:0], row.Partition...)
	s.values, s.bytes = copyRow(s.values, s.bytes, row.Values)
	s.meta = append(s.meta[:0], row.Meta...)
}

// reuse returns an empty one with the same memory.
func (s *staticRow) reuse() staticRow {
	clear(s.values)
	return staticRow{partition: s.partition[:0], values: s.values[:0], bytes: s.bytes[:0], meta: s.meta[:0]}
}

// copyRow copies the values of a row into one piece of memory.
func copyRow(values [][]byte, memory []byte, row [][]byte) ([][]byte, []byte) {
	values, memory = values[:0], memory[:0]
	if size := length(row); memory == nil || cap(memory) < size { // a slice of nil would make null of an empty value
		memory = make([]byte, 0, size)
	}
	for _, v := range row {
		if v == nil {
			values = append(values, nil)
			continue
		}
		from := len(memory)
		memory = append(memory, v...)
		values = append(values, memory[from:len(memory):len(memory)])
	}
	return values, memory
}

// aggregatedPage is how many rows Cassandra aggregates at a time if the request has no page size.
const aggregatedPage = 10_000

// storagePort is the port of Cassandra's nodes for each other: errors name replicas by it.
const storagePort = 7000

// countTombstones makes the store count the tombstones of the read. Cassandra counts none in its own tables, nor in
// reads by an index.
func (r *reading) countTombstones() {
	p := r.plan
	if schema.IsLocal(p.Table.Keyspace) || p.Table.Virtual || p.Indexed {
		return
	}
	r.tombstones = store.TombstonesRead{
		Max: int(r.e.settings.TombstoneFail), Asked: p.Asked, Statics: p.Asked == nil || p.FullPartitions || p.Statics,
	}
	r.read.Tombstones = &r.tombstones
}

// countAggregated counts a row of an aggregate or a group. After a page of such rows Cassandra begins another read: it
// has the time of a whole read, and counts tombstones from zero.
func (r *reading) countAggregated() {
	if r.aggregated++; r.aggregated < min(r.page.size, aggregatedPage) {
		return
	}
	r.aggregated = 0
	r.read.Turn.Again()
	if r.read.Tombstones != nil && (r.page.size != noLimit || r.plan.Grouping != nil) {
		r.tombstones.BeginCommand()
	}
}

// warnOfTombstones adds a warning if a command of the read has gone over many tombstones.
func (r *reading) warnOfTombstones() {
	counts := r.read.Tombstones
	if counts == nil || int64(counts.Peak) <= r.e.settings.TombstoneWarn {
		return
	}
	t := r.plan.Table
	r.out.Warnings = append(slices.Clip(r.out.Warnings), fmt.Sprintf(
		"Read %d live rows and %d tombstone cells for a query of %s.%s (see tombstone_warn_threshold)",
		counts.Rows, counts.Tombstones, quote.Name(t.Keyspace), quote.Name(t.Name)))
}

// readFailure is the client's error for a read that ended early.
func readFailure(err error, req *Request) error {
	switch {
	case errors.Is(err, pace.ErrTimeout):
		return cqlerr.ReadTimedOut(req.Consistency)
	case !errors.Is(err, store.ErrTombstones):
		return err
	}
	replica := req.Session.LocalAddr.Addr().Unmap()
	if !replica.IsValid() {
		replica = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return cqlerr.TooManyTombstones(req.Consistency, netip.AddrPortFrom(replica, storagePort))
}
