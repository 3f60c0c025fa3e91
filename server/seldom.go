package server

import (
	"sync/atomic"
	"time"
)

// seldom keeps lines that clients can cause from filling the log.
type seldom struct{ last atomic.Int64 } // when a line was logged, in nanoseconds since 1970

// allow reports whether a line may be logged: the last one was at least a time ago.
func (s *seldom) allow(every time.Duration) bool {
	last, now := s.last.Load(), time.Now().UnixNano()
	return now-last >= int64(every) && s.last.CompareAndSwap(last, now)
}
