package command

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/server"
)

// listeners accepts clients: one listener, or one for each node of a ring.
type listeners struct {
	alone net.Listener        // nil if there is a ring
	ring  *server.RingOptions // or nil
	tls   *server.TLS         // nil: connections are not encrypted
	ipv4  bool                // --listen has an IPv4 address

	chosen bool           // by the system: --listen has port 0
	http   netip.AddrPort // of the console, or the zero value
	log    zerolog.Logger

	reserved int // file descriptors for HTTP

	mu     sync.Mutex
	paused bool
	closed []*closedPort // to be opened by resume
}

// openListeners opens the port of the server, or the ports of a ring's nodes.
func openListeners(s *settings, log zerolog.Logger) (*listeners, error) {
	l := &listeners{log: log, ipv4: strings.HasPrefix(s.listen, "0.0.0.0:"), chosen: strings.HasSuffix(s.listen, ":0")}
	if s.http != "" {
		l.reserved = httpShare()
	}
	if len(s.ring) == 0 {
		var err error
		l.alone, err = l.open("tcp", s.listen)
		return l, err
	}
	nodes := slices.Clone(s.ring)
	if err := server.ListenRing(s.listen, nodes, l.open); err != nil {
		return nil, err
	}
	l.ring = &server.RingOptions{Nodes: nodes, Listen: l.listenNode}
	return l, nil
}

// open opens a port.
func (l *listeners) open(_, addr string) (net.Listener, error) {
	opened, err := listen(addr)
	if err != nil {
		return nil, err
	}
	return &sparing{opened, l.log, l.reserved}, nil
}

// listenNode opens the port of a ring's node that joins or restarts. If paused, clients cannot connect before resume.
func (l *listeners) listenNode(network, addr string) (net.Listener, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	opened, err := l.open(network, addr)
	if err != nil || !l.paused {
		return opened, err
	}
	return l.closePort(opened), nil
}

// all returns all listeners.
func (l *listeners) all() (all []net.Listener) {
	if l.ring == nil {
		return []net.Listener{l.alone}
	}
	for _, n := range l.ring.Nodes {
		all = append(all, n.Listener)
	}
	return all
}

// addresses returns the addresses of all listeners.
func (l *listeners) addresses() (all []net.Addr) {
	for _, one := range l.all() {
		all = append(all, one.Addr())
	}
	return all
}

// logged returns the addresses for the log: 0.0.0.0 if --listen has it, as Cassandra writes. Go's listener, which also
// accepts IPv6, calls that [::].
func (l *listeners) logged() (all []string) {
	for _, one := range l.addresses() {
		address := one.String()
		if port, found := strings.CutPrefix(address, "[::]:"); found && l.ipv4 {
			address = "0.0.0.0:" + port
		}
		all = append(all, address)
	}
	return all
}

// public returns an address that other machines may reach, for the log, or "".
func (l *listeners) public() string {
	for i, address := range l.addresses() {
		if at, err := netip.ParseAddrPort(address.String()); err == nil && !at.Addr().IsLoopback() {
			return l.logged()[i]
		}
	}
	return ""
}

// wantCertificates reports whether every client needs a certificate.
func (l *listeners) wantCertificates(s *settings) bool {
	return l.tls != nil && !l.tls.Optional && s.certificates.authorities != ""
}

// encryption returns Cassandra's words for the encryption of connections.
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

// pause closes the ports until resume. It is called before the server is made.
func (l *listeners) pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paused = true
	if l.ring == nil {
		l.alone = l.closePort(l.alone)
		return
	}
	for i := range l.ring.Nodes {
		n := &l.ring.Nodes[i]
		n.Listener = l.closePort(n.Listener)
	}
}

// pauseKnown is pause, unless the system has chosen the port, because another process could take that one meanwhile.
func (l *listeners) pauseKnown() {
	if !l.chosen {
		l.pause()
	}
}

// closePort closes a listener until resume. The lock is held.
func (l *listeners) closePort(open net.Listener) net.Listener {
	p := closePort(open)
	l.closed = append(l.closed, p)
	return p
}

// resume opens the closed ports again, except ports of nodes that have stopped since.
func (l *listeners) resume() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.closed {
		if err := p.open(l.open); err != nil {
			return err
		}
	}
	l.paused, l.closed = false, nil
	return nil
}

// close closes the listeners, unless the server has.
func (l *listeners) close() {
	for _, one := range l.all() {
		_ = one.Close()
	}
}

// listen opens a port. Its error is one line.
func listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err == nil {
		return l, nil
	}
	var system *os.SyscallError
	var network *net.OpError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("listen on %s: another process uses this port; choose another one with --listen", addr)
	case errors.As(err, &system):
		err = system.Err
	case errors.As(err, &network):
		err = network.Err
	}
	return nil, fmt.Errorf("listen on %s: %w", addr, err)
}

// closedPort is a listener whose port is closed until open is called: clients cannot connect, and Accept waits.
type closedPort struct {
	addr   net.Addr
	opened chan struct{} // closed by open and Close

	mu     sync.Mutex
	l      net.Listener // nil while the port is closed
	closed bool         // by Close, after which open does nothing
}

// closePort closes a listener and returns one that can open its port again.
func closePort(l net.Listener) *closedPort {
	_ = l.Close() // no client has connected
	return &closedPort{addr: l.Addr(), opened: make(chan struct{})}
}

// open opens the port.
func (p *closedPort) open(listen func(network, addr string) (net.Listener, error)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.l != nil {
		return nil
	}
	l, err := listen("tcp", p.addr.String())
	if err != nil {
		return err
	}
	p.l = l
	close(p.opened)
	return nil
}

// Accept implements net.Listener.
func (p *closedPort) Accept() (net.Conn, error) {
	<-p.opened
	p.mu.Lock()
	l := p.l
	p.mu.Unlock()
	if l == nil {
		return nil, net.ErrClosed
	}
	return l.Accept()
}

// Close implements net.Listener.
func (p *closedPort) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return net.ErrClosed
	}
	p.closed = true
	if p.l != nil {
		return p.l.Close()
	}
	close(p.opened)
	return nil
}

// Addr implements net.Listener.
func (p *closedPort) Addr() net.Addr { return p.addr }
