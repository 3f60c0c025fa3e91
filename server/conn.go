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
	"github.com/cqld/cqld/store/pace"
)

// conn is one connection. The goroutine of run reads it and is called the reader. It serves quick requests itself;
// others have goroutines of their own, which run waits for.
type conn struct {
	server        *Server
	node          *node    // that the client has connected to
	raw           net.Conn // the socket
	socket        net.Conn // raw, or TLS on it: what the reader reads
	id            string   // 8 hex digits: in log lines and in errors about checksums
	log           zerolog.Logger
	local, remote netip.AddrPort

	ctx    context.Context // ends with the connection
	cancel context.CancelFunc

	arriving     context.Context // ends when nothing more has to arrive
	stopArriving context.CancelFunc

	session       session
	out           output
	requests      sync.WaitGroup // that are not answered
	goroutines    share          // that requests have
	bytes         share          // of requests that are not answered
	turns         pace.Party     // its reads, batches and long texts in the scheduler
	pendingWrites pendingWrites
	listed        listedRequests
	draining      atomic.Bool
	secured       atomic.Pointer[tls.ConnectionState] // nil: no TLS
	waiting       atomic.Bool                         // the reader waits for something other than input
	served        atomic.Int64                        // requests

	// What follows belongs to the reader.
	in input

	// serveNext serves the first message of the input: serveHandshake, serveEnvelope or serveSegment.
	serveNext func([]byte) (int64, error)

	burst    []*observe.Histogram // of the reads that it has served and that observeBurst has not counted
	segments protocol.Segments
	plain    []byte        // the decompressed body of an envelope
	arrived  time.Duration // when the input was read, by monotonic, or when the reader last waited
	reserved int64         // bytes of in, segments and plain that memory.arriving is charged for
	errors   int           // how many bad envelopes came in a row in the segment

	heldUp bool // a read has taken longer than readerTime: goroutines serve the others of the burst

	stretch struct { // what it has served since others could run
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

// lingerBytes is how much of what the client has sent is read and dropped meanwhile.
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
	c.out.init(socket, &s.memory)
	c.out.taken, c.out.failed = s.scheduler.Resume, c.cancel
	c.turns.Behind = c.out.behind
	c.in.reserve, c.in.release = c.reserve, c.release
	c.segments.Reserve = func(n int) error { return c.reserve(int64(n)) }
	c.goroutines.init()
	c.bytes.init()
	c.segments.Limit = s.limits.Frame
	c.serveNext = c.serveHandshake
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

// run serves the connection until it ends, and returns when all its goroutines have ended.
func (c *conn) run() {
	defer c.server.forget(c)
	defer c.cancel()
	c.setReadDeadline(time.Now().Add(c.server.limits.Handshake))
	c.log.Debug().Msg("connection opened")

	err := c.readAll()
	c.observeBurst()
	switch {
	case errors.Is(err, errDraining):
		c.waiting.Store(true) // the client may hang up
		c.requests.Wait()
		c.closeAfterAnswers()
	case errors.Is(err, errHangUp):
		c.closeAfterAnswers()
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

// readAll serves what arrives until the connection ends. It writes answers when everything that has arrived is served:
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
		if err := c.in.makeRoom(); err != nil {
			return c.readError(err)
		}
		c.in.held(c.in.reserved > 0 || !c.segments.Free())
		c.observeBurst()
		c.out.idle()
		if err := c.in.fill(c.socket); err != nil {
			return c.readError(err)
		}
		c.out.busy()
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
		b := c.in.unread()
		if len(b) == 0 || c.in.skipping() {
			return nil
		}
		n, err := c.serveNext(b)
		if err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
		c.in.advance(n)
		c.stretch.messages++
		c.stretch.bytes += n
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

// giveWayAfter is how many messages are served before other goroutines may run, and giveWayBytes how long they may be:
// either takes about a millisecond. They count over several reads: one for which there is something does not wait, and
// others would wait until the scheduler ends a turn of ten milliseconds.
const (
	giveWayAfter = 128
	giveWayBytes = 512 << 10
)

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

// setReadDeadline makes reading end at a time; the zero time is never. A connection that drains does not read at all.
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
	c.out.end()
	if c.out.behind() {
		c.cancel()
	}
}

// pause waits for something other than input. Answers are written before.
func (c *conn) pause(wait func()) {
	c.waiting.Store(true)
	c.server.metrics.waits.Add(1)
	defer c.waiting.Store(false)
	c.observeBurst()
	c.out.idle()
	defer c.out.busy()
	wait()
	c.in.resume()
	c.arrived = monotonic()
}

// abort ends the connection and its requests at once.
func (c *conn) abort() {
	c.cancel()
	_ = c.raw.Close() // TLS would wait for the client
}

// closeAfterAnswers writes the remaining answers and lets the client read them, for what is left of lingerTime behind
// the last of them. A client that was answered earlier is not waited for.
func (c *conn) closeAfterAnswers() {
	_ = c.socket.SetWriteDeadline(time.Now().Add(lingerTime))
	left := c.out.flush() + lingerTime - monotonic()
	if left <= 0 {
		return
	}
	half, ok := c.socket.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	_ = c.socket.SetReadDeadline(time.Now().Add(left))
	_, _ = io.Copy(io.Discard, io.LimitReader(c.socket, lingerBytes)) // until the client closes, or has had time to
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
