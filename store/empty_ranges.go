package store

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// An engine keeps the keys that were removed until a compaction comes by, and a scan steps over each of them: at the
// head of a queue that is nearly all that a read does. So reads jump over ranges of keys that are known to be empty.
//
// A read hints at a range in which it passed many dead rows, or waited long for the first key. One goroutine follows
// the hints. It notes the range, so that writers take out of it what they are about to write, waits until writes have
// ended that had begun before, purges the rows, and looks which keys are left. The rest of the range is empty until
// something is written into it, whatever else happens to the table.
const (
	longRun   = 256                    // removed keys in a row that are worth a purge or a jump
	slowStart = time.Millisecond       // a scan that takes longer to its first key may have stepped over removed ones
	stepTime  = 250 * time.Nanosecond  // about what each of them takes
	maxEmpty  = 256                    // ranges
	maxEdges  = 2 << 10                // bytes of the first and the last key of a range
	maxLeft   = 32                     // keys in a range that is emptied
	emptying  = uint64(math.MaxUint64) // the time since which a range is empty that is being emptied
)

// emptyRange is a range of keys, from start to before end, in which the engine has none.
type emptyRange struct {
	start, end []byte
	removed    int // about how many keys were, or will be
	since      uint64
}

// emptyRanges are in order and do not overlap. They are never changed.
type emptyRanges []emptyRange

func (d *deletions) emptyRanges() emptyRanges {
	if e := d.empty.Load(); e != nil {
		return *e
	}
	return nil
}

// at returns the place of the first range that ends behind a key, and whether the key is in it.
func (e emptyRanges) at(key []byte) (int, bool) {
	i := sort.Search(len(e), func(i int) bool { return bytes.Compare(key, e[i].end) < 0 })
	return i, i < len(e) && bytes.Compare(e[i].start, key) <= 0
}

// first returns the first range in the way of a scan that asked the clock before it chose its snapshot, or nil.
func (e emptyRanges) first(start, end []byte, reverse bool, clock uint64) (found *emptyRange) {
	i, _ := e.at(start)
	for ; i < len(e) && bytes.Compare(e[i].start, end) < 0; i++ {
		if e[i].since <= clock {
			if found = &e[i]; !reverse {
				break
			}
		}
	}
	return found
}

// replaceEmpty puts other ranges in place of those from i to before j, unless too few keys were removed in them. If
// there are too many ranges, one goes in which the fewest were. d.mu is held.
func (d *deletions) replaceEmpty(i, j int, with ...emptyRange) {
	e := d.emptyRanges()
	with = slices.DeleteFunc(with, func(x emptyRange) bool { return x.removed < d.longRun })
	if e = slices.Concat(e[:i], with, e[j:]); len(e) > maxEmpty {
		fewest := 0
		for i := range e {
			if e[i].removed < e[fewest].removed {
				fewest = i
			}
		}
		e = slices.Delete(e, fewest, fewest+1)
	}
	d.empty.Store(&e)
}

// fill takes a key out of the empty ranges, before it is written.
func (d *deletions) fill(key []byte) {
	if _, in := d.emptyRanges().at(key); !in {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.emptyRanges()
	if i, in := e.at(key); in {
		left, right := e[i], e[i]
		left.end, right.start = bytes.Clone(key), append(bytes.Clone(key), 0)
		left.removed /= 2
		right.removed -= left.removed
		d.replaceEmpty(i, i+1, left, right)
	}
}

// watch notes a range that is being emptied, together with the empty ranges that a part of it is in. It reports false
// if one of them has all of it.
func (d *deletions) watch(h *purgeHint) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.emptyRanges()
	i, _ := e.at(h.start)
	j := i
	for ; j < len(e) && bytes.Compare(e[j].start, h.end) < 0; j++ {
		x := &e[j]
		if h.waited || bytes.Compare(x.start, h.start) <= 0 && bytes.Compare(h.end, x.end) <= 0 {
			return false
		}
		h.start = slices.MinFunc([][]byte{h.start, x.start}, bytes.Compare)
		h.end = slices.MaxFunc([][]byte{h.end, x.end}, bytes.Compare)
		h.removed += x.removed
	}
	if len(h.start)+len(h.end) <= maxEdges {
		d.replaceEmpty(i, j, emptyRange{h.start, h.end, h.removed, emptying})
	}
	return true
}

// endWatch lets reads jump over the rest of the range that was emptied, or forgets it. Ranges that meet are united.
func (d *deletions) endWatch(isEmpty bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.tick()
	var e emptyRanges
	for _, x := range d.emptyRanges() {
		if x.since == emptying {
			if !isEmpty {
				continue
			}
			x.since = now
		}
		if n := len(e) - 1; n >= 0 && bytes.Equal(e[n].end, x.start) {
			x.start, x.removed, x.since = e[n].start, e[n].removed+x.removed, max(e[n].since, x.since)
			e = e[:n]
		}
		e = append(e, x)
	}
	d.empty.Store(&e)
}

// deadRun is the run of dead rows that a scan is in, and what is known of the row at hand.
type deadRun struct {
	count       int
	first, last []byte // keys

	alive bool // the row at hand is
	gone  bool // it is not, and may be purged

	start, end []byte // of the scan, between two jumps
	edge       []byte // where the scan has jumped to, if the run begins there
	waiting    bool   // for the first key
	began      time.Time
}

// add adds a row that is not alive to the run, if it may be purged.
func (d *deadRun) add(key []byte) {
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
		jump := d.emptyRanges().first(start, end, reverse, r.clock)
		switch {
		case jump == nil:
		case reverse:
			run.start, end = slices.MinFunc([][]byte{jump.end, end}, bytes.Compare), jump.start
		default:
			run.end, start = slices.MaxFunc([][]byte{jump.start, start}, bytes.Compare), jump.end
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
	if r.dead.count >= r.store.deletions.longRun {
		r.endRun(from)
	}
	if r.dead.count == 0 {
		r.dead.edge = to
	}
}

// endWait ends the time until the first key of a scan, or until its end, and hints at what it has stepped over.
func (r *reader) endWait(key []byte) {
	r.dead.waiting = false
	took := time.Since(r.dead.began)
	if took <= r.store.deletions.slowStart {
		return
	}
	start, end := r.dead.start, r.dead.end
	switch {
	case key != nil && r.read.Reverse:
		start = append(bytes.Clone(key), 0)
	case key != nil:
		end = key
	}
	r.hint(purgeHint{start: start, end: end, removed: max(int(took/stepTime), r.store.deletions.longRun), waited: true})
}

// endRun ends the run of dead rows, at an empty range unless edge is nil, and hints at a long one.
func (r *reader) endRun(edge []byte) {
	if d := &r.dead; d.count >= r.store.deletions.longRun {
		first, last, low, high := d.first, d.last, d.edge, edge
		if r.read.Reverse {
			first, last, low, high = last, first, high, low
		}
		h := purgeHint{start: first, end: append(last, 0), removed: d.count}
		if low != nil {
			h.start = low
		}
		if high != nil {
			h.end = high
		}
		r.hint(h)
	}
	r.dead.count, r.dead.edge = 0, nil
}

// purgeHint is a range of keys in which a read has seen only rows that may be purged.
type purgeHint struct {
	table      *schema.Table
	id         uint32
	start, end []byte
	removed    int  // about how many keys are, or will be
	waited     bool // the read has seen nothing at all
}

// hint hands a hint over, unless many are waiting.
func (r *reader) hint(h purgeHint) {
	if r.id == 0 || bytes.Compare(h.start, h.end) >= 0 {
		return
	}
	h.table, h.id, h.start, h.end = r.read.Table, r.id, bytes.Clone(h.start), bytes.Clone(h.end)
	select {
	case r.store.purgeHints <- h:
	default:
	}
}

// followPurgeHints purges what reads hint at, until the store is closed.
func (s *Store) followPurgeHints() {
	defer s.purging.Done()
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

// followPurgeHint purges the rows of a range, and lets reads jump over it.
func (s *Store) followPurgeHint(h *purgeHint) error {
	era, state, t := s.restores.Load(), s.state.Load(), h.table
	if state.catalog.Table(t.Keyspace, t.Name) != t {
		return nil // its definition may not be the one that the rows are of
	}
	isEmpty := false
	if s.cluster == nil {
		if !s.deletions.watch(h) {
			return nil
		}
		defer func() { s.deletions.endWatch(isEmpty) }()
		id := h.id
		if t.View != nil {
			id = state.ids[t.View.BaseID] // whose writes write the view
		}
		s.usages.of(id).wait()
	}
	w := sweep{
		store: s, era: era, id: h.id, table: t, purger: rows.NewPurger(t, s.now().Unix()),
		due: math.MaxInt64, position: h.start, end: h.end,
	}
	for more := !h.waited; more; {
		var err error
		if more, err = w.chunk(s.closing); err != nil {
			return err
		}
	}
	return s.step(era, func() error {
		left, began := 0, time.Now()
		err := s.engine.Scan(h.start, h.end, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
			s.deletions.fill(key)
			left++
			return left <= maxLeft, s.closing.Err()
		})
		isEmpty = err == nil && left <= maxLeft && (!h.waited || time.Since(began) > s.deletions.slowStart/2)
		return err
	})
}
