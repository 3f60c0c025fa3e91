package store

import (
	"bytes"
	"errors"
	"math"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// A read that has to pass many dead rows, as at the head of a queue, asks for them to be purged at once: the sweep would
// come by only later, and every read until then would pass them again.
const longRun = 256 // rows

// deadRun is a range of keys between which a read saw only rows that may be purged.
type deadRun struct {
	table *schema.Table
	id    uint32
	first []byte
	last  []byte
}

// deadRows follows the dead rows of a scan.
type deadRows struct {
	count       int
	first, last []byte
}

// pass notes a row that no one can see. gone says that nothing has to be kept of it either.
func (d *deadRows) pass(key []byte, gone bool) {
	if !gone {
		return
	}
	if d.count == 0 {
		d.first = append(d.first[:0], key...)
	}
	d.count++
	d.last = append(d.last[:0], key...)
}

// isGone reports whether a row that is not seen may be purged as far as its head tells.
func (r *reader) isGone(cover int64) bool {
	p := r.purger()
	h := &r.values.Head
	switch {
	case h.Deletion.Timestamp != rows.NoTimestamp:
		return p.Due(h.Deletion.Second)
	case h.Marker.Timestamp != rows.NoTimestamp && h.Marker.Timestamp > cover:
		return p.ExpiryDue(h.Marker.Expiry)
	}
	return cover != rows.NoTimestamp
}

// endRun is called when a scan is over or has come to a row that lives.
func (r *reader) endRun() {
	d := &r.dead
	if d.count >= longRun && r.id != 0 {
		run := deadRun{table: r.table, id: r.id, first: bytes.Clone(d.first), last: bytes.Clone(d.last)}
		if bytes.Compare(run.first, run.last) > 0 {
			run.first, run.last = run.last, run.first
		}
		select {
		case r.store.deadRuns <- run:
		default: // enough are waiting
		}
	}
	d.count = 0
}

// purgeRuns purges what reads ask for, until the store is closed.
func (s *Store) purgeRuns() {
	defer s.purging.Done()
	for {
		select {
		case <-s.closing.Done():
			return
		case run := <-s.deadRuns:
			err := s.purgeRun(run)
			if err != nil && s.closing.Err() == nil && !errors.Is(err, engine.ErrClosed) {
				s.log.Error().Err(err).Msg("cannot purge dead rows")
			}
		}
	}
}

// purgeRun purges the rows of one run.
func (s *Store) purgeRun(run deadRun) error {
	w := sweep{
		store: s, id: run.id, table: run.table, purger: rows.NewPurger(run.table, s.now().Unix()), due: math.MaxInt64,
		position: run.first, end: append(run.last, 0),
	}
	for {
		more, err := w.chunk(s.closing)
		if err != nil || !more {
			return err
		}
	}
}
