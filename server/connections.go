package server

import (
	"fmt"
	"time"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/server/observe"
	"github.com/cqld/cqld/server/wire"
)

const connectionRefused = "connection refused"

// admit starts to serve a connection, or closes it if there are too many.
func (s *Server) admit(c *conn) {
	reason := s.count(c)
	if reason != "" {
		s.metrics.refused.Add(1)
		if s.logged.Allow(connectionRefused, c.remote.Addr()) {
			c.log.Error().Str("reason", reason).Msg(connectionRefused)
		}
		c.abort()
		return
	}
	s.metrics.accepted.Add(1)
	panics.Go(&c.log, c.serve)
}

// count counts a connection, or returns the reason to refuse it.
func (s *Server) count(c *conn) (reason string) {
	n, ip := c.node, c.remote.Addr()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch limits := &s.limits; {
	case s.closing:
		reason = "the server shuts down"
	case !n.accepting && !c.inside: // Connect needs no listener
		reason = "the node is stopped"
	case limits.Connections > 0 && len(s.conns) >= limits.Connections:
		reason = fmt.Sprintf("Exceeded maximum native connection limit of %d by using %d connections (see --max-connections)",
			limits.Connections, len(s.conns)+1)
	case limits.ConnectionsPerIP > 0 && s.perIP[ip] >= limits.ConnectionsPerIP && !c.inside:
		reason = fmt.Sprintf("Exceeded maximum native connection limit per ip of %d by using %d connections "+
			"(see --max-connections-per-ip)", limits.ConnectionsPerIP, s.perIP[ip]+1)
	}
	if reason == "" {
		s.conns[c] = struct{}{}
		s.open.Add(1)
		if !c.inside {
			s.perIP[ip]++
		}
		s.running.Add(1)
	}
	return reason
}

// forget removes a connection that has ended.
func (s *Server) forget(c *conn) {
	ip := c.remote.Addr()
	s.mu.Lock()
	delete(s.conns, c)
	if c.session.events.Load() != 0 {
		s.registered--
	}
	s.open.Add(-1)
	if !c.inside {
		if s.perIP[ip]--; s.perIP[ip] <= 0 {
			delete(s.perIP, ip)
		}
	}
	s.mu.Unlock()
	s.running.Done()
}

// watchdogInterval is how often the watchdog checks the connections.
const watchdogInterval = 250 * time.Millisecond

// runWatchdog checks all connections periodically until the server ends. It finds writes whose time is over, clients
// that hang up while their connection is not read, and clients that hold memory which others wait for.
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
			panics.Run(&s.log, func() {
				s.checkConnections(now, scarce >= s.limits.Stalled)
				s.logged.SumUp(now)
			})
		}
	}
}

// checkConnections checks all connections once. If memory is scarce, it closes connections whose client has held
// memory for too long.
func (s *Server) checkConnections(now time.Time, scarce bool) {
	round := s.rounds.Add(1)
	if round%int64(observe.RateInterval/watchdogInterval) == 0 {
		s.latencies.Tick()
	}
	for _, c := range s.connections() {
		for class := range writeClasses {
			timeout := s.limits.writeTimeout(class)
			c.pendingWrites.expire(class, round-int64((timeout+watchdogInterval-1)/watchdogInterval))
		}
		if c.waiting.Load() && wire.HungUp(c.raw) {
			c.cancel()
		}
		if stalled := c.out.Stalled(); c.draining.Load() && stalled != 0 && stalled < now.Add(-lingerTime).UnixNano() {
			c.abort() // reads of others may wait for its memory
		}
		if scarce && c.holdsSince(now.Add(-s.limits.Stalled)) {
			if s.logged.Allow(memoryHeld, c.remote.Addr()) {
				c.log.Warn().Msg(memoryHeld)
			}
			s.metrics.stalled.Add(1)
			c.abort()
		}
	}
}

const memoryHeld = "connection closed: others wait for the memory of answers that its client does not read, or of a " +
	"message that it does not finish"

// holdsSince reports whether the client has held memory since a time without reading or sending anything. That is not
// the client's fault while the server does not read its input.
func (c *conn) holdsSince(t time.Time) bool {
	since := t.UnixNano()
	if stalled := c.out.Stalled(); stalled != 0 && stalled < since {
		return true
	}
	slow := c.in.Slow()
	return slow != 0 && slow < since && !c.waiting.Load() && !wire.HasInput(c.raw)
}

// isScarce reports whether work waits for memory that clients hold.
func (m *memory) isScarce() bool {
	return m.answers.Room.Waiting() > 0 || m.answers.Room.Short() ||
		m.arriving.Waiting() > 0 || m.arriving.Used() > m.arriving.Limit()
}

// connections returns the open connections.
func (s *Server) connections() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		all = append(all, c)
	}
	return all
}
