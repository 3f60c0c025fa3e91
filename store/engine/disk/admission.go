package disk

import (
	"fmt"
	"time"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/memory"
)

// maxWait is how long a commit waits for a flush or a sync at most. It is less than the timeout of a write, because
// a client that is told that nothing was written may write again, and one whose time is over does not know.
const maxWait = 1500 * time.Millisecond

// Admit waits while the memtable is full and another one is still being flushed, while a sync of the log is late, or
// while the log has no segment for a commit. It says why there are no commits, if there are none. freeing is for a
// commit that frees space.
func (e *Engine) Admit(ops []engine.Op, size int, freeing bool) error {
	e.slowDown(size)
	var began time.Time
	for {
		if e.IsClosed() {
			return engine.ErrClosed
		}
		if err := e.refused(freeing); err != nil {
			return err
		}
		late := e.syncIsLate()
		if !late && !e.mustWait(size) {
			if e.log.Ready(ops) {
				e.freed = e.freed || freeing && e.badger.IsShort()
				return nil
			}
			if p := e.noSegment.Load(); p != nil {
				return refusal(*p)
			}
		}
		if began.IsZero() {
			began = time.Now()
			e.waits.Add(1)
			defer time.AfterFunc(e.o.maxWait, e.Changed.Broadcast).Stop()
		} else if time.Since(began) >= e.o.maxWait {
			if late {
				return fmt.Errorf("%w: earlier writes are not synced to disk yet", engine.ErrBehind)
			}
			return fmt.Errorf("%w: earlier writes are not in tables yet", engine.ErrBehind)
		}
		e.Changed.Wait()
	}
}

// syncIsLate reports whether a commit would be acknowledged too long after the last sync (I2).
func (e *Engine) syncIsLate() bool {
	return e.o.Sync == Periodic && time.Since(e.synced) > 2*e.o.SyncEvery
}

// mustWait reports whether a commit of so many bytes has to wait for a flush. A quarter of the memtable is kept for
// small commits, so that they need not wait where others write much at a time.
func (e *Engine) mustWait(size int) bool {
	limit := e.o.Memtable / 4 * 3
	if size <= smallCommit {
		limit = e.o.Memtable
	}
	return len(e.Layers.Frozen) >= maxFrozen && e.Memtable.Size >= limit
}

const (
	smallCommit = 4 << 10 // bytes of a small commit at most
	minDelay    = time.Millisecond
	maxDelay    = 100 * time.Millisecond
)

// slowDown is the backpressure while a memtable is flushed: it delays commits, the more the fuller the next memtable
// is, so that it is not full before the flush is over. It releases the lock meanwhile.
func (e *Engine) slowDown(size int) {
	if len(e.Layers.Frozen) == 0 {
		return
	}
	full := float64(e.Memtable.Size) / float64(e.o.Memtable)
	if delay := e.flow.delay(time.Now(), size, full); delay > minDelay {
		e.Mu.Unlock()
		time.Sleep(delay)
		e.Mu.Lock()
	}
}

// flow is the rate of commits while a memtable is flushed. Small commits wait for the cost of small ones only, others
// for that of all.
type flow struct {
	rate  float64 // bytes a second that the last flushes have written
	all   debt
	small debt
}

// The rate before the first flush, and the lowest rate.
const (
	firstRate = 32 << 20
	minRate   = 1 << 20
)

// flushed notes how long a flush took, unless it was short.
func (f *flow) flushed(size int64, took time.Duration) {
	if size >= minRate {
		f.rate = max(minRate, (f.rateNow()+float64(size)/took.Seconds())/2)
	}
}

// rateNow is the rate, or a guess before the first flush.
func (f *flow) rateNow() float64 {
	if f.rate == 0 {
		return firstRate
	}
	return f.rate
}

// delay is how long a commit of so many bytes has to wait. full is the part of the next memtable that is full: commits
// are admitted at twice the rate of flushes while it is empty, and at half of it when it is full.
func (f *flow) delay(now time.Time, size int, full float64) time.Duration {
	rate := f.rateNow() * max(0.5, 2-1.5*full)
	cost := time.Duration(float64(size+memory.RowOverhead) / rate * float64(time.Second))
	delay := f.all.charge(now, cost)
	if size <= smallCommit {
		delay = f.small.charge(now, cost)
	}
	return delay
}

// debt is the time at which the cost of all admitted commits is paid.
type debt struct{ until time.Time }

// charge adds a commit's cost and returns how long it takes to pay for all.
func (d *debt) charge(now time.Time, cost time.Duration) time.Duration {
	if d.until.Before(now) {
		d.until = now
	}
	if d.until = d.until.Add(cost); d.until.Sub(now) > maxDelay {
		d.until = now.Add(maxDelay)
	}
	return d.until.Sub(now)
}

// refused says why there are no commits, if there are none. freeing is for one that frees space.
func (e *Engine) refused(freeing bool) error {
	if err := e.Refused(); err != nil {
		return err
	}
	if p := e.stuck.Load(); p != nil && !freeing {
		return *p
	}
	return e.badger.Refusing(freeing)
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
