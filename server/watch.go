package server

import "time"

// watchEvery is how often the server looks for clients that have gone or take too long.
const watchEvery = 250 * time.Millisecond

// watch looks at all connections now and then, until the server ends: for writes whose time is over, for clients that
// hang up while their connection waits for something else than them, and for those that hold what others wait for.
func (s *Server) watch() {
	defer close(s.watched)
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	scarce := time.Duration(0) // how long somebody has waited for memory
	for {
		select {
		case <-s.ctx.Done():
			return
		case now := <-tick.C:
			if s.memory.isScarce() {
				scarce += watchEvery
			} else {
				scarce = 0
			}
			s.lookAround(now, scarce >= s.limits.Stalled)
		}
	}
}

// lookAround looks at all connections once. Where memory is scarce, it ends those whose client holds it for too long.
func (s *Server) lookAround(now time.Time, scarce bool) {
	late := s.looks.Add(1) - int64((s.limits.WriteTimeout+watchEvery-1)/watchEvery)
	s.mu.Lock()
	conns := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		conns = append(conns, c)
	}
	s.mu.Unlock()
	for _, c := range conns {
		c.writes.expire(late)
		if c.waiting.Load() && hungUp(c.socket) {
			c.cancel()
		}
		if stalled := c.out.stalled(); c.draining.Load() && stalled != 0 && stalled < now.Add(-lingerTime).UnixNano() {
			c.abort() // others' reads may wait for the memory, too
		}
		if scarce && c.holdsSince(now.Add(-s.limits.Stalled)) {
			c.log.Warn().Msg("connection closed: others wait for the memory of what its client does not read, or does not finish sending")
			s.metrics.stalled.Add(1)
			c.abort()
		}
	}
}

// holdsSince reports whether the client has held memory since a time without taking, or sending, anything. One that has
// sent something which is not read yet waits for us.
func (c *conn) holdsSince(t time.Time) bool {
	since := t.UnixNano()
	if stalled := c.out.stalled(); stalled != 0 && stalled < since {
		return true
	}
	slow := c.in.slow.Load()
	return slow != 0 && slow < since && !c.waiting.Load() && !hasInput(c.socket)
}

// isScarce reports whether somebody waits for memory that clients hold.
func (m *memory) isScarce() bool {
	return m.answers.Waiting() > 0 || m.answers.Short() || m.arriving.Waiting() > 0 || m.arriving.Used() > m.arriving.Limit()
}
