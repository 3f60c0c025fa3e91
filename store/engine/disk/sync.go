package disk

import (
	"fmt"
	"sync"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// syncing has the commits that are answered when the log is synced.
type syncing struct {
	mu      sync.Mutex
	waiting []func(error)
	spare   []func(error) // an empty slice to be used again
	wake    chan struct{} // has an element when somebody waits
}

// add has done called after a sync.
func (s *syncing) add(done func(error)) {
	s.mu.Lock()
	s.waiting = append(s.waiting, done)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// take returns all who wait.
func (s *syncing) take() []func(error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.waiting
	s.waiting, s.spare = s.spare[:0], nil
	return all
}

// giveBack takes back what take returned.
func (s *syncing) giveBack(all []func(error)) {
	clear(all)
	s.mu.Lock()
	s.spare = all[:0]
	s.mu.Unlock()
}

// syncLog syncs the log until the engine is closed: for all commits that wait in the mode Batch, and now and then in
// the mode Periodic.
func (e *Engine) syncLog() {
	defer e.finished.Done()
	tick := time.NewTicker(e.o.SyncEvery)
	defer tick.Stop()
	for {
		select {
		case <-e.stop:
			return
		case <-e.syncing.wake:
			all := e.syncing.take()
			err := e.syncNow()
			if err != nil {
				err = fmt.Errorf("%w: %w", engine.ErrUnknown, err)
			}
			for _, done := range all {
				done(err)
			}
			e.under.Add(-int64(len(all)))
			e.syncing.giveBack(all)
		case <-tick.C:
			_ = e.syncNow() // which notes that it has failed
			e.mu.Lock()
			e.forget()
			e.mu.Unlock()
		}
	}
}

// syncNow syncs the log. If that fails there are no more commits: nobody knows what is on disk.
func (e *Engine) syncNow() error {
	if p := e.failed.Load(); p != nil {
		return *p
	}
	err := e.log.Sync()
	if err != nil {
		e.fail(err)
	}
	return err
}

// Sync returns when all commits that were answered are on disk.
func (e *Engine) Sync() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return engine.ErrClosed
	}
	e.under.Add(1) // so that Close waits
	e.mu.Unlock()
	defer e.under.Add(-1)
	return e.syncNow()
}

// makeSegments makes the segments of the log before they are used.
func (e *Engine) makeSegments() {
	defer e.finished.Done()
	var again <-chan time.Time
	for {
		select {
		case <-e.stop:
			return
		case <-e.making:
		case <-again:
		}
		again = nil
		err := e.log.Prepare()
		e.mu.Lock()
		if err == nil {
			if e.noSegment.Swap(nil) != nil {
				e.o.Log.Info().Msg("the log can be continued again")
			}
		} else {
			if e.noSegment.Swap(&err) == nil {
				e.o.Log.Error().Err(err).Msg("the log cannot be continued for now")
			}
			again = time.After(retryEvery)
		}
		e.changed.Broadcast()
		e.mu.Unlock()
	}
}

// fail ends all commits.
func (e *Engine) fail(err error) {
	if e.failed.CompareAndSwap(nil, &err) {
		e.o.Log.Error().Err(err).Msg("writes are refused from here on")
	}
	e.mu.Lock()
	e.changed.Broadcast()
	e.mu.Unlock()
}

// refused says why there are no commits, if there are none. freeing is for one that frees space.
func (e *Engine) refused(freeing bool) error {
	if p := e.failed.Load(); p != nil {
		return fmt.Errorf("%w: no more writes until the data is opened again: %w", engine.ErrRefused, *p)
	}
	if p := e.stuck.Load(); p != nil && !freeing {
		return *p
	}
	return e.below.Refusing(freeing)
}

// Refusing says why commits are refused at the moment.
func (e *Engine) Refusing() error {
	if err := e.refused(false); err != nil {
		return err
	}
	if p := e.noSegment.Load(); p != nil {
		return refusal(*p)
	}
	return nil
}

// Metrics are what the engine counts.
type Metrics struct {
	MemtableBytes   int64  // of rows that are not in tables
	MemtablesFrozen int    // that wait to be written to tables
	LogSegments     int    // files of the commit log
	LogBytes        int64  // of commits in it
	Flushes         uint64 // memtables that were written to tables
	Waits           uint64 // commits that had to wait for that
}

// Metrics counts.
func (e *Engine) Metrics() Metrics {
	m := Metrics{Flushes: e.flushes.Load(), Waits: e.waits.Load()}
	m.LogSegments, m.LogBytes = e.log.Size()
	e.mu.Lock()
	defer e.mu.Unlock()
	m.MemtableBytes, m.MemtablesFrozen = e.memtable.size, len(e.layers.frozen)
	for _, f := range e.layers.frozen {
		m.MemtableBytes += f.size
	}
	return m
}
