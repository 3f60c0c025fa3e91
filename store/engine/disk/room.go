package disk

import (
	"fmt"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// longestWait is how long a commit waits for a flush at most: who waits for its answer gives up not much later.
const longestWait = 5 * time.Second

// waitForRoom waits while too many memtables wait to be flushed, or the log has no segment for a commit. It says why
// there are no commits, if there are none.
func (e *Engine) waitForRoom(ops []engine.Op, size int) error {
	e.slowDown(size)
	var began time.Time
	for {
		if err := e.refused(); err != nil {
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
			defer time.AfterFunc(longestWait, e.changed.Broadcast).Stop()
		} else if time.Since(began) >= longestWait {
			return fmt.Errorf("%w: what was written before is not in tables yet", engine.ErrRefused)
		}
		e.changed.Wait()
	}
}

// isBehind reports whether a commit of so many bytes has to wait for a flush. Half of the last memtable is kept for
// small commits, so that they need not wait where others write much at a time.
func (e *Engine) isBehind(size int) bool {
	limit := e.o.Memtable / 2
	if size <= smallCommit {
		limit = e.o.Memtable
	}
	waiting := len(e.layers.frozen)
	return waiting > maxFrozen || waiting == maxFrozen && e.memtable.size >= limit
}

// How many bytes a small commit has at most, and how long slowDown delays a commit.
const (
	smallCommit   = 4 << 10
	shortestDelay = time.Millisecond
	smallDelay    = 5 * time.Millisecond
	longestDelay  = 20 * time.Millisecond
)

// slowDown delays a commit of so many bytes while a memtable is flushed, so that no more is written than is flushed
// meanwhile: otherwise all commits would have to wait at once until a flush is over. Small commits pay for small ones
// only, others for all. It releases the lock meanwhile.
func (e *Engine) slowDown(size int) {
	waiting := len(e.layers.frozen)
	if waiting == 0 {
		return
	}
	rate := 2 * e.flushRate // bytes a second: there is still room
	if waiting >= maxFrozen {
		rate = e.flushRate * 3 / 4
	}
	now, cost := time.Now(), time.Duration(int64(size+rowOverhead)*int64(time.Second)/rate)
	delay := e.owed.add(now, cost, longestDelay)
	if size <= smallCommit {
		delay = e.owedSmall.add(now, cost, smallDelay)
	}
	if delay > shortestDelay {
		e.mu.Unlock()
		time.Sleep(delay)
		e.mu.Lock()
	}
}

// debt is until when the commits that were made while a flush is under way are paid for by it.
type debt struct{ until time.Time }

// add adds a commit's cost and returns how long it takes to pay for all, which is not more than most.
func (d *debt) add(now time.Time, cost, most time.Duration) time.Duration {
	if d.until.Before(now) {
		d.until = now
	}
	if d.until = d.until.Add(cost); d.until.Sub(now) > most {
		d.until = now.Add(most)
	}
	return d.until.Sub(now)
}
