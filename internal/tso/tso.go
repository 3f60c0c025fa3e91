// Package tso stands in for the clock of a TiKV cluster in tests: the timestamp oracle of a placement driver (PD). It
// changes its leader without a pause in between, as `pd-ctl member leader transfer` does in every rolling upgrade: the
// next leader begins at the bound that the last one has stored, up to five seconds in the future, and its clock stands
// until real time has caught up.
package tso

import (
	"sync"
	"time"
)

// Oracle gives timestamps: milliseconds, and a counter that begins again when these change. The zero value moves its
// milliseconds once per millisecond. Step and Lag are set before the first timestamp is taken.
type Oracle struct {
	Step time.Duration // of the milliseconds; PD's default is 50 ms
	Lag  time.Duration // behind real time, like the clock of an overloaded PD

	mu                sync.Mutex
	physical, logical int64
}

// maxCount bounds the counter: PD's has 18 bits.
const maxCount = 1 << 18

// Next gives count timestamps and returns the last one. When the counter is used up, the milliseconds move on by one,
// also where they would stand.
func (o *Oracle) Next(count int64) (physical, logical int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now().Add(-o.Lag).UnixMilli()
	if now -= now % max(1, o.Step.Milliseconds()); now > o.physical {
		o.physical, o.logical = now, 0
	}
	if o.logical += count; o.logical >= maxCount {
		o.physical, o.logical = o.physical+1, count
	}
	return o.physical, o.logical
}

// Transfer makes another leader give the timestamps. Its clock begins that much later than that of the last one.
func (o *Oracle) Transfer(jump time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.physical, o.logical = o.physical+max(1, jump.Milliseconds()), 0
}

// Begin makes timestamps begin at a stored bound, in milliseconds.
func (o *Oracle) Begin(bound int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.physical, o.logical = max(o.physical, bound), 0
}
