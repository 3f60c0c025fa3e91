package server

import (
	"context"
	"crypto/tls"
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
	"github.com/cqld/cqld/server/observe"
	"github.com/cqld/cqld/server/wire"
	"github.com/cqld/cqld/store/pace"
)

// conn is one connection. The goroutine of serve reads it and is called the reader. It serves quick requests itself;
// each of the others gets a goroutine, and serve waits for those.
type conn struct {
	server        *Server
	node          *node    // the client has connected to it
	raw           net.Conn // the socket
	socket        net.Conn // raw, or TLS on it; the reader reads it
	id            string   // 8 hex digits: in log lines and in errors about checksums
	log           zerolog.Logger
	local, remote netip.AddrPort
	inside        bool   // the client is part of the process, and remote the client that it acts for, if there is one
	as            *Login // the login of that client; nil: the connection logs in like others

	ctx    context.Context // ends with the connection
	cancel context.CancelFunc

	arriving     context.Context // ends when no more input is needed
	stopArriving context.CancelFunc

	session       session
	out           wire.Output
	requests      sync.WaitGroup // those without an answer
	goroutines    share          // of requests
	bytes         share          // of requests that are not answered
	turns         pace.Party     // its reads, batches and long texts in the scheduler
	pendingWrites pendingWrites
	listed        listedRequests
	draining      atomic.Bool
	secured       atomic.Pointer[tls.ConnectionState] // nil: no TLS
	waiting       atomic.Bool                         // the reader waits, and not for input
	served        atomic.Int64                        // requests

	// All fields from here on belong to the reader.
	in wire.Input

	// serveNext serves the first message of the input: serveHandshake, serveEnvelope or serveSegment.
	serveNext func([]byte) (int64, error)

	burst    []*observe.Histogram // of reads that are served, and that observeBurst has not counted
	segments protocol.Segments
	plain    []byte        // the decompressed body of an envelope
	arrived  time.Duration // when the input was read, by monotonic, or when the reader last waited
	reserved int64         // bytes of in, segments and plain that memory.arriving is charged for
	errors   int           // how many bad envelopes came in a row in the segment

	heldUp bool // a read has taken longer than readerTime: goroutines serve the others of the burst

	stretch struct { // messages that it has served since others could run
		messages int
		bytes    int64
	}
}

var (
	errDraining = errors.New("the server shuts down")

	// errHangUp ends a connection when its answers are written.
	errHangUp = errors.New("the connection cannot go on")
)

// lingerTime is how long a client may take to read its last answers when the server closes a connection: closing a
// socket with unread input would discard them.
const lingerTime = 500 * time.Millisecond

// lingerBytes is the most input that is read and dropped meanwhile.
const lingerBytes = 16 << 20

func newConn(n *node, socket net.Conn, id uint32) *conn {
	s := n.server
	c := &conn{
		server: s,
		node:   n,
		raw:    socket,
		socket: socket,
		id:     fmt.Sprintf("%08x", id),
		local:  addrPort(socket.LocalAddr()),
		remote: addrPort(socket.RemoteAddr()),
	}
	c.log = s.log.With().Str("connection", c.id).Stringer("client", c.remote).Logger()
	c.ctx, c.cancel = context.WithCancel(s.ctx)
	c.arriving, c.stopArriving = context.WithCancel(c.ctx)
	c.out.Init(socket, &s.memory.answers)
	c.out.Taken, c.out.Failed, c.out.Log = s.scheduler.Resume, c.cancel, &c.log
	c.turns.Behind = c.out.Behind
	c.in.Reserve, c.in.Release = c.reserve, c.release
	c.segments.Reserve = func(n int) error { return c.reserve(int64(n)) }
	c.goroutines.init()
	c.bytes.init()
	c.segments.Limit = s.limits.Frame
	c.serveNext = c.serveHandshake
	return c
}

// addrPort is the address of a socket, or the zero value: pipes have none.
func addrPort(a net.Addr) netip.AddrPort {
	if tcp, ok := a.(*net.TCPAddr); ok {
		ap := tcp.AddrPort()
		return netip.AddrPortFrom(ap.Addr().Unmap().WithZone(""), ap.Port())
	}
	return netip.AddrPort{}
}

// serve serves the connection until it ends, and returns when all its goroutines have ended.
func (c *conn) serve() {
	defer c.server.forget(c)
	defer c.cancel()
	c.setReadDeadline(time.Now().Add(c.server.limits.Handshake))
	c.log.Debug().Msg("connection opened")

	err := c.readAll()
	defer func() { c.end(err) }()
	c.observeBurst()
	switch {
	case errors.Is(err, errDraining):
		c.waiting.Store(true) // the client may hang up
		c.requests.Wait()
		c.closeAfterAnswers()
	case errors.Is(err, errHangUp):
		c.closeAfterAnswers()
	}
}

// end closes the connection for a reason, and returns when all its goroutines have ended.
func (c *conn) end(err error) {
	c.cancel()
	_ = c.socket.Close() // the client may have closed it before
	c.out.End()
	c.requests.Wait()
	c.out.Close()
	c.in.Drop()
	c.releaseSegments()
	c.log.Debug().AnErr("reason", err).Msg("connection closed")
}

// readAll reads and serves requests until the connection ends. It writes the answers when it has served all the input:
// a burst of requests is answered in a few writes.
func (c *conn) readAll() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = c.panicked(p)
		}
	}()
	if err := c.secure(); err != nil {
		return err
	}
	for {
		if err := c.serveInput(); err != nil {
			return err
		}
		if err := c.in.MakeRoom(); err != nil {
			return c.readError(err)
		}
		c.in.Hold(!c.segments.Free())
		c.observeBurst()
		c.out.Idle()
		if err := c.in.Fill(c.socket); err != nil {
			return c.readError(err)
		}
		c.out.Busy()
		c.arrived, c.heldUp = monotonic(), false
	}
}

// serveInput serves every message that has arrived completely.
func (c *conn) serveInput() error {
	for {
		if c.stretch.messages >= giveWayAfter || c.stretch.bytes >= giveWayBytes {
			runtime.Gosched()
			c.stretch.messages, c.stretch.bytes = 0, 0
		}
		b := c.in.Unread()
		if len(b) == 0 || c.in.Skipping() {
			return nil
		}
		n, err := c.serveNext(b)
		if err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
		c.in.Advance(n)
		c.stretch.messages++
		c.stretch.bytes += n
		if n > ownBody {
			c.in.Disown()
		}
		if c.out.Behind() {
			if c.draining.Load() {
				return errDraining
			}
			c.pause(c.out.Idle)
		}
	}
}

// giveWayAfter is how many messages are served before other goroutines may run, and giveWayBytes how many bytes:
// either takes about a millisecond. They count over several reads of the socket: a read does not yield where there is
// input, and others would wait until Go's scheduler preempts the reader after ten milliseconds.
const (
	giveWayAfter = 128
	giveWayBytes = 512 << 10
)

// readError is the reason why there is no more input.
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

// setReadDeadline makes reading end at a time; zero: never. A connection that drains does not read at all.
func (c *conn) setReadDeadline(t time.Time) {
	_ = c.raw.SetReadDeadline(t) // fails on closed sockets only, and so will reading
	if c.draining.Load() {
		_ = c.raw.SetReadDeadline(longAgo)
	}
}

var longAgo = time.Unix(1, 0)

// drain makes the connection end when all requests that have arrived are answered. A client that leaves answers unread
// gets no others.
func (c *conn) drain() {
	c.draining.Store(true)
	_ = c.raw.SetReadDeadline(longAgo)
	c.stopArriving()
	c.out.End()
	if c.out.Behind() {
		c.cancel()
	}
}

// pause waits, and not for input. Answers are written before.
func (c *conn) pause(wait func()) {
	c.waiting.Store(true)
	c.server.metrics.waits.Add(1)
	defer c.waiting.Store(false)
	c.observeBurst()
	c.out.Idle()
	defer c.out.Busy()
	wait()
	c.in.Resume()
	c.arrived = monotonic()
}

// abort ends the connection and its requests at once.
func (c *conn) abort() {
	c.cancel()
	_ = c.raw.Close() // TLS would wait for the client
}

// closeAfterAnswers writes the remaining answers and lets the client read them, until lingerTime after the last of
// them was written.
func (c *conn) closeAfterAnswers() {
	_ = c.socket.SetWriteDeadline(time.Now().Add(lingerTime))
	until := c.out.Flush().Add(lingerTime)
	if !until.After(time.Now()) {
		return
	}
	half, ok := c.socket.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	_ = c.socket.SetReadDeadline(until)
	_, _ = io.Copy(io.Discard, io.LimitReader(c.socket, lingerBytes)) // until the client closes, or the deadline
}

// maxBurst is how many reads are counted at a time: a connection keeps room for as many, and compressed segments may
// have a lot more of them.
const maxBurst = 1024

// observeBurst counts the time that the reads of a burst took. Only the reader calls it, before it writes the answers.
func (c *conn) observeBurst() {
	if len(c.burst) == 0 {
		return
	}
	took := monotonic() - c.arrived
	for _, latency := range c.burst {
		latency.Observe(took)
	}
	clear(c.burst)
	c.burst = c.burst[:0]
}

// clockStart is the base of monotonic: reading only the monotonic clock takes half the time of time.Now.
var clockStart = time.Now()

// monotonic returns the time on a clock that is never set.
func monotonic() time.Duration { return time.Since(clockStart) }
