package tikv

import (
	"sync"

	"github.com/cqld/cqld/store/engine"
)

// Commits whose first keys are in the same region share its lane. A few of them are under way at a time, each in a
// transaction of its own. Others wait, and those that wait when one has ended go together into one transaction: so the
// more is written the fewer requests, timestamps and entries of Raft logs a commit takes. Commits that delete read
// before, and go on their own, as do those whose region is not known: it may be that its store does not answer.

// The bounds of a lane: its transactions that are under way, and the commits of a transaction and their bytes.
const (
	laneWidth     = 8
	maxTogether   = 64
	bytesTogether = 256 << 10
)

// lanes are those of all regions that commits are under way for.
type lanes struct {
	mu sync.Mutex
	of map[uint64]*lane // by the numbers of regions
}

// lane is that of a region.
type lane struct {
	running int
	waiting []*pending
}

// pending is a commit that is not done.
type pending struct {
	ops  []engine.Op
	size int
	done func(error)
}

// enter has a commit run on its own, and reports true; or has it wait for others of its lane.
func (l *lanes) enter(region uint64, p *pending) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.of[region]
	if at == nil {
		at = &lane{}
		l.of[region] = at
	}
	if at.running < laneWidth {
		at.running++
		return true
	}
	at.waiting = append(at.waiting, p)
	return false
}

// next returns the commits that go together next, or none: then a transaction of the lane is over.
func (l *lanes) next(region uint64) []*pending {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.of[region]
	if len(at.waiting) == 0 {
		if at.running--; at.running == 0 {
			delete(l.of, region)
		}
		return nil
	}
	n, size := 0, 0
	for n < min(len(at.waiting), maxTogether) && (n == 0 || size+at.waiting[n].size <= bytesTogether) {
		size += at.waiting[n].size
		n++
	}
	together := at.waiting[:n:n]
	at.waiting = at.waiting[n:]
	return together
}
