package server

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"

	"github.com/cqld/cqld/internal/panics"
)

// attempts is how many free ports ListenRing tries.
const attempts = 20

// ListenRing opens the listeners of nodes. The first node has the given address, and the others have the addresses
// after it with the same port: drivers find nodes by their addresses. Where a machine has only the loopback address
// 127.0.0.1, as on systems other than Linux, the nodes have that address and the ports after the given one. Port 0
// means a free one. listen is net.Listen if it is nil.
func ListenRing(address string, nodes []RingNode, listen func(network, address string) (net.Listener, error)) error {
	if listen == nil {
		listen = net.Listen
	}
	first, err := netip.ParseAddrPort(address)
	if err != nil || first.Addr().IsUnspecified() {
		return fmt.Errorf("%q: want an IP address and a port, like 127.0.0.1:9042, for the first node", address)
	}
	ports := first.Addr().IsLoopback() && (runtime.GOOS != "linux" || !first.Addr().Is4())
	for range attempts {
		if err = listenAll(first, ports, nodes, listen); err == nil || first.Port() != 0 {
			return err
		}
	}
	return err
}

// listenAll opens the listeners, or none.
func listenAll(
	first netip.AddrPort, ports bool, nodes []RingNode, listen func(network, address string) (net.Listener, error),
) (err error) {
	for i := range nodes {
		var l net.Listener
		if l, err = listen("tcp", nodeAddress(first, i, ports).String()); err != nil {
			break
		}
		nodes[i].Listener = l
		if i == 0 {
			first = addrPort(l.Addr())
		}
	}
	if err == nil {
		return nil
	}
	for i := range nodes {
		if l := nodes[i].Listener; l != nil {
			err = errors.Join(err, l.Close())
			nodes[i].Listener = nil
		}
	}
	return err
}

// nodeAddress returns the address that is n addresses, or ports, after the first one.
func nodeAddress(first netip.AddrPort, n int, ports bool) netip.AddrPort {
	if ports {
		return netip.AddrPortFrom(first.Addr(), first.Port()+uint16(n))
	}
	a := first.Addr()
	for range n {
		a = a.Next()
	}
	return netip.AddrPortFrom(a, first.Port())
}

// ServeRing accepts connections to the nodes until Shutdown, which makes it return nil. It closes the listeners if the
// server was shut down before.
func (s *Server) ServeRing() error {
	r := s.ring
	r.mu.Lock()
	var err error
	for _, n := range r.nodes {
		if n.listener != nil && !s.accepts(n) { // it may have been stopped or started already
			err = errors.Join(err, s.startAccepting(n, n.listener))
		}
	}
	r.mu.Unlock()
	if err != nil {
		return err
	}
	<-s.ctx.Done()
	return nil
}

// accepts reports whether connections to a node are accepted.
func (s *Server) accepts(n *node) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return n.accepting
}

// startAccepting accepts connections to a node, until its listener is closed.
func (s *Server) startAccepting(n *node, l net.Listener) error {
	if !s.addListener(n, l) {
		return errors.Join(ErrClosed, l.Close())
	}
	n.listener = l
	panics.Go(&s.log, func() {
		defer s.running.Done()
		if err := s.accept(n, l); err != nil {
			s.log.Error().Err(err).Int("node", n.Number).Msg("a node does not accept connections any more")
		}
	})
	return nil
}

// stop closes the node's listener and its connections. It does not wait for them: the caller may be one. The lock of
// the ring is held.
func (n *node) stop() {
	if n.listener == nil {
		return
	}
	s := n.server
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, n.listener)
	_ = n.listener.Close() // a listener that is closed already is as good
	n.listener, n.accepting = nil, false
	for c := range s.conns {
		if c.node == n {
			c.abort()
		}
	}
}
