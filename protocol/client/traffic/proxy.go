package traffic

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/cqld/cqld/cql/secret"
	"github.com/cqld/cqld/protocol"
)

// Proxy forwards connections to a server byte for byte and records the messages. It forwards but does not record
// bytes that it cannot decode.
type Proxy struct {
	To   string        // the server's address
	Out  io.Writer     // for the recording
	Told func(error)   // called with the errors of failed connections, possibly concurrently
	Dial time.Duration // timeout for connecting to the server, and for the TLS handshake of a client

	ToTLS *tls.Config // for connections to the server; nil: they are not encrypted
	TLS   *tls.Config // for connections of clients; nil: they are not encrypted

	mu    sync.Mutex
	conns int
	err   error // of Out
}

// Serve accepts connections until ctx ends, and returns after the last one has ended. It fails if the recording
// cannot be written.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	p.write(fmt.Appendf(nil, "# cqld proxy: traffic of %s\n", p.To))
	var running sync.WaitGroup
	defer running.Wait()
	for {
		socket, err := l.Accept()
		if ctx.Err() != nil {
			if err == nil {
				_ = socket.Close()
			}
			return p.failed()
		}
		if err != nil {
			return err
		}
		running.Add(1)
		go func() {
			defer running.Done()
			if err := p.pass(ctx, socket); err != nil {
				p.Told(err)
			}
			if p.failed() != nil {
				cancel()
			}
		}()
	}
}

// failed returns why the recording could not be written.
func (p *Proxy) failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// write appends to the recording.
func (p *Proxy) write(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.Out.Write(b); err != nil && p.err == nil {
		p.err = fmt.Errorf("write the recording: %w", err)
	}
}

// halfCloser is a connection that can be closed for writing, as with TCP and TLS.
type halfCloser interface {
	net.Conn
	CloseWrite() error
}

// dial connects to the server.
func (p *Proxy) dial(ctx context.Context) (halfCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, p.Dial)
	defer cancel()
	var conn net.Conn
	var err error
	if p.ToTLS != nil {
		dialer := tls.Dialer{Config: p.ToTLS}
		conn, err = dialer.DialContext(ctx, "tcp", p.To)
	} else {
		var dialer net.Dialer
		conn, err = dialer.DialContext(ctx, "tcp", p.To)
	}
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", p.To, err)
	}
	return conn.(halfCloser), nil
}

// greet does the TLS handshake with a client, if there is one.
func (p *Proxy) greet(ctx context.Context, socket net.Conn) (net.Conn, error) {
	if p.TLS == nil {
		return socket, nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.Dial)
	defer cancel()
	conn := tls.Server(socket, p.TLS)
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("TLS handshake of the client %s: %w", socket.RemoteAddr(), err)
	}
	return conn, nil
}

// pass forwards one connection.
func (p *Proxy) pass(ctx context.Context, socket net.Conn) error {
	defer socket.Close()
	client, err := p.greet(ctx, socket)
	if err != nil {
		return err
	}
	server, err := p.dial(ctx)
	if err != nil {
		return err
	}
	defer server.Close()
	stop := context.AfterFunc(ctx, func() {
		_ = socket.Close()
		_ = server.Close()
	})
	defer stop()
	p.mu.Lock()
	p.conns++
	c := &listening{proxy: p, conn: p.conns, secrets: map[int16]bool{}}
	p.mu.Unlock()
	c.mark("open")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.copy(server, client, &c.requests)
		_ = server.CloseWrite() // the server may have closed it
	}()
	c.copy(client, server, &c.answers)
	_ = client.Close()
	<-ended
	c.mark("closed")
	return c.trouble
}

// listening is the state of a recorded connection.
type listening struct {
	proxy *Proxy
	conn  int

	mu          sync.Mutex // so that a request is written before its answer
	requests    heard
	answers     heard
	compression protocol.Compression
	segments    bool // the answer to STARTUP has come, and the version has segments
	starting    bool // a STARTUP was sent
	deaf        bool // recording ended at undecodable bytes
	secrets     map[int16]bool
	trouble     error
}

// heard is one direction: the bytes of an incomplete message.
type heard struct {
	bytes    []byte
	segments protocol.Segments
}

// maxMessage is the length of the longest recorded message.
const maxMessage = 256 << 20

// copy forwards and records bytes. It records before it forwards, so that requests are recorded before their
// responses.
func (c *listening) copy(to, from net.Conn, h *heard) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			c.hear(h, buf[:n])
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// hear takes bytes of a direction and records the complete messages.
func (c *listening) hear(h *heard, b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deaf {
		return
	}
	h.bytes = append(h.bytes, b...)
	for {
		n, err := c.next(h)
		if err != nil {
			c.deaf, h.bytes = true, nil
			c.trouble = fmt.Errorf("connection %d is not recorded any more: %w", c.conn, err)
			c.proxy.write(fmt.Appendf(nil, "# %v\n", c.trouble))
			return
		}
		if n == 0 {
			h.bytes = slices.Clip(h.bytes)
			return
		}
		h.bytes = h.bytes[n:]
	}
}

// next records the first message, or the messages of the first segment, and returns its length; 0 if it is
// incomplete.
func (c *listening) next(h *heard) (int, error) {
	// Requests after an unanswered STARTUP could not be distinguished from segments: clients send none.
	if c.segments {
		h.segments.Compressed, h.segments.Limit = c.compression == protocol.LZ4, maxMessage
		envelopes, n, err := h.segments.Next(h.bytes)
		for err == nil && len(envelopes) > 0 {
			var header protocol.Header
			var body []byte
			if header, body, envelopes, err = protocol.CutEnvelope(envelopes, maxMessage); err == nil {
				err = c.message(header, body)
			}
		}
		return n, err
	}
	if len(h.bytes) < protocol.HeaderSize {
		return 0, nil
	}
	header := protocol.ParseHeader(h.bytes)
	switch {
	case !header.Version.Supported():
		return 0, fmt.Errorf("version %d of the protocol is unknown", header.Version)
	case header.Length > maxMessage:
		return 0, fmt.Errorf("a message has %d bytes", header.Length)
	}
	end := protocol.HeaderSize + int(header.Length)
	if len(h.bytes) < end {
		return 0, nil
	}
	body, err := c.compression.Body(header, h.bytes[protocol.HeaderSize:end], nil, maxMessage)
	if err != nil {
		return 0, err
	}
	return end, c.message(header, body)
}

// textOf returns the statement of a request.
func textOf(m protocol.Request) (text string, is bool) {
	switch m := m.(type) {
	case *protocol.Query:
		return m.Query, true
	case *protocol.Prepare:
		return m.Query, true
	}
	return "", false
}

// message records a message and tracks compression and segments.
func (c *listening) message(h protocol.Header, body []byte) error {
	l := line{mark: markRequest, conn: c.conn, at: time.Now(), header: h, body: body}
	var comment []byte
	if h.Response {
		l.mark = markAnswer
		l.secret = c.secrets[h.Stream] || h.Opcode == protocol.OpAuthChallenge || h.Opcode == protocol.OpAuthSuccess
		delete(c.secrets, h.Stream)
		if c.starting && (h.Opcode == protocol.OpReady || h.Opcode == protocol.OpAuthenticate) {
			c.starting, c.segments = false, h.Version.HasSegments()
		}
	} else {
		var requests protocol.Requests
		m, err := requests.Decode(h, body)
		if err == nil {
			comment = fmt.Appendf(nil, "# %s\n", m)
		}
		switch m := m.(type) {
		case *protocol.Startup:
			c.starting = true
			if name, ok := m.Get(protocol.OptionCompression); ok {
				if agreed, err := protocol.ParseCompression(name, h.Version); err == nil { // else the server refuses it
					c.compression = agreed
				}
			}
		case *protocol.AuthResponse, *protocol.Credentials:
			l.secret = true
		default:
			l.secret = secret.Names(string(body))
			if text, is := textOf(m); is {
				l.secret = l.secret || secret.Start(text) < len(text)
			}
		}
		if l.secret {
			comment = nil
			c.secrets[h.Stream] = true
		}
	}
	c.proxy.write(l.append(bytes.Clone(comment)))
	return nil
}

// mark records that the connection was opened or closed.
func (c *listening) mark(state string) {
	l := line{mark: markConnection, conn: c.conn, at: time.Now(), state: state}
	c.proxy.write(l.append(nil))
}
