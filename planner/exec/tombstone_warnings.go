package exec

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/pace"
)

// aggregatedPage is how many rows Cassandra aggregates at a time when the request has no pages. Each page of them has
// the time of a whole read.
const aggregatedPage = 10_000

// maxCommandText is how much of a command's text a warning shows.
const maxCommandText = 512

// storagePort is the port that Cassandra's nodes talk to each other at: errors name replicas by it.
const storagePort = 7000

// command is the part of a SELECT that Cassandra reads, and warns of, by itself: a partition of an IN, or a page of
// the rows that are aggregated. Otherwise it is the whole SELECT.
type command struct {
	number int                   // of the partition, where partitions are read by their keys
	from   store.Position        // behind which it begins; without a partition: at the beginning
	limit  int                   // rows it may give
	left   int                   // of the page of rows to aggregate or to group
	rows   int                   // in such a page of rows to group; 0: there are no groups, and limit is of rows
	paged  bool                  // what is left of the page limits the next partition
	read   *store.TombstoneCount // what it has read; set for a warning
}

// countTombstones has the store count the tombstones that are read. Cassandra does not look at tables of its own, and
// an index reads none.
func (r *reading) countTombstones() {
	p := r.plan
	if schema.IsLocal(p.Table.Keyspace) || p.Table.Virtual || p.Indexed {
		return
	}
	t := &r.tombstones
	t.Most, t.Warn, t.Asked = int(r.e.settings.TombstoneFail), int(r.e.settings.TombstoneWarn), p.Asked
	t.Statics = p.Asked == nil || p.FullPartitions || p.Statics
	r.read.Tombstones = t
	r.command = command{limit: min(r.page.size, r.page.limit)}
	r.command.paged = r.page.resumed != nil || r.page.size != noLimit && r.page.pages(p)
	switch {
	case r.plan.AggregatesAll():
		r.command.left = r.page.size
		r.command.limit = r.page.size
	case p.Grouping != nil && !p.Distinct:
		if r.command.rows = r.page.size; r.page.size == noLimit {
			r.command.rows = aggregatedPage
		}
		r.command.left = r.command.rows
	}
	if r.page.resumed != nil && r.read.After != nil {
		r.command.from = *r.read.After
	}
}

// endCommands ends the commands of the partitions that the store is through with. It is called before a row is looked
// at, as limits of a command are what was left when its partition began, and when the read is over.
func (r *reading) endCommands() {
	for t := &r.tombstones; r.command.number < t.Partitions; r.command.number++ {
		if len(t.Over) > 0 && t.Over[0].Number == r.command.number {
			if r.command.rows == 0 || r.command.limit > 0 { // else Cassandra knows that no group is wanted
				r.warn(&t.Over[0].TombstoneCount)
			}
			t.Over = t.Over[1:]
		}
		r.command.from = store.Position{}
		switch {
		case r.command.rows > 0:
			r.command.left = r.command.rows
			if r.command.limit = min(r.page.size, r.page.limit); r.groups.open {
				r.command.limit--
			}
		case r.plan.AggregatesAll():
			r.command.limit = r.command.left
		case r.command.paged:
			r.command.limit = min(r.page.size, r.page.limit)
		}
	}
}

// aggregated notes a row that was added to aggregates or a group: behind a page of them another command begins.
func (r *reading) aggregated(partition []byte, row [][]byte) {
	if r.aggregatedRows++; r.aggregatedRows >= min(r.page.size, aggregatedPage) {
		r.aggregatedRows = 0
		r.read.Turn.Again()
	}
	if r.read.Tombstones == nil || r.groups != nil && r.command.rows == 0 {
		return
	}
	if r.command.left--; r.command.left > 0 {
		return
	}
	r.warn(&r.tombstones.TombstoneCount)
	r.tombstones.Restart()
	next := command{number: r.command.number, rows: r.command.rows, limit: r.page.size, left: r.page.size}
	if next.rows > 0 {
		next.limit, next.left = min(r.page.size, r.page.limit), next.rows
	}
	r.command = next
	r.command.from.Partition = append([]byte{}, partition...)
	for _, c := range r.plan.Table.Clustering {
		r.command.from.Clustering = append(r.command.from.Clustering, append([]byte{}, row[c.Index]...))
	}
}

// warn warns of a command that has read many tombstones.
func (r *reading) warn(c *store.TombstoneCount) {
	if int64(c.Tombstones) <= r.e.settings.TombstoneWarn {
		return
	}
	r.command.read = c
	text := []rune(r.commandText())
	if len(text) > maxCommandText {
		text = text[:maxCommandText]
	}
	r.out.Warnings = append(slices.Clip(r.out.Warnings), fmt.Sprintf(
		"Read %d live rows and %d tombstone cells for query %s; token %d (see tombstone_warn_threshold)",
		c.Live, c.Tombstones, string(text), types.Token(c.Partition)))
}

// failure is what the client is told of a read that was given up.
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

// limits are the command's limits as Cassandra prints them, with a space in front.
func (r *reading) limits() string {
	text := ""
	if r.command.rows > 0 {
		if r.command.limit != noLimit {
			text = fmt.Sprintf(" GROUP LIMIT %d", r.command.limit)
		}
		if r.page.perPartition != noLimit {
			text += fmt.Sprintf(" GROUP PER PARTITION LIMIT %d", r.page.perPartition)
		}
		return text + fmt.Sprintf(" LIMIT %d", r.command.rows)
	}
	if r.command.limit != math.MaxInt32 {
		text = fmt.Sprintf(" LIMIT %d", r.command.limit)
	} else if r.plan.AggregatesAll() {
		text = " "
	}
	if r.page.perPartition != noLimit {
		text += fmt.Sprintf(" PER PARTITION LIMIT %d", r.page.perPartition)
	}
	return text
}
