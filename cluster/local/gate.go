package local

import (
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Gate is a TCP proxy. It can delay traffic, and stop forwarding like a broken network: nothing arrives, and
// connections stay open.
type Gate struct {
	listener net.Listener
	targets  []string
	next     atomic.Int64 // number of the next connection
	delay    atomic.Int64 // each way, in nanoseconds

	mu     sync.Mutex
	change *sync.Cond
	shut   bool
	closed bool
	open   map[net.Conn]bool
	ended  sync.WaitGroup
}

// OpenGate opens a gate. Each connection goes to the next target.
func OpenGate(targets ...string) (*Gate, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g := &Gate{listener: l, targets: targets, open: map[net.Conn]bool{}}
	g.change = sync.NewCond(&g.mu)
	g.ended.Go(g.accept)
	return g, nil
}

// Addr returns the address of the gate.
func (g *Gate) Addr() string { return g.listener.Addr().String() }

// SetDelay sets the round-trip delay, half of it each way.
func (g *Gate) SetDelay(d time.Duration) { g.delay.Store(int64(d / 2)) }

// Shut stops or resumes forwarding.
func (g *Gate) Shut(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = shut
	g.change.Broadcast()
}

// Close closes the gate and all connections through it.
func (g *Gate) Close() {
	g.mu.Lock()
	g.closed = true
	g.change.Broadcast()
	_ = g.listener.Close()
	for c := range g.open {
		_ = c.Close()
	}
	g.mu.Unlock()
	g.ended.Wait()
}

// pass waits while the gate is shut. It reports false if the gate is closed.
func (g *Gate) pass() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.shut && !g.closed {
		g.change.Wait()
	}
	return !g.closed
}

// hold registers a connection for Close.
func (g *Gate) hold(c net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		_ = c.Close()
	}
	g.open[c] = true
}

// release closes a connection.
func (g *Gate) release(c net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = c.Close()
	delete(g.open, c)
}

func (g *Gate) accept() {
	for {
		c, err := g.listener.Accept()
		if err != nil {
			return
		}
		g.ended.Go(func() { g.join(c) })
	}
}

// join forwards a connection until one side closes it.
func (g *Gate) join(client net.Conn) {
	g.hold(client)
	defer g.release(client)
	if !g.pass() {
		return
	}
	server, err := g.dial()
	if err != nil {
		return // the client sees its connection closed
	}
	g.hold(server)
	defer g.release(server)
	var ways sync.WaitGroup
	ways.Go(func() { g.carry(server, client) })
	ways.Go(func() { g.carry(client, server) })
	ways.Wait()
}

// dial connects to the next target that accepts a connection.
func (g *Gate) dial() (c net.Conn, err error) {
	for range g.targets {
		n := int(g.next.Add(1)-1) % len(g.targets)
		if c, err = net.Dial("tcp", g.targets[n]); err == nil {
			return c, nil
		}
	}
	return nil, err
}

// piece is the result of one read.
type piece struct {
	at    time.Time
	bytes []byte
}

// maxPieces is how many pieces may be in flight.
const maxPieces = 1 << 10

// carry forwards one direction of a connection and closes both ends afterwards.
func (g *Gate) carry(to, from net.Conn) {
	flying := make(chan piece, maxPieces)
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(flying)
		for {
			b := make([]byte, 16<<10)
			n, err := from.Read(b)
			if n > 0 {
				flying <- piece{time.Now(), b[:n]}
			}
			if err != nil {
				return
			}
		}
	})
	for p := range flying {
		sleepUntil(p.at.Add(time.Duration(g.delay.Load())))
		if !g.pass() {
			break
		}
		if _, err := to.Write(p.bytes); err != nil {
			break
		}
	}
	_ = to.Close()
	_ = from.Close()
	for range flying { // until the reader has ended
	}
	reading.Wait()
}

// timerLate is how late Go's timers may be in an idle process.
const timerLate = 1500 * time.Microsecond

// sleepUntil sleeps until a time: first with a timer, the rest in the system, which is more precise.
func sleepUntil(at time.Time) {
	if d := time.Until(at) - timerLate; d > 0 {
		time.Sleep(d)
	}
	if d := time.Until(at); d > 0 {
		t := syscall.NsecToTimespec(int64(d))
		_ = syscall.Nanosleep(&t, nil) // a signal may end it early
	}
}
