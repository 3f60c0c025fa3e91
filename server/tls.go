package server

import (
	"bytes"
	"container/list"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/cqld/cqld/server/observe"
)

// TLS configures the encryption of connections.
type TLS struct {
	Config *tls.Config // of the server: its certificates, and whether clients need one

	// Optional lets clients connect without TLS as well. The first byte of a connection tells.
	Optional bool
}

// tlsHandshake is the first byte of a TLS connection. That of a CQL connection is a version of the protocol.
const tlsHandshake = 0x16

// errNoTLS ends a connection that is not encrypted, where it has to be. Cassandra does not answer it either.
var errNoTLS = errors.New("it speaks no TLS")

// secure waits for the first bytes of a connection. If they begin a TLS handshake, it completes that and has the
// connection read and written through TLS.
func (c *conn) secure() error {
	options := c.server.tls
	if options == nil || c.inside { // connections inside the process stay as they are
		return nil
	}
	if !options.Optional {
		defer c.server.handshakes.begin(c)()
		c.setReadDeadline(time.Now().Add(c.server.limits.TLSHandshake))
	}
	if err := c.in.MakeRoom(); err != nil {
		return err
	}
	switch err := c.in.Fill(c.raw); {
	case err == nil:
	case options.Optional || errors.Is(err, io.EOF):
		return c.readError(err)
	default:
		return c.handshakeError(err)
	}
	switch {
	case c.in.Unread()[0] == tlsHandshake:
	case options.Optional:
		return nil
	default:
		if method, _ := httpMethod(c.in.Unread()); method != "" {
			c.answerHTTP(method)
			return c.handshakeError(errNotCQL)
		}
		return c.handshakeError(errNoTLS)
	}
	if options.Optional {
		defer c.server.handshakes.begin(c)()
	}
	first := bytes.Clone(c.in.Unread())
	c.in.Drop()
	return c.shakeHands(tls.Server(&prefixed{Conn: c.raw, first: first}, options.Config))
}

// shakeHands completes a TLS handshake.
func (c *conn) shakeHands(secured *tls.Conn) error {
	deadline := time.Now().Add(c.server.limits.TLSHandshake)
	c.setReadDeadline(deadline)
	_ = c.raw.SetWriteDeadline(deadline) // fails on closed sockets only, and so will writing
	if err := secured.Handshake(); err != nil {
		return c.handshakeError(err)
	}
	_ = c.raw.SetWriteDeadline(time.Time{})
	state := secured.ConnectionState()
	c.secured.Store(&state)
	c.socket = secured
	c.out.UseSocket(secured)
	c.setReadDeadline(time.Now().Add(c.server.limits.Handshake))
	return nil
}

const handshakeFailed = "a TLS handshake failed"

// handshakeError counts and logs a TLS handshake that has failed.
func (c *conn) handshakeError(err error) error {
	if c.draining.Load() {
		return errDraining
	}
	c.server.metrics.failedHandshakes.Add(1)
	switch {
	case isTimeout(err):
		err = fmt.Errorf("it took more than %v", c.server.limits.TLSHandshake)
	case errors.Is(err, net.ErrClosed):
		err = fmt.Errorf("more than %d were under way, and it was the oldest", c.server.limits.Handshakes)
	}
	if c.server.logged.Allow(handshakeFailed, c.remote.Addr()) {
		c.log.Warn().Str("error", observe.Shown(err.Error())).Msg(handshakeFailed)
	}
	return fmt.Errorf("TLS handshake: %w", err)
}

// prefixed is a socket whose first bytes have been read already.
type prefixed struct {
	net.Conn
	first []byte
}

// Read returns the first bytes, then reads the socket.
func (b *prefixed) Read(p []byte) (int, error) {
	if len(b.first) == 0 {
		return b.Conn.Read(p)
	}
	n := copy(p, b.first)
	if b.first = b.first[n:]; len(b.first) == 0 {
		b.first = nil
	}
	return n, nil
}

// handshakes are the connections whose TLS handshake is not completed, the oldest first.
type handshakes struct {
	limit int

	mu   sync.Mutex
	open list.List // of *conn
}

// begin adds a connection and returns a function that removes it. If there are too many, the oldest is closed: it has
// had more time than the others.
func (h *handshakes) begin(c *conn) (end func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.open.PushBack(c)
	if h.open.Len() > h.limit {
		oldest := h.open.Remove(h.open.Front()).(*conn)
		_ = oldest.raw.Close() // its reader ends
	}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.open.Remove(e) // does nothing if it was removed above
	}
}
