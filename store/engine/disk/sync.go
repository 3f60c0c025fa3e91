package disk

import (
	"fmt"
	"sync"
	"time"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine"
)

// syncing has the commits that are acknowledged after the next sync of the log.
type syncing struct {
	mu      sync.Mutex
	waiting []func(error)
	wake    chan struct{} // has an element when a commit waits
}

// enqueue adds a commit.
func (s *syncing) enqueue(done func(error)) {
	s.mu.Lock()
	s.waiting = append(s.waiting, done)
	s.mu.Unlock()
	wake(s.wake)
}

// take returns the commits that wait.
func (s *syncing) take() []func(error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.waiting
	s.waiting = nil
	return all
}

// syncLog syncs the log until the engine is closed: for all commits that wait in the mode Batch, and every SyncEvery.
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
				e.acknowledge(done, err)
			}
		case <-tick.C:
			began := time.Now()
			e.noteSync(began, e.syncNow())
		}
	}
}

// acknowledge tells the caller of a commit the outcome. If that panics, the other commits still have theirs.
func (e *Engine) acknowledge(done func(error), outcome error) {
	defer e.Release(1)
	if err := panics.Call(func() error { done(outcome); return nil }); err != nil {
		panics.Log(&e.o.Log, err).Msg("what follows a commit panicked")
	}
}

// noteSync notes the outcome of a sync. While space is short it has the memtable flushed, because deletes free nothing
// in there, and the log freed.
func (e *Engine) noteSync(began time.Time, err error) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	if err == nil {
		e.synced = began
		e.Changed.Broadcast()
	}
	e.Forget()
	if e.freed || e.badger.IsFull() {
		if e.Memtable.Size > 0 && len(e.Layers.Frozen) < maxFrozen {
			e.freed, e.freeing = false, true
			e.Freeze()
		}
		wake(e.flushing)
	}
}

// syncNow syncs the log. If that fails there are no more commits, because it is unknown which ones are on disk.
func (e *Engine) syncNow() error {
	if err := e.Failed(); err != nil {
		return err
	}
	err := panics.Call(e.log.Sync)
	if err != nil {
		e.fail(err)
	}
	return err
}

// Sync returns when all commits that were acknowledged are on disk.
func (e *Engine) Sync() error {
	if err := e.Acquire(); err != nil {
		return err
	}
	defer e.Release(1)
	return e.syncNow()
}

// makeSegments makes the segments of the log before they are used.
func (e *Engine) makeSegments() {
	defer e.finished.Done()
	var retry <-chan time.Time
	for {
		select {
		case <-e.stop:
			return
		case <-e.making:
		case <-retry:
		}
		retry = nil
		err := panics.Call(func() error { return e.log.Prepare(e.badger.RoomForLog) })
		switch {
		case panics.Is(err): // half a segment may be there
			e.fail(err)
			return
		case err != nil:
			if e.noSegment.Swap(&err) == nil {
				e.o.Log.Error().Err(err).Msg("the log cannot be continued for now")
			}
			retry = time.After(retryEvery)
		case e.noSegment.Swap(nil) != nil:
			e.o.Log.Info().Msg("the log can be continued again")
		}
		e.wakeCommits()
	}
}

// wakeCommits makes the commits that wait look again why they do.
func (e *Engine) wakeCommits() {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	e.Changed.Broadcast()
}

// fail ends all commits.
func (e *Engine) fail(err error) {
	if e.Fail(err) {
		panics.Log(&e.o.Log, err).Msg("writes are refused from here on")
	}
	e.wakeCommits()
}
