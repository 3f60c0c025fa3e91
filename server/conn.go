package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/store/pace"
)

// conn is one connection. The goroutine of run reads it; requests that cannot be run there have goroutines
// of their own, which run waits for.
type conn struct {
	server        *Server
	socket        net.Conn
	id            string // 8 hex digits: in log lines and in errors about checksums
	log           zerolog.Logger
	local, remote netip.AddrPort

	ctx    context.Context // ends with the connection
	cancel context.CancelFunc

	arriving     context.Context // ends when nothing more has to arrive
	stopArriving context.CancelFunc

	session  session
	out      output
	requests sync.WaitGroup // that are not answered
	slots    share          // of requests that have a goroutine
	bytes    share          // of requests that are not answered
	reads    pace.Party     // in the scheduler
	writes   writes         // that are not answered
	draining atomic.Bool
	waiting  atomic.Bool  // the reader waits for something else than input
	served   atomic.Int64 // requests

	// What follows belongs to the goroutine that reads.
	in       input
	arrived  time.Duration               // when the input was read, as monotonic has it, or when the reader last waited
	next     func([]byte) (int64, error) // takes what stands first in the input: see take.go
	segments protocol.Segments
	plain    []byte // the decompressed body of an envelope
	reserved int64  // of the room for what arrives: of in, segments and plain
	errors   int    // bad envelopes in a row in the segment
}

var (
	errDraining = errors.New("the server shuts down")

	// errHangUp ends a connection behind what it was answered.
	errHangUp = errors.New("the connection cannot go on")
)

// lingerTime is how long a connection that the server closes may take to read its last answers: closing a
// socket that has unread input would take them away from the client.
const lingerTime = 500 * time.Millisecond

func newConn(s *Server, socket net.Conn, id uint32) *conn {
	c := &conn{
		server: s,
		socket: socket,
		id:     fmt.Sprintf("%08x", id),
		local:  addrPort(socket.LocalAddr()),
		remote: addrPort(socket.RemoteAddr()),
	}
	c.log = s.log.With().Str("connection", c.id).Stringer("client", c.remote).Logger()
	c.ctx, c.cancel = context.WithCancel(s.ctx)
	c.arriving, c.stopArriving = context.WithCancel(c.ctx)
	c.out.init(socket, &s.memory)
	c.out.taken, c.out.failed = s.scheduler.Resume, c.cancel
	c.reads.Behind = c.out.behind
	c.in.reserve, c.in.release = c.reserve, c.release
	c.segments.Reserve = func(n int) error { return c.reserve(int64(n)) }
	c.slots.init()
	c.bytes.init()
	c.segments.Limit = s.limits.Frame
	c.next = c.takeHandshake
	return c
}

// addrPort is the address of a socket, or the zero value of one that has none, as pipes.
func addrPort(a net.Addr) netip.AddrPort {
	if tcp, ok := a.(*net.TCPAddr); ok {
		ap := tcp.AddrPort()
		return netip.AddrPortFrom(ap.Addr().Unmap().WithZone(""), ap.Port())
	}
	return netip.AddrPort{}
}

// run serves the connection until it ends, and returns when nothing of it runs any more.
func (c *conn) run() {
	defer c.server.forget(c)
	defer c.cancel()
	c.setReadDeadline(time.Now().Add(c.server.limits.Handshake))
	c.log.Debug().Msg("connection opened")

	err := c.readAll()
	switch {
	case errors.Is(err, errDraining):
		c.waiting.Store(true) // the client may hang up
		c.requests.Wait()
		c.closeBehindAnswers()
	case errors.Is(err, errHangUp):
		c.closeBehindAnswers()
	}
	c.cancel()
	_ = c.socket.Close() // the client may have closed it before
	c.out.end()
	c.requests.Wait()
	c.out.close()
	c.in.drop()
	c.releaseSegments()
	c.log.Debug().AnErr("reason", err).Msg("connection closed")
}

// readAll serves what arrives until there will be no more. Answers are written when everything that has
// arrived is served: a burst of requests is answered in a few writes.
func (c *conn) readAll() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = c.panicked(p)
		}
	}()
	for {
		if err := c.serveInput(); err != nil {
			return err
		}
		if err := c.in.makeRoom(); err != nil {
			return c.readError(err)
		}
		c.in.held(c.in.reserved > 0 || !c.segments.Free())
		c.out.idle()
		if err := c.in.fill(c.socket); err != nil {
			return c.readError(err)
		}
		c.out.busy()
		c.arrived = monotonic()
	}
}

// serveInput serves every message that has arrived completely.
func (c *conn) serveInput() error {
	for served := 1; ; served++ {
		if served%giveWayAfter == 0 {
			runtime.Gosched()
		}
		b := c.in.unread()
		if len(b) == 0 || c.in.skipping() {
			return nil
		}
		n, err := c.next(b)
		if err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
		c.in.advance(n)
		if n > ownBody {
			c.in.disown()
		}
		if c.out.behind() {
			if c.draining.Load() {
				return errDraining
			}
			c.pause(c.out.idle)
		}
	}
}

// giveWayAfter is how many messages of a burst are served before other connections have their turn.
const giveWayAfter = 128

// readError says why there is no more input.
func (c *conn) readError(err error) error {
	switch {
	case c.draining.Load():
		return errDraining
	case errors.Is(err, io.EOF):
		return errors.New("the client closed it")
	case isTimeout(err):
		return fmt.Errorf("no STARTUP within %v", c.server.limits.Handshake)
	}
	return fmt.Errorf("read: %w", err)
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// setReadDeadline ends reading at a time, the zero time being never, unless it has to end anyway.
func (c *conn) setReadDeadline(t time.Time) {
	_ = c.socket.SetReadDeadline(t) // fails on closed sockets only, and so will reading
	if c.draining.Load() {
		_ = c.socket.SetReadDeadline(longAgo)
	}
}

var longAgo = time.Unix(1, 0)

// drain makes the connection end when what has arrived is answered. A client that does not read its answers gets no
// others.
func (c *conn) drain() {
	c.draining.Store(true)
	_ = c.socket.SetReadDeadline(longAgo)
	c.stopArriving()
	c.out.end()
	if c.out.behind() {
		c.cancel()
	}
}

// pause waits for something else than input: what is answered is written before.
func (c *conn) pause(wait func()) {
	c.waiting.Store(true)
	defer c.waiting.Store(false)
	c.out.idle()
	defer c.out.busy()
	wait()
	c.in.resume()
	c.arrived = monotonic()
}

// abort ends the connection and its requests at once.
func (c *conn) abort() {
	c.cancel()
	_ = c.socket.Close()
}

// closeBehindAnswers writes the answers there are and lets the client read them.
func (c *conn) closeBehindAnswers() {
	_ = c.socket.SetWriteDeadline(time.Now().Add(lingerTime))
	c.out.flush()
	half, ok := c.socket.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	_ = c.socket.SetReadDeadline(time.Now().Add(lingerTime))
	_, _ = io.Copy(io.Discard, c.socket) // until the client closes, or has had time to
}
