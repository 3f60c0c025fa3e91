package badger

import (
	"runtime"
	"sync/atomic"
	"time"
)

// readers knows the oldest version that a read under way may need, without a lock or a list: reads
// count themselves in the current epoch, of which at most two have reads at a time. An epoch begins only
// when no read is left in the one before the last, so every read under way began at or after the first
// version of the last epoch.
type readers struct {
	epoch  atomic.Uint64
	counts [2]counter // by the epoch's last bit
	first  uint64     // the version published when the current epoch began; the writer's
	closed atomic.Bool
}

// counter has a cache line of its own.
type counter struct {
	n atomic.Int64
	_ [56]byte
}

// enter counts a read in; the caller chooses its snapshot after that, and calls leave on the counter
// when it is done. It returns nil when the engine is closed.
func (r *readers) enter() *counter {
	for {
		e := r.epoch.Load()
		c := &r.counts[e&1]
		c.n.Add(1)
		if r.closed.Load() {
			c.leave()
			return nil
		}
		if r.epoch.Load() == e {
			return c
		}
		c.leave()
	}
}

func (c *counter) leave() { c.n.Add(-1) }

// advance begins another epoch if it can, given the version that is published. It returns the version
// that no read under way is older than, and whether that is news. Only the writer calls it.
func (r *readers) advance(published uint64) (oldest uint64, ok bool) {
	e := r.epoch.Load()
	if r.counts[(e+1)&1].n.Load() != 0 {
		return 0, false
	}
	oldest, r.first = r.first, published
	r.epoch.Store(e + 1)
	return oldest, true
}

// close refuses further reads and waits for those under way.
func (r *readers) close() {
	r.closed.Store(true)
	for i := 0; r.counts[0].n.Load() != 0 || r.counts[1].n.Load() != 0; i++ {
		if i < 100 {
			runtime.Gosched()
		} else {
			time.Sleep(time.Millisecond)
		}
	}
}
