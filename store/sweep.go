package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
	"github.com/cqld/cqld/store/tombstones"
)

// A sweep goes over a table's rows in the background, a chunk at a time, and counts them. It removes data that no read
// can see: expired values, and tombstones older than the table's gc_grace_seconds. Tombstones of partitions and ranges
// go after the last row, when they hide nothing any more.
//
// After each chunk it rests four times as long as the chunk took, so it uses a fifth of a processor at most.
const (
	defaultSweepEvery = 10 * time.Second
	pauseFactor       = 4
)

// SweepMetrics counts the work of sweeps since the store was opened.
type SweepMetrics struct {
	Sweeps    uint64 // that are complete
	Rows      uint64 // that were looked at
	Removed   uint64 // rows and tombstones
	Rewritten uint64 // rows that have lost a part
	Freed     uint64 // bytes of removed and rewritten rows
}

// sweeper purges and counts the rows of tables.
type sweeper struct {
	*core
	sweeping   sync.Mutex    // held by a sweep
	recount    chan struct{} // wakes it before the next regular look at the tables
	underSweep atomic.Pointer[sweep]
	swept      sweepCounters
}

// SweepMetrics returns the counts of sweeps.
func (s *sweeper) SweepMetrics() SweepMetrics {
	c := &s.swept
	return SweepMetrics{
		Sweeps: c.sweeps.Load(), Rows: c.rows.Load(), Removed: c.removed.Load(),
		Rewritten: c.rewritten.Load(), Freed: c.freed.Load(),
	}
}

// SweepProgress returns how far the sweep has come that is under way, or nil.
func (s *sweeper) SweepProgress() *SweepProgress {
	w := s.underSweep.Load()
	if w == nil {
		return nil
	}
	p := w.progress
	p.Rows = w.looked.Load()
	return &p
}

func (s *sweeper) sweepTables(every time.Duration) {
	defer s.running.Done()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-s.closing.Done():
			return
		case <-ticker.C:
		case <-s.recount:
		}
		if !s.leads() {
			continue
		}
		err := s.sweepAll(s.closing, pauseFactor)
		if err != nil && s.closing.Err() == nil && !errors.Is(err, engine.ErrClosed) {
			panics.Log(&s.log, err).Msg("cannot sweep a table")
		}
	}
}

// Sweep sweeps all tables that want it, without pauses.
func (s *sweeper) Sweep(ctx context.Context) error { return s.sweepAll(ctx, 0) }

// sweepAll sweeps one table after the other. Only one sweepAll runs at a time. A table whose sweep panics has its turn
// in the next round.
func (s *sweeper) sweepAll(ctx context.Context, pause int) (panicked error) {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	era := s.restores.Load()
	for _, k := range s.state.Load().catalog.Keyspaces() {
		for _, t := range append(k.SortedTables(), k.SortedViews()...) {
			err := panics.Call(func() error { return s.sweepOne(ctx, t, era, pause) })
			if errors.Is(err, errRestored) {
				return panicked // the restored rows are swept later
			}
			if err == nil {
				continue
			}
			if err = fmt.Errorf("sweep %s.%s: %w", t.Keyspace, t.Name, err); !panics.Is(err) {
				return err
			}
			panicked = cmp.Or(panicked, err)
		}
	}
	return panicked
}

// sweepOne sweeps a table that wants it.
func (s *sweeper) sweepOne(ctx context.Context, t *schema.Table, era uint64, pause int) error {
	id, stored := s.state.Load().ids[t.ID]
	if !stored || !s.wantsSweep(id) {
		return nil
	}
	w := sweep{core: s.core, swept: &s.swept, era: era, id: id, table: t, usage: s.usages.Of(id), pause: pause}
	w.progress = SweepProgress{Table: t, Began: s.now(), Total: s.Estimate(t).Rows}
	s.underSweep.Store(&w)
	defer s.underSweep.Store(nil)
	return w.sweepTable(ctx)
}

// wantsSweep reports whether a table should be swept. Writes of other nodes to a shared engine are unknown here, so
// each table is swept once an hour.
func (s *sweeper) wantsSweep(id uint32) bool {
	u, now := s.usages.Of(id), s.now().Unix()
	return u.WantsSweep(now) || s.cluster != nil && u.SweptBefore(now-sharedSweepSeconds)
}

// sharedSweepSeconds is how often tables of a shared engine are swept.
const sharedSweepSeconds = 3600

// Recount makes the sweeper count a table soon if its estimate may be a tenth off.
func (s *sweeper) Recount(t *schema.Table) {
	id, stored := s.state.Load().ids[t.ID]
	if !stored || !s.usages.Of(id).Recount(s.now().Unix()) {
		return
	}
	select {
	case s.recount <- struct{}{}:
	default: // it is going to look at all tables
	}
}

// noteChanges schedules a sweep of tables whose new definition allows more to be purged: columns were dropped, or
// gc_grace_seconds changed.
func (s *core) noteChanges(old, next *schema.Catalog) {
	for _, k := range next.Keyspaces() {
		before := old.Keyspace(k.Name)
		if before == nil || before == k {
			continue
		}
		for name, t := range k.Tables {
			was := before.Tables[name]
			if was == nil || was == t || was.StoreID != t.StoreID {
				continue
			}
			if t.Loses() || was.Options.GCGraceSeconds != t.Options.GCGraceSeconds {
				s.usages.Of(uint32(t.StoreID)).NoteDue(s.now().Unix())
			}
		}
	}
}

func (s *sweeper) followPurgeHints() {
	defer s.running.Done()
	for {
		select {
		case <-s.closing.Done():
			return
		case h := <-s.purgeHints:
			err := panics.Call(func() error { return s.followPurgeHint(&h) })
			if err != nil && s.closing.Err() == nil && !errors.Is(err, errRestored) && !errors.Is(err, engine.ErrClosed) {
				panics.Log(&s.log, err).Str("table", h.Table.Keyspace+"."+h.Table.Name).Msg("cannot purge dead rows")
			}
		}
	}
}

func (s *sweeper) followPurgeHint(h *tombstones.PurgeHint) error {
	era, state, t := s.restores.Load(), s.state.Load(), h.Table
	if state.catalog.Table(t.Keyspace, t.Name) != t {
		return nil // its definition may not be the one that the rows are of
	}
	isEmpty, watched := false, s.cluster == nil
	endWatch := func() {
		if watched {
			watched = false
			s.deletions.EndWatch(isEmpty)
		}
	}
	if watched {
		if !s.deletions.Watch(h) {
			return nil
		}
		defer endWatch()
		id := h.Id
		if t.View != nil {
			id = state.ids[t.View.BaseID] // whose writes write the view
		}
		s.usages.Of(id).AwaitWrites()
	}
	w := sweep{
		core: s.core, swept: &s.swept, era: era, id: h.Id, table: t, purger: rows.NewPurger(t, s.now().Unix()),
		due: math.MaxInt64, position: h.Start, end: h.End,
	}
	if watched && !h.Waited {
		err := s.step(era, func() (err error) {
			isEmpty, err = w.allDead(h.Start, h.End)
			return err
		})
		if err != nil {
			return err
		}
		if isEmpty {
			endWatch()
		}
	}
	for more := !h.Waited; more; {
		var err error
		if more, err = w.chunk(s.closing); err != nil {
			return err
		}
	}
	if isEmpty {
		return nil
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
