package command

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/server"
)

// listeners are what clients connect to: one listener, or one for each node of a ring.
type listeners struct {
	alone net.Listener        // nil: there is a ring
	ring  *server.RingOptions // nil: there is none
	tls   *server.TLS         // what connections are encrypted with; nil: nothing
	ipv4  bool                // the address was given as one of IPv4
	log   zerolog.Logger

	mu     sync.Mutex
	paused bool
	closed []*closedPort // what resume opens
}

// openListeners opens the address of the server, or those of a ring's nodes.
func openListeners(s *settings, log zerolog.Logger) (*listeners, error) {
	l := &listeners{log: log, ipv4: strings.HasPrefix(s.listen, "0.0.0.0:")}
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
	return &sparing{opened, l.log}, nil
}

// listenNode opens the port of a node that joins a ring or is started again. Its clients too are kept out until resume.
func (l *listeners) listenNode(network, addr string) (net.Listener, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	opened, err := l.open(network, addr)
	if err != nil || !l.paused {
		return opened, err
	}
	return l.closePort(opened), nil
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

// logged returns the addresses as the log names them. All interfaces are 0.0.0.0 if they were given so: Cassandra
// writes that, and the listener, which takes IPv6 too, says [::].
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

// pause keeps clients out until resume: they cannot connect. The server must not have been made yet.
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

// closePort closes a listener until resume. The lock is held.
func (l *listeners) closePort(open net.Listener) net.Listener {
	p := closePort(open)
	l.closed = append(l.closed, p)
	return p
}

// resume opens the ports that pause has closed, but for those of nodes that were stopped since.
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

// close closes the listeners, which the server may have closed before.
func (l *listeners) close() {
	for _, one := range l.all() {
		_ = one.Close()
	}
}

// listen opens the port. The error says in one line why that failed.
func listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err == nil {
		return l, nil
	}
	var system *os.SyscallError
	var network *net.OpError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("listen on %s: another process has this port; --listen chooses another", addr)
	case errors.As(err, &system):
		err = system.Err
	case errors.As(err, &network):
		err = network.Err
	}
	return nil, fmt.Errorf("listen on %s: %w", addr, err)
}

// closedPort is a listener that keeps an address but not its port: clients cannot connect until open is called, and
// Accept waits until then.
type closedPort struct {
	addr   net.Addr
	opened chan struct{} // closed by open and Close

	mu     sync.Mutex
	l      net.Listener // nil: the port is closed
	closed bool         // by Close: open does nothing
}

// closePort closes a listener and returns one that can open its port again.
func closePort(l net.Listener) *closedPort {
	_ = l.Close() // nobody has connected
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
