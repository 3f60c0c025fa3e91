package store

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
	"github.com/cqld/cqld/store/tombstones"
)

// deadRun is the current run of dead rows in a scan, and the state of the current row.
type deadRun struct {
	count       int
	first, last []byte // keys

	alive bool // the current row is alive
	gone  bool // it is not, and may be purged

	start, end []byte // of the scan, between two jumps
	edge       []byte // where the scan has jumped to, if the run begins there
	waiting    bool   // for the first key
	began      time.Time
}

// addDead adds a row that is not alive to the run, if it may be purged.
func (d *deadRun) addDead(key []byte) {
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

// scanRows takes the rows between two keys, and jumps over empty ranges.
func (r *reader) scanRows(start, end []byte) error {
	d, run, reverse := &r.store.deletions, &r.dead, r.read.Reverse
	for run.count, run.edge = 0, nil; ; {
		run.start, run.end = start, end
		jump := d.EmptyRanges().First(start, end, reverse, r.clock)
		switch {
		case jump == nil:
		case reverse:
			run.start, end = slices.MinFunc([][]byte{jump.End, end}, bytes.Compare), jump.Start
		default:
			run.end, start = slices.MaxFunc([][]byte{jump.Start, start}, bytes.Compare), jump.End
		}
		run.began, run.waiting = time.Now(), r.clock > 0
		err := r.src.Scan(run.start, run.end, engine.ScanOptions{Reverse: reverse}, r.calls.scanned)
		if run.waiting {
			r.endWait(nil)
		}
		if err != nil || r.done || jump == nil {
			r.endRun(nil)
			return err
		}
		if reverse {
			r.jump(run.start, end)
		} else {
			r.jump(run.end, start)
		}
		if bytes.Compare(start, end) >= 0 {
			r.endRun(nil)
			return nil
		}
	}
}

// jump goes on with the run of dead rows from one end of an empty range to the other. A long one ends.
func (r *reader) jump(from, to []byte) {
	if r.dead.count >= r.store.deletions.LongRun {
		r.endRun(from)
	}
	if r.dead.count == 0 {
		r.dead.edge = to
	}
}

// endWait is called at the first key of a scan, or at its end. After a long wait it hints at the range that the scan
// has passed.
func (r *reader) endWait(key []byte) {
	r.dead.waiting = false
	took := time.Since(r.dead.began)
	if took <= r.store.deletions.SlowStart {
		return
	}
	start, end := r.dead.start, r.dead.end
	switch {
	case key != nil && r.read.Reverse:
		start = append(bytes.Clone(key), 0)
	case key != nil:
		end = key
	}
	removed := max(int(took/tombstones.StepTime), r.store.deletions.LongRun)
	r.hint(tombstones.PurgeHint{Start: start, End: end, Removed: removed, Waited: true})
}

// endRun ends the run of dead rows, at an empty range unless edge is nil, and hints at a long one.
func (r *reader) endRun(edge []byte) {
	if d := &r.dead; d.count >= r.store.deletions.LongRun {
		first, last, low, high := d.first, d.last, d.edge, edge
		if r.read.Reverse {
			first, last, low, high = last, first, high, low
		}
		h := tombstones.PurgeHint{Start: first, End: append(last, 0), Removed: d.count}
		if low != nil {
			h.Start = low
		}
		if high != nil {
			h.End = high
		}
		r.hint(h)
	}
	r.dead.count, r.dead.edge = 0, nil
}

// hint hands a hint over, unless many are waiting.
func (r *reader) hint(h tombstones.PurgeHint) {
	if r.id == 0 || bytes.Compare(h.Start, h.End) >= 0 {
		return
	}
	h.Table, h.Id, h.Start, h.End = r.read.Table, r.id, bytes.Clone(h.Start), bytes.Clone(h.End)
	select {
	case r.store.purgeHints <- h:
	default:
	}
}

func (s *sweeper) followPurgeHints() {
	defer s.running.Done()
	for {
		select {
		case <-s.closing.Done():
			return
		case h := <-s.purgeHints:
			err := s.followPurgeHint(&h)
			if err != nil && s.closing.Err() == nil && !errors.Is(err, errRestored) && !errors.Is(err, engine.ErrClosed) {
				s.log.Error().Err(err).Msg("cannot purge dead rows")
			}
		}
	}
}

func (s *sweeper) followPurgeHint(h *tombstones.PurgeHint) error {
	era, state, t := s.restores.Load(), s.state.Load(), h.Table
	if state.catalog.Table(t.Keyspace, t.Name) != t {
		return nil // its definition may not be the one that the rows are of
	}
	isEmpty := false
	if s.cluster == nil {
		if !s.deletions.Watch(h) {
			return nil
		}
		defer func() { s.deletions.EndWatch(isEmpty) }()
		id := h.Id
		if t.View != nil {
			id = state.ids[t.View.BaseID] // whose writes write the view
		}
		s.usages.Of(id).AwaitWrites()
	}
	w := sweep{
		sweeper: s, era: era, id: h.Id, table: t, purger: rows.NewPurger(t, s.now().Unix()),
		due: math.MaxInt64, position: h.Start, end: h.End,
	}
	for more := !h.Waited; more; {
		var err error
		if more, err = w.chunk(s.closing); err != nil {
			return err
		}
	}
	return s.step(era, func() error {
		left, began := 0, time.Now()
		err := s.engine.Scan(h.Start, h.End, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
			s.deletions.Fill(key)
			left++
			return left <= tombstones.MaxLeft, s.closing.Err()
		})
		isEmpty = err == nil && left <= tombstones.MaxLeft && (!h.Waited || time.Since(began) > s.deletions.SlowStart/2)
		return err
	})
}
