package server

import (
	"fmt"
	"math/rand/v2"
	"net"
)

const connectionRefused = "connection refused"

// admit starts to serve a connection to a node, or closes it if there are too many.
func (s *Server) admit(n *node, socket net.Conn) {
	c := newConn(n, socket, rand.Uint32())
	ip := c.remote.Addr()
	s.mu.Lock()
	reason := ""
	switch limits := &s.limits; {
	case s.closing:
		reason = "the server shuts down"
	case !n.accepting && c.remote.IsValid(): // one from inside needs no listener
		reason = "the node is stopped"
	case limits.Connections > 0 && len(s.conns) >= limits.Connections:
		reason = fmt.Sprintf("Exceeded maximum native connection limit of %d by using %d connections (see --max-connections)",
			limits.Connections, len(s.conns)+1)
	case limits.ConnectionsPerIP > 0 && s.perIP[ip] >= limits.ConnectionsPerIP:
		reason = fmt.Sprintf("Exceeded maximum native connection limit per ip of %d by using %d connections "+
			"(see --max-connections-per-ip)", limits.ConnectionsPerIP, s.perIP[ip]+1)
	}
	if reason == "" {
		s.conns[c] = struct{}{}
		s.open.Add(1)
		s.perIP[ip]++
		s.running.Add(1)
	}
	s.mu.Unlock()

	if reason != "" {
		s.metrics.refused.Add(1)
		if s.logged.allow(connectionRefused, ip) {
			c.log.Error().Str("reason", reason).Msg(connectionRefused)
		}
		c.abort()
		return
	}
	s.metrics.accepted.Add(1)
	go c.run()
}

// Connect opens a connection inside the process. It needs no listener, so that a server can be prepared before clients
// reach it. It is to the first node.
func (s *Server) Connect() net.Conn {
	ours, theirs := net.Pipe()
	s.admit(s.allNodes()[0], ours)
	return theirs
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
	if s.perIP[ip]--; s.perIP[ip] <= 0 {
		delete(s.perIP, ip)
	}
	s.mu.Unlock()
	s.running.Done()
}
