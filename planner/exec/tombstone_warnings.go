package exec

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/pace"
)

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
	t := &r.tombstones
	t.Most, t.Warn, t.Asked = int(r.e.settings.TombstoneFail), math.MaxInt, p.Asked
	t.Statics = p.Asked == nil || p.FullPartitions || p.Statics
	r.read.Tombstones = t
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
		r.tombstones.Restart()
	}
}

// warnOfTombstones adds a warning if the read has passed many tombstones.
func (r *reading) warnOfTombstones() {
	live, tombstones := r.tombstones.All()
	if r.read.Tombstones == nil || int64(tombstones) <= r.e.settings.TombstoneWarn {
		return
	}
	t := r.plan.Table
	r.out.Warnings = append(slices.Clip(r.out.Warnings), fmt.Sprintf(
		"Read %d live rows and %d tombstone cells for a query of %s.%s (see tombstone_warn_threshold)",
		live, tombstones, quote.Name(t.Keyspace), quote.Name(t.Name)))
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
