package command

import (
	"net"
	"sync"
)

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
