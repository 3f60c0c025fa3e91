package main

import (
	"time"

	"github.com/pingcap/kvproto/pkg/pdpb"
)

// clockStep is how PD moves its clock by default, and boundAhead how far ahead it stores a bound, both in milliseconds.
// As with PD, the clock of one that starts again begins at the bound and stands until time has caught up.
const (
	clockStep  = 50
	boundAhead = 3000
)

// timestamps gives the last one of a number of timestamps.
func (p *placement) timestamps(count int64) (*pdpb.Timestamp, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now().UnixMilli()
	if now -= now % clockStep; now > p.physical {
		p.physical, p.logical = now, 0
	}
	if p.physical >= p.stored.Bound {
		p.stored.Bound = p.physical + boundAhead
		if err := p.save(); err != nil {
			return nil, err
		}
	}
	p.logical += count
	return &pdpb.Timestamp{Physical: p.physical, Logical: p.logical}, nil
}
