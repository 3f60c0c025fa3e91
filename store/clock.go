package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/cluster"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
	"github.com/cqld/cqld/store/usage"
)

// Now is the clock's time.
func (s *core) Now() time.Time { return s.now() }

// TimestampAt is a timestamp in microseconds for who has just asked for the time. It is later than all that it returned
// before, and later than writes from before the store was opened. Where nodes share the engine, it is later than all
// writes that any of them has acknowledged, and it may wait for the clock that they share.
func (s *core) TimestampAt(now time.Time) (int64, error) {
	if s.cluster != nil {
		return s.sharedTimestamp()
	}
	for {
		last := s.last.Load()
		ts := max(now.UnixMicro(), last+1)
		if s.last.CompareAndSwap(last, ts) {
			return ts, nil
		}
	}
}

// TimestampWaits reports whether TimestampAt may wait.
func (s *core) TimestampWaits() bool { return s.cluster != nil && s.cluster.TakesTime() }

func (s *core) sharedTimestamp() (int64, error) {
	ts, err := s.cluster.Timestamp(s.closing)
	if errors.Is(err, cluster.ErrLapsed) {
		err = errLapsed
	}
	for last := s.last.Load(); err == nil && last < ts && !s.last.CompareAndSwap(last, ts); last = s.last.Load() {
	}
	return ts, err
}

// boundMargin is how much later than the timestamp that moves it the stored bound is, in microseconds: a tenth of a
// second. After a crash the first timestamps may be that much later than the clock.
const boundMargin = 100_000

// loadTimestampBound makes new timestamps greater than the stored bound. So an earlier write never shadows a later
// one, even if the clock was set back while the store was closed.
func (s *core) loadTimestampBound() error {
	var bound int64
	_, err := s.engine.Get(boundKey, func(b []byte) error {
		var r rows.Reader
		if r.ReadHead(b) != nil || r.Marker.Timestamp < 0 {
			return errMeta
		}
		bound = r.Marker.Timestamp
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the bound of timestamps: %w", err)
	}
	s.last.Store(bound)
	s.bound.Store(bound)
	return nil
}

// withBound appends an operation that moves the bound, if a later timestamp was given. The returned bound counts after
// the commit; 0: it is not moved. The commits of a tenth of a second move it once, and concurrent ones at that moment.
func (s *core) withBound(ops []engine.Op) ([]engine.Op, int64) {
	last := s.last.Load()
	if last <= s.bound.Load() || s.cluster != nil {
		return ops, 0
	}
	bound := last + boundMargin
	return append(ops, boundOp(bound)), bound
}

// boundOp stores a bound, unless a later one is stored. The bound is the marker of a row: of two the later one stays,
// in whatever order commits take them.
func boundOp(bound int64) engine.Op {
	w := rows.Writer{Head: rows.NoHead}
	w.Marker.Timestamp = bound
	return engine.Op{Kind: engine.Merge, Key: boundKey, Value: w.Finish()}
}

func (s *core) boundMoved(bound int64) {
	for old := s.bound.Load(); old < bound && !s.bound.CompareAndSwap(old, bound); old = s.bound.Load() {
	}
}

// Estimate is roughly how much a table has.
type Estimate = usage.Estimate

// Estimate returns roughly how much a table has.
func (s *core) Estimate(t *schema.Table) Estimate {
	id, ok := s.current().ids[t.ID]
	if !ok {
		return Estimate{}
	}
	e := s.usages.Of(id).Estimate()
	if len(t.Clustering) == 0 {
		e.Partitions = e.Rows
	}
	return e
}
