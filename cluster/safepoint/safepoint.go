// Package safepoint has the service safe points of what stands in for PD, as PD has them: each service says from which
// timestamp on it wants versions kept, and for how long that holds. The service gc_worker is that of the collection. It
// is there as soon as anybody asks, wants everything kept until somebody moves it, and never expires.
package safepoint

import (
	"errors"
	"math"
	"time"
)

// Collector is the service of the collection.
const Collector = "gc_worker"

// Service is what a service wants.
type Service struct {
	Point uint64
	Until int64 // in Unix seconds; math.MaxInt64: it does not expire
}

// Services are all of them, by name.
type Services map[string]Service

// Errors of requests that PD refuses.
var (
	errExpires = errors.New("TTL of gc_worker's service safe point must be infinity")
	errRemoved = errors.New("cannot remove service safe point of gc_worker")
)

// Update has a service want versions kept from a point on, for ttl seconds; a ttl of 0 or less removes it. It returns
// the least point of all services. A point below that is not taken: those versions may be gone.
func (s Services) Update(name string, ttl int64, point uint64, now time.Time) (least uint64, err error) {
	if ttl <= 0 {
		if name == Collector {
			return 0, errRemoved
		}
		delete(s, name)
	}
	least = s.least(now)
	if ttl <= 0 || point < least {
		return least, nil
	}
	until := int64(math.MaxInt64)
	if ttl < math.MaxInt64-now.Unix() {
		until = now.Unix() + ttl
	}
	if name == Collector && until != math.MaxInt64 {
		return 0, errExpires
	}
	s[name] = Service{point, until}
	return s.least(now), nil
}

// least forgets the services that have expired, and returns the least point of the others.
func (s Services) least(now time.Time) uint64 {
	least := uint64(math.MaxUint64)
	for name, w := range s {
		if w.Until < now.Unix() {
			delete(s, name)
			continue
		}
		least = min(least, w.Point)
	}
	if _, ok := s[Collector]; !ok {
		if len(s) == 0 {
			least = 0
		}
		s[Collector] = Service{least, math.MaxInt64}
	}
	return least
}
