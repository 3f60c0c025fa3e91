package console

import "sync"

// places bounds how often something happens at a time, in all and for one role: no role takes all of them.
type places struct {
	max, maxRole int

	mu    sync.Mutex
	taken map[string]int // by role
	all   int
}

func newPlaces(limit, ofRole int) *places {
	return &places{max: limit, maxRole: ofRole, taken: map[string]int{}}
}

// take takes a place for a role, unless there is none. Without logins all visitors are the role "", which may take all.
func (p *places) take(role string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all >= p.max || role != "" && p.taken[role] >= p.maxRole {
		return false
	}
	p.all++
	p.taken[role]++
	return true
}

// give gives a place back.
func (p *places) give(role string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all--
	if p.taken[role]--; p.taken[role] == 0 {
		delete(p.taken, role)
	}
}

// used is how many places are taken.
func (p *places) used() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all
}
