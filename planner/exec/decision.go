package exec

import (
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/store/pace"
)

// Decision shows how far a conditional write has got, so that whoever waits for it can give it up and tell the client
// whether it may have been stored.
type Decision struct {
	// Until is when the time of the write is over; zero: never.
	Until time.Time

	stage   atomic.Int32
	repeats atomic.Int32 // how often it was decided again, because another write came in between
}

// The stages of a decision.
const (
	undecided int32 = iota
	deciding        // rows are read and compared
	decided         // what is to be written has been handed over
	givenUp         // nothing will be written
)

// longestDecision is how long it may take to decide: other writes of the store wait meanwhile.
const longestDecision = time.Second

// begin notes that rows are about to be read, and returns when that has to be over. It fails if the time of the write
// is over.
func (d *Decision) begin() (until time.Time, err error) {
	now := time.Now()
	until = now.Add(longestDecision)
	if d == nil {
		return until, nil
	}
	if !d.Until.IsZero() && d.Until.Before(until) {
		until = d.Until
	}
	if now.After(until) {
		return until, pace.ErrTimeout
	}
	for {
		stage := d.stage.Load()
		if stage == givenUp {
			return until, pace.ErrTimeout
		}
		if d.stage.CompareAndSwap(stage, deciding) {
			if stage != undecided {
				d.repeats.Add(1)
			}
			return until, nil
		}
	}
}

// end notes that the write is decided. It fails if the write was given up meanwhile: then nothing may be written.
func (d *Decision) end() error {
	if d == nil || d.stage.CompareAndSwap(deciding, decided) {
		return nil
	}
	return pace.ErrTimeout
}

// contentions is how often the write was decided again.
func (d *Decision) contentions() int {
	if d == nil {
		return 0
	}
	return int(d.repeats.Load())
}

// GiveUp ends a conditional write whose time is over, unless it is decided, and returns what the client is told. level
// is the serial consistency level.
func (d *Decision) GiveUp(level cqlerr.Consistency) *cqlerr.Error {
	if d.stage.CompareAndSwap(undecided, givenUp) || d.stage.CompareAndSwap(deciding, givenUp) ||
		d.stage.Load() == givenUp {
		return cqlerr.CASTimedOut(level, d.contentions())
	}
	return cqlerr.CASUnknown(level)
}
