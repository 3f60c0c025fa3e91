package exec

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/pace"
)

// aggregatedPage is how many rows Cassandra aggregates at a time when the request has no pages. Each page of them has
// the time of a whole read.
const aggregatedPage = 10_000

// storagePort is the port that Cassandra's nodes talk to each other at: errors name replicas by it.
const storagePort = 7000

// countTombstones makes the store count the tombstones that it reads. Cassandra does not count those of its own tables,
// and an index reads none.
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

// aggregated counts a row that was added to aggregates or a group: each page of them is a command.
func (r *reading) aggregated() {
	if r.aggregatedRows++; r.aggregatedRows >= min(r.page.size, aggregatedPage) {
		r.aggregatedRows = 0
		r.read.Turn.Again()
		r.read.Tombstones.BeginCommand()
	}
}

// warnOfTombstones adds a warning to the answer of a read in which a command went over many tombstones.
func (r *reading) warnOfTombstones() {
	t := r.read.Tombstones
	if t == nil || int64(t.Peak) <= r.e.settings.TombstoneWarn {
		return
	}
	r.out.Warnings = append(slices.Clip(r.out.Warnings), fmt.Sprintf(
		"Read %d live rows and %d tombstone cells of %s.%s (see tombstone_warn_threshold)",
		t.Rows, t.Tombstones, r.plan.Table.Keyspace, r.plan.Table.Name))
}

// failure is the error that the client gets of a read that was given up.
func failure(err error, req *Request) error {
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
