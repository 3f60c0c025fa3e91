package disk

import (
	"fmt"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// maxWait is how long a commit waits for a flush at most: who waits for its answer gives up not much later.
const maxWait = 5 * time.Second

// waitForRoom waits while the memtable is full and another one is still being flushed, or the log has no segment for a
// commit. It says why there are no commits, if there are none. freeing is for a commit that frees space.
func (e *Engine) waitForRoom(ops []engine.Op, size int, freeing bool) error {
	e.slowDown(size)
	var began time.Time
	for {
		if e.closed {
			return engine.ErrClosed
		}
		if err := e.refused(freeing); err != nil {
			return err
		}
		if !e.isBehind(size) {
			if e.log.Ready(ops) {
				return nil
			}
			if p := e.noSegment.Load(); p != nil {
				return refusal(*p)
			}
		}
		if began.IsZero() {
			began = time.Now()
			e.waits.Add(1)
			defer time.AfterFunc(maxWait, e.changed.Broadcast).Stop()
		} else if time.Since(began) >= maxWait {
			return fmt.Errorf("%w: what was written before is not in tables yet", engine.ErrRefused)
		}
		e.changed.Wait()
	}
}

// isBehind reports whether a commit of so many bytes has to wait for a flush. A quarter of the memtable is kept for
// small commits, so that they need not wait where others write much at a time.
func (e *Engine) isBehind(size int) bool {
	limit := e.o.Memtable / 4 * 3
	if size <= smallCommit {
		limit = e.o.Memtable
	}
	return len(e.layers.frozen) >= maxFrozen && e.memtable.size >= limit
}

// How many bytes a small commit has at most, and how long slowDown delays a commit.
const (
	smallCommit = 4 << 10
	minDelay    = time.Millisecond
	maxDelay    = 100 * time.Millisecond
)

// slowDown delays a commit while a memtable is flushed, the more the fuller the next one is, so that it is not full
// before the flush is over: else all commits would have to wait at once. It releases the lock meanwhile.
func (e *Engine) slowDown(size int) {
	if len(e.layers.frozen) == 0 {
		return
	}
	full := float64(e.memtable.size) / float64(e.o.Memtable)
	if delay := e.pace.delay(time.Now(), size, full); delay > minDelay {
		e.mu.Unlock()
		time.Sleep(delay)
		e.mu.Lock()
	}
}

// pace is how fast commits may come while a memtable is flushed. Small commits pay for small ones only, others for all.
type pace struct {
	rate  float64 // bytes a second that the last flushes have written
	all   debt
	small debt
}

// The rate before the first flush, and what it is at least.
const (
	firstRate = 32 << 20
	minRate   = 1 << 20
)

// flushed notes how long a flush took.
func (p *pace) flushed(size int64, took time.Duration) {
	if size < minRate {
		return // which says little
	}
	p.rate = max(minRate, (p.known()+float64(size)/took.Seconds())/2)
}

// known is the rate, or a guess before the first flush.
func (p *pace) known() float64 {
	if p.rate == 0 {
		return firstRate
	}
	return p.rate
}

// delay is how long a commit of so many bytes has to wait where a part of the next memtable is full: they come twice as
// fast as they are flushed into an empty one, and half as fast into a full one.
func (p *pace) delay(now time.Time, size int, full float64) time.Duration {
	rate := p.known() * max(0.5, 2-1.5*full)
	cost := time.Duration(float64(size+rowOverhead) / rate * float64(time.Second))
	delay := p.all.add(now, cost)
	if size <= smallCommit {
		delay = p.small.add(now, cost)
	}
	return delay
}

// debt is until when the commits that were made while a flush is under way are paid for by it.
type debt struct{ until time.Time }

// add adds a commit's cost and returns how long it takes to pay for all.
func (d *debt) add(now time.Time, cost time.Duration) time.Duration {
	if d.until.Before(now) {
		d.until = now
	}
	if d.until = d.until.Add(cost); d.until.Sub(now) > maxDelay {
		d.until = now.Add(maxDelay)
	}
	return d.until.Sub(now)
}
