package command

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"syscall"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/server"
)

// listeners are what clients connect to: one listener, or one for each node of a ring.
type listeners struct {
	alone net.Listener        // nil: there is a ring
	ring  *server.RingOptions // nil: there is none
	tls   *server.TLS         // what connections are encrypted with; nil: nothing
	log   zerolog.Logger
}

// openListeners opens the address of the server, or those of a ring's nodes.
func openListeners(s *settings, log zerolog.Logger) (*listeners, error) {
	open := func(_, addr string) (net.Listener, error) {
		l, err := listen(addr)
		if err != nil {
			return nil, err
		}
		return &sparing{l, log}, nil
	}
	if len(s.ring) == 0 {
		l, err := open("tcp", s.listen)
		return &listeners{alone: l, log: log}, err
	}
	nodes := slices.Clone(s.ring)
	if err := server.ListenRing(s.listen, nodes, open); err != nil {
		return nil, err
	}
	return &listeners{ring: &server.RingOptions{Nodes: nodes, Listen: open}}, nil
}

// all returns the listeners that were opened.
func (l *listeners) all() (all []net.Listener) {
	if l.ring == nil {
		return []net.Listener{l.alone}
	}
	for _, n := range l.ring.Nodes {
		all = append(all, n.Listener)
	}
	return all
}

// addresses returns the addresses that clients connect to.
func (l *listeners) addresses() (all []net.Addr) {
	for _, one := range l.all() {
		all = append(all, one.Addr())
	}
	return all
}

// encryption says as Cassandra does whether connections are encrypted.
func (l *listeners) encryption() string {
	switch {
	case l.tls == nil:
		return "unencrypted"
	case l.tls.Optional:
		return "optionally encrypted"
	}
	return "encrypted"
}

// serve serves clients until the server is shut down or the listener fails.
func (l *listeners) serve(srv *server.Server) error {
	if l.ring != nil {
		return srv.ServeRing()
	}
	return srv.Serve(l.alone)
}

// pause keeps clients out until resume: they cannot connect, or in a ring, whose nodes keep their addresses, they wait.
func (l *listeners) pause() {
	if l.ring == nil {
		_ = l.alone.Close()
	}
}

// resume opens again what pause has closed.
func (l *listeners) resume(addr string) error {
	if l.ring != nil {
		return nil
	}
	alone, err := listen(addr)
	if err == nil {
		l.alone = &sparing{alone, l.log}
	}
	return err
}

// close closes the listeners, which the server may have closed before.
func (l *listeners) close() {
	for _, one := range l.all() {
		_ = one.Close()
	}
}

// listen opens the port. The error says in one line why that failed.
func listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("listen on %s: another process has this port; --listen chooses another", addr)
	default:
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
}
