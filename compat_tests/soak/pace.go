package main

import (
	"sync"
	"time"
)

// pace keeps all workers together to a number of bytes a second.
type pace struct {
	mu   sync.Mutex
	rate float64 // bytes a second; 0: any
	next time.Time
}

// wait waits until so many bytes may be written. It returns early when the epoch ends.
func (p *pace) wait(size int, e *epoch) {
	if p.rate == 0 {
		return
	}
	p.mu.Lock()
	now := time.Now()
	if p.next.Before(now) {
		p.next = now // writes missed while the server was down are not made up for
	}
	wait := p.next.Sub(now)
	p.next = p.next.Add(time.Duration(float64(size) / p.rate * float64(time.Second)))
	p.mu.Unlock()
	if wait < time.Millisecond {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-e.ending:
	case <-e.over:
	}
}
