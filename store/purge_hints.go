package store

import (
	"bytes"
	"errors"
	"math"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// longRun is how many dead rows in a row make a read ask for a purge. The sweep would come by only later, and every
// read until then would go over them again, as at the head of a queue.
const longRun = 256

// purgeHint is a range of keys in which a read saw only rows that may be purged.
type purgeHint struct {
	table *schema.Table
	id    uint32
	first []byte
	last  []byte
}

// deadRows is the run of dead rows that a scan is in, and what is known of the row at hand.
type deadRows struct {
	count       int
	first, last []byte // keys

	alive bool // the row at hand is
	gone  bool // it is not, and may be purged
}

// add adds a row that is not alive to the run, if it may be purged.
func (d *deadRows) add(key []byte) {
	if !d.gone {
		return
	}
	if d.count == 0 {
		d.first = append(d.first[:0], key...)
	}
	d.count++
	d.last = append(d.last[:0], key...)
}

// isGone reports whether a row that is not alive may be purged as far as its head tells. cover is the timestamp up to
// which it is deleted.
func isGone(p *rows.Purger, h *rows.Head, cover int64) bool {
	switch {
	case h.Deletion.Timestamp != rows.NoTimestamp:
		return p.Due(h.Deletion.Second)
	case h.Marker.Timestamp != rows.NoTimestamp && h.Marker.Timestamp > cover:
		return p.ExpiryDue(h.Marker.Expiry)
	}
	return cover != rows.NoTimestamp
}

// hintPurge ends the run of dead rows, and has a long one purged. It is called at the end of a scan and at a live row.
func (r *reader) hintPurge() {
	d := &r.dead
	if d.count >= longRun && r.id != 0 {
		h := purgeHint{table: r.read.Table, id: r.id, first: bytes.Clone(d.first), last: bytes.Clone(d.last)}
		if bytes.Compare(h.first, h.last) > 0 {
			h.first, h.last = h.last, h.first
		}
		select {
		case r.store.purgeHints <- h:
		default: // enough are waiting
		}
	}
	d.count = 0
}

// followPurgeHints purges what reads hint at, until the store is closed.
func (s *Store) followPurgeHints() {
	defer s.purging.Done()
	for {
		select {
		case <-s.closing.Done():
			return
		case run := <-s.purgeHints:
			err := s.followPurgeHint(run)
			if errors.Is(err, errRestored) {
				continue
			}
			if err != nil && s.closing.Err() == nil && !errors.Is(err, engine.ErrClosed) {
				s.log.Error().Err(err).Msg("cannot purge dead rows")
			}
		}
	}
}

// followPurgeHint purges the rows of one range.
func (s *Store) followPurgeHint(run purgeHint) error {
	era := s.restores.Load()
	if t := run.table; s.state.Load().catalog.Table(t.Keyspace, t.Name) != t {
		return nil // its definition may not be the one that the rows are of
	}
	w := sweep{
		store: s, era: era, id: run.id, table: run.table, purger: rows.NewPurger(run.table, s.now().Unix()),
		due: math.MaxInt64, position: run.first, end: append(run.last, 0),
	}
	for {
		more, err := w.chunk(s.closing)
		if err != nil || !more {
			return err
		}
	}
}
