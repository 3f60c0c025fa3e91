package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/server"
)

// httpLimits are the limits of HTTP. A client that stops sending or reading holds its connection, and the memory of its
// request, no longer than this.
type httpLimits struct {
	header      time.Duration // until the header of a request has arrived
	body        time.Duration // until its body has
	place       time.Duration // until others have been served, see atATime
	read        time.Duration // that a client keeps the server waiting for each httpChunk bytes of responses
	idle        time.Duration // until the next request
	connections int
}

func usualHTTPLimits() httpLimits {
	return httpLimits{
		header: 10 * time.Second, body: 30 * time.Second, place: 10 * time.Second, read: 30 * time.Second,
		idle: 2 * time.Minute, connections: httpShare(),
	}
}

const (
	httpHeader = 64 << 10 // bytes of a header
	httpChunk  = 64 << 10 // bytes of a response
)

// httpConnections is how many connections there may be, or an eighth of the file descriptors.
const httpConnections = 256

// httpListener accepts the connections of HTTP. They have a share of the file descriptors, so that they leave some for
// CQL clients, and CQL clients leave some for /health and /ready. If there are too many, the one that the server has
// waited for longest is closed: idle connections cannot lock others out.
type httpListener struct {
	net.Listener
	limits httpLimits

	mu   sync.Mutex
	open map[*httpConn]struct{}
}

// httpConn is a connection of HTTP.
type httpConn struct {
	net.Conn
	listener *httpListener

	// Of the goroutine that writes: bytes since patience was set, and how long the client may keep it waiting still.
	sent     int
	patience time.Duration
	hurried  bool // patience is for the whole response

	// Guarded by the listener.
	busy  bool      // a request has arrived completely, and the server makes the response
	since time.Time // when the connection was opened, or the last response was made
}

func newHTTPListener(l net.Listener, limits httpLimits, log zerolog.Logger) *httpListener {
	return &httpListener{Listener: &sparing{Listener: l, log: log}, limits: limits, open: map[*httpConn]struct{}{}}
}

// Accept implements net.Listener.
func (l *httpListener) Accept() (net.Conn, error) {
	socket, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &httpConn{Conn: socket, listener: l, patience: l.limits.read, since: time.Now()}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= l.limits.connections {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(l.open)), func(a, b *httpConn) int {
			if a.busy != b.busy {
				return map[bool]int{true: 1, false: -1}[a.busy]
			}
			return cmp.Compare(a.since.UnixNano(), b.since.UnixNano())
		})
		delete(l.open, oldest)
		_ = oldest.Conn.Close() // its goroutine ends
	}
	l.open[c] = struct{}{}
	return c, nil
}

// Close implements net.Conn.
func (c *httpConn) Close() error {
	c.listener.mu.Lock()
	delete(c.listener.open, c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite is for http.Server, which lets clients read the last response before it closes a connection.
func (c *httpConn) CloseWrite() error { return c.Conn.(*net.TCPConn).CloseWrite() }

// Write implements net.Conn. It fails if the client does not read, or so slowly that it is as bad.
func (c *httpConn) Write(b []byte) (n int, err error) {
	wasBusy := c.setBusy(false)
	defer c.setBusy(wasBusy)
	for err == nil && n < len(b) {
		began := time.Now()
		_ = c.SetWriteDeadline(began.Add(c.patience)) // fails on closed sockets only
		var written int
		written, err = c.Conn.Write(b[n:min(len(b), n+httpChunk)])
		n, c.sent, c.patience = n+written, c.sent+written, c.patience-time.Since(began)
		if !c.hurried {
			c.renew()
		}
	}
	return n, err
}

// renew sets patience, if enough has been sent since it was set.
func (c *httpConn) renew() {
	if c.sent >= httpChunk {
		c.sent, c.patience = 0, c.listener.limits.read
	}
}

// setBusy sets whether the server, and not the client, has to do the next step. It returns what it was before.
func (c *httpConn) setBusy(busy bool) (before bool) {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	if before, c.busy = c.busy, busy; before && !busy {
		c.since = time.Now()
	}
	return before
}

// httpConnKey is the key of the connection in the context of a request.
type httpConnKey struct{}

// withConn is http.Server.ConnContext.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, httpConnKey{}, c)
}

func connOf(r *http.Request) *httpConn { return r.Context().Value(httpConnKey{}).(*httpConn) }

// atATime serves n requests at a time with a handler that makes whole responses in memory, such as a diagram of 3 MB:
// for all connections at once they would not fit. The next request waits until a client has read its response, for
// which it has httpLimits.read.
func atATime(n int, h http.Handler) http.Handler {
	places := make(chan struct{}, n)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := connOf(r)
		ctx, cancel := context.WithTimeout(r.Context(), c.listener.limits.place)
		defer cancel()
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			http.Error(w, "too many requests are being served: try again", http.StatusServiceUnavailable)
			return
		}
		c.renew()
		c.hurried = true
		defer func() {
			c.hurried = false
			<-places
		}()
		h.ServeHTTP(w, r)
	})
}

// boundHTTP gives the bodies of a handler's requests a deadline, and long ones a share of the memory for clients.
// http.Server's ReadTimeout and WriteTimeout would end live pages and downloads too.
func boundHTTP(h http.Handler, srv *server.Server) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := connOf(r)
		body := &httpBody{ReadCloser: r.Body, conn: c, server: srv, ends: time.Now().Add(c.listener.limits.body)}
		if r.Body == http.NoBody {
			c.setBusy(true)
		} else {
			_ = c.SetReadDeadline(body.ends) // fails on closed sockets only
			r = r.WithContext(r.Context())   // a copy, because http.Server still reads its own body
			r.Body = body
		}
		defer func() {
			body.release()
			c.setBusy(false)
		}()
		h.ServeHTTP(w, r)
	})
}

// httpBody is the body of a request.
type httpBody struct {
	io.ReadCloser
	conn       *httpConn
	server     *server.Server
	ends       time.Time // the deadline
	read, held int64     // bytes that have arrived, and bytes of memory that they were charged
}

// The memory of a body: forms take some copies of it. Short bodies are not charged, because otherwise a few clients
// that send long ones slowly would delay logins.
const (
	freeBody   = 64 << 10
	bodyCopies = 4
)

// errLateBody is the error of a body that has not arrived in time.
var errLateBody = fmt.Errorf("the body did not arrive in time, or others hold the memory for bodies: %w", os.ErrDeadlineExceeded)

// Read reads the body, and charges its bytes.
func (b *httpBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	switch {
	case errors.Is(err, io.EOF):
		_ = b.conn.SetReadDeadline(time.Time{}) // the server only notices if the client hangs up
		b.conn.setBusy(true)
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = errLateBody
	}
	if more := (b.read-freeBody)*bodyCopies - b.held; more > 0 && b.charge(more) != nil {
		return 0, errLateBody
	}
	return n, err
}

func (b *httpBody) charge(n int64) error {
	ctx, cancel := context.WithDeadline(context.Background(), b.ends)
	defer cancel()
	err := b.server.TakeHTTP(ctx, b, n)
	if err == nil {
		b.held += n
	}
	return err
}

func (b *httpBody) release() {
	if b.held > 0 {
		b.server.GiveHTTP(b, b.held)
	}
}
