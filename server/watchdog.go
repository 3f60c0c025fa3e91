package server

import "time"

// watchdogInterval is how often the watchdog checks the connections.
const watchdogInterval = 250 * time.Millisecond

// runWatchdog checks all connections now and then until the server ends. It finds writes whose time is over, clients
// that hang up while their connection is not read, and clients that hold memory that others wait for.
func (s *Server) runWatchdog() {
	defer close(s.watchdogEnded)
	tick := time.NewTicker(watchdogInterval)
	defer tick.Stop()
	scarce := time.Duration(0) // how long memory has been scarce
	for {
		select {
		case <-s.ctx.Done():
			return
		case now := <-tick.C:
			if s.memory.isScarce() {
				scarce += watchdogInterval
			} else {
				scarce = 0
			}
			s.checkConnections(now, scarce >= s.limits.Stalled)
			s.logged.sumUp(now)
		}
	}
}

// checkConnections checks all connections once. If memory is scarce, it closes those whose client holds it for too
// long.
func (s *Server) checkConnections(now time.Time, scarce bool) {
	round := s.rounds.Add(1)
	if round%int64(rateEvery/watchdogInterval) == 0 {
		s.latencies.tick()
	}
	s.mu.Lock()
	conns := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		conns = append(conns, c)
	}
	s.mu.Unlock()
	for _, c := range conns {
		for class := range writeClasses {
			timeout := s.limits.writeTimeout(class)
			c.pendingWrites.expire(class, round-int64((timeout+watchdogInterval-1)/watchdogInterval))
		}
		if c.waiting.Load() && hungUp(c.raw) {
			c.cancel()
		}
		if stalled := c.out.stalled(); c.draining.Load() && stalled != 0 && stalled < now.Add(-lingerTime).UnixNano() {
			c.abort() // reads of others may wait for its memory
		}
		if scarce && c.holdsSince(now.Add(-s.limits.Stalled)) {
			if s.logged.allow(memoryHeld, c.remote.Addr()) {
				c.log.Warn().Msg(memoryHeld)
			}
			s.metrics.stalled.Add(1)
			c.abort()
		}
	}
}

const memoryHeld = "connection closed: others wait for the memory of what its client does not read, or does not finish " +
	"sending"

// holdsSince reports whether the client has held memory since a time without reading or sending anything. A client
// whose input is not read yet is not to blame.
func (c *conn) holdsSince(t time.Time) bool {
	since := t.UnixNano()
	if stalled := c.out.stalled(); stalled != 0 && stalled < since {
		return true
	}
	slow := c.in.slow.Load()
	return slow != 0 && slow < since && !c.waiting.Load() && !hasInput(c.raw)
}

// isScarce reports whether work waits for memory that clients hold.
func (m *memory) isScarce() bool {
	return m.answers.Waiting() > 0 || m.answers.Short() ||
		m.arriving.Waiting() > 0 || m.arriving.Used() > m.arriving.Limit()
}
