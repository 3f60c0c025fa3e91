package store

import "time"

// Now is the clock's time.
func (s *Store) Now() time.Time { return s.now() }

// Timestamp is the current time in microseconds, later than any it returned before.
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
