// Package safepoint has service safe points as PD does, for programs that replace PD in tests. Each service sets the
// timestamp from which on it needs versions, and a TTL. The service gc_worker is the garbage collection: the first
// request creates it at 0, and it never expires.
package safepoint

import (
	"errors"
	"math"
	"time"
)

// Collector is the service of the collection.
const Collector = "gc_worker"

// Service is the safe point of a service.
type Service struct {
	Point uint64
	Until int64 // in Unix seconds; math.MaxInt64: never
}

// Services maps names to services.
type Services map[string]Service

// PD's errors.
var (
	errExpires = errors.New("TTL of gc_worker's service safe point must be infinity")
	errRemoved = errors.New("cannot remove service safe point of gc_worker")
)

// Update sets the safe point of a service for ttl seconds, or removes the service if ttl is 0 or less. It returns the
// minimum of all services. A point below the minimum is ignored: its versions may be gone.
func (s Services) Update(name string, ttl int64, point uint64, now time.Time) (minimum uint64, err error) {
	if ttl <= 0 {
		if name == Collector {
			return 0, errRemoved
		}
		delete(s, name)
	}
	minimum = s.minimum(now)
	if ttl <= 0 || point < minimum {
		return minimum, nil
	}
	until := int64(math.MaxInt64)
	if ttl < math.MaxInt64-now.Unix() {
		until = now.Unix() + ttl
	}
	if name == Collector && until != math.MaxInt64 {
		return 0, errExpires
	}
	s[name] = Service{point, until}
	return s.minimum(now), nil
}

// minimum removes expired services and returns the minimum of the others.
func (s Services) minimum(now time.Time) uint64 {
	lowest := uint64(math.MaxUint64)
	for name, w := range s {
		if w.Until < now.Unix() {
			delete(s, name)
			continue
		}
		lowest = min(lowest, w.Point)
	}
	if _, ok := s[Collector]; !ok {
		if len(s) == 0 {
			lowest = 0
		}
		s[Collector] = Service{lowest, math.MaxInt64}
	}
	return lowest
}
