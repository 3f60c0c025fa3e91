package store

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// Now is the clock's time.
func (s *Store) Now() time.Time { return s.now() }

// Timestamp is the current time in microseconds, later than any it returned before, and later than those of decisions
// before the store was opened.
func (s *Store) Timestamp() int64 { return s.TimestampAt(s.now()) }

// TimestampAt is Timestamp for who has just asked for the time.
func (s *Store) TimestampAt(now time.Time) int64 {
	for {
		last := s.last.Load()
		ts := max(now.UnixMicro(), last+1)
		if s.last.CompareAndSwap(last, ts) {
			return ts
		}
	}
}

// boundAhead is how far the stored bound is ahead of the timestamp that moves it, in microseconds: a tenth of a second.
// After a crash the first timestamps may be that much ahead of the clock.
const boundAhead = 100_000

// loadTimestampBound makes timestamps go on behind the stored bound, so that no decision gets the timestamp of an
// earlier one, or one before it, though the clock was put back while the store was closed.
func (s *Store) loadTimestampBound() error {
	var bound int64
	_, err := s.engine.Get(boundKey, func(b []byte) error {
		if len(b) != 8 {
			return errMeta
		}
		bound = int64(binary.BigEndian.Uint64(b))
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the bound of timestamps: %w", err)
	}
	s.last.Store(bound)
	s.bound.Store(bound)
	return nil
}

// moveBound stores a bound with a decision that has a timestamp above the stored one. It returns the bound, which
// counts when the decision is written; 0: it was not moved.
func (s *Store) moveBound(txn engine.Txn) int64 {
	last := s.last.Load()
	if last <= s.bound.Load() {
		return 0
	}
	bound := last + boundAhead
	op := boundOp(bound)
	txn.Put(op.Key, op.Value)
	return bound
}

// boundOp stores a bound.
func boundOp(bound int64) engine.Op {
	return engine.Op{Kind: engine.Put, Key: boundKey, Value: binary.BigEndian.AppendUint64(nil, uint64(bound))}
}

// boundMoved notes that a bound is stored.
func (s *Store) boundMoved(bound int64) {
	for old := s.bound.Load(); old < bound && !s.bound.CompareAndSwap(old, bound); old = s.bound.Load() {
	}
}
