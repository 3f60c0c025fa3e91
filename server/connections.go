package server

import (
	"math/rand/v2"
	"net"
)

// admit starts to serve a connection to a node, or closes it if there are too many.
func (s *Server) admit(n *node, socket net.Conn) {
	c := newConn(n, socket, rand.Uint32())
	ip := c.remote.Addr()
	s.mu.Lock()
	var reason string
	switch limits := &s.limits; {
	case s.closing:
		reason = "the server shuts down"
	case !n.accepting && c.remote.IsValid(): // one from inside needs no listener
		reason = "the node is stopped"
	case limits.Connections > 0 && len(s.conns) >= limits.Connections:
		reason = "there are too many connections"
	case limits.ConnectionsPerIP > 0 && s.perIP[ip] >= limits.ConnectionsPerIP:
		reason = "there are too many connections from its address"
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
		c.log.Warn().Str("reason", reason).Msg("connection refused")
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
	s.open.Add(-1)
	if s.perIP[ip]--; s.perIP[ip] <= 0 {
		delete(s.perIP, ip)
	}
	s.mu.Unlock()
	s.running.Done()
}
