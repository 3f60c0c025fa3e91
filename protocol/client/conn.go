// Package client is a small client of the native protocol: one connection, one request at a time. The commands cqld
// exec and cqld ping use it, and tests that check the exact responses of a server. It is not a driver: it knows one
// node and never retries, except that it prepares again a statement that the server has evicted.
//
// Dial opens a Conn and agrees on a version. Conn.Query, Prepare, Execute and Batch run statements and return a
// Result; values are the bytes of the protocol (package types prints and parses them). Conn.Do sends any request;
// Send, Receive and their raw forms are for tests that need another order.
//
// A Conn has no goroutine. Events that arrive before a response are kept for NextEvent.
package client

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/cqld/cqld/protocol"
)

// maxBody is the longest accepted response: the limit of the specification.
const maxBody = 256 << 20

// Conn is a connection to a server. It may not be used concurrently.
type Conn struct {
	sock     net.Conn
	in       *bufio.Reader
	out      []byte
	enc      protocol.Encoder
	segments protocol.Segments
	buffer   []byte // buffer for segments
	unread   []byte // its bytes that were not decoded yet
	pending  []byte // envelopes of the last segment
	stream   int16
	events   []*protocol.Event
}

// Answer is a message from the server.
type Answer struct {
	Header   protocol.Header
	Prefix   *protocol.Prefix
	Response protocol.Response
}

// Close closes the connection.
func (c *Conn) Close() error { return c.sock.Close() }

// Version is the version agreed on.
func (c *Conn) Version() protocol.Version { return c.enc.Version }

// NetConn is the socket, for tests that send invalid bytes.
func (c *Conn) NetConn() net.Conn { return c.sock }

// Do sends a request and waits for its answer. If that is an ERROR, err is the *cqlerr.Error in it.
func (c *Conn) Do(ctx context.Context, m protocol.Request) (*Answer, error) {
	return c.do(ctx, m, 0, nil)
}

func (c *Conn) do(
	ctx context.Context, m protocol.Request, f protocol.Flags, payload []protocol.PayloadEntry,
) (*Answer, error) {
	c.stream = c.stream%0x7fff + 1
	if err := c.Send(ctx, c.stream, f, payload, m); err != nil {
		return nil, err
	}
	answer, err := c.Receive(ctx)
	if err != nil {
		return nil, err
	}
	if e, ok := answer.Response.(*protocol.Error); ok {
		return answer, e.Err
	}
	if answer.Header.Stream != c.stream {
		return answer, fmt.Errorf("the answer has stream %d, the request %d", answer.Header.Stream, c.stream)
	}
	return answer, nil
}

// Send sends a request without waiting for an answer.
func (c *Conn) Send(
	ctx context.Context, stream int16, f protocol.Flags, payload []protocol.PayloadEntry, m protocol.Request,
) error {
	if c.enc.Version.IsBeta() {
		f |= protocol.FlagUseBeta
	}
	c.out = c.enc.AppendRequest(c.out[:0], stream, f, payload, m)
	return c.write(ctx)
}

// SendEnvelope sends an encoded envelope, in a segment if the connection has them.
func (c *Conn) SendEnvelope(ctx context.Context, envelope []byte) error {
	c.out = c.enc.AppendEnvelope(c.out[:0], envelope)
	return c.write(ctx)
}

func (c *Conn) write(ctx context.Context) error {
	defer c.watch(ctx)()
	c.out = c.enc.Flush(c.out)
	_, err := c.sock.Write(c.out)
	c.out = c.out[:0]
	if err != nil {
		return canceled(ctx, fmt.Errorf("write a request: %w", err))
	}
	return nil
}

// Receive waits for a message that is not an event. Events are kept for NextEvent.
func (c *Conn) Receive(ctx context.Context) (*Answer, error) {
	for {
		answer, err := c.receive(ctx)
		if err != nil {
			return nil, err
		}
		event, ok := answer.Response.(*protocol.Event)
		if !ok {
			return answer, nil
		}
		c.events = append(c.events, event)
	}
}

// NextEvent returns the next event that was registered for, and waits for it if none has come yet.
func (c *Conn) NextEvent(ctx context.Context) (*protocol.Event, error) {
	if len(c.events) > 0 {
		event := c.events[0]
		c.events = c.events[1:]
		return event, nil
	}
	answer, err := c.receive(ctx)
	if err != nil {
		return nil, err
	}
	event, ok := answer.Response.(*protocol.Event)
	if !ok {
		return nil, fmt.Errorf("unexpected response: %s", answer.Response)
	}
	return event, nil
}

func (c *Conn) receive(ctx context.Context) (*Answer, error) {
	h, body, err := c.ReceiveEnvelope(ctx)
	if err != nil {
		return nil, err
	}
	m, prefix, err := protocol.DecodeResponse(h, body)
	if err != nil {
		return nil, fmt.Errorf("decode an answer: %w", err)
	}
	return &Answer{Header: h, Prefix: prefix, Response: m}, nil
}

// ReceiveEnvelope waits for an envelope and returns it with its body decompressed.
func (c *Conn) ReceiveEnvelope(ctx context.Context) (protocol.Header, []byte, error) {
	if len(c.pending) == 0 { // else nothing is read
		defer c.watch(ctx)()
	}
	read := c.readEnvelope
	if c.enc.Segments {
		read = c.readSegments
	}
	h, body, err := read()
	if err != nil {
		return h, nil, canceled(ctx, fmt.Errorf("read an answer: %w", err))
	}
	return h, body, nil
}

func (c *Conn) readEnvelope() (h protocol.Header, body []byte, err error) {
	var header [protocol.HeaderSize]byte
	if _, err := io.ReadFull(c.in, header[:]); err != nil {
		return h, nil, err
	}
	h = protocol.ParseHeader(header[:])
	if h.Length > maxBody {
		return h, nil, fmt.Errorf("an answer of %d bytes", h.Length)
	}
	var b bytes.Buffer
	if _, err := io.CopyN(&b, c.in, int64(h.Length)); err != nil {
		return h, nil, err
	}
	body, err = c.enc.Compression.Body(h, b.Bytes(), nil, maxBody)
	return h, body, err
}

// minRead is the minimal free space in the buffer for a read of segments.
const minRead = 4 << 10

// readSegments returns the next envelope and keeps the others of its segment.
func (c *Conn) readSegments() (protocol.Header, []byte, error) {
	for len(c.pending) == 0 {
		envelopes, n, err := c.segments.Next(c.unread)
		if err != nil {
			return protocol.Header{}, nil, err
		}
		c.unread, c.pending = c.unread[n:], bytes.Clone(envelopes)
		if n > 0 {
			continue
		}
		if len(c.unread) == 0 {
			c.unread = c.buffer[:0]
		}
		c.unread = slices.Grow(c.unread, minRead)
		c.buffer = c.unread[:0]
		n, err = c.in.Read(c.unread[len(c.unread):cap(c.unread)])
		if err != nil {
			return protocol.Header{}, nil, err
		}
		c.unread = c.unread[:len(c.unread)+n]
	}
	h, body, rest, err := protocol.CutEnvelope(c.pending, maxBody)
	c.pending = rest
	return h, body, err
}

// watch ends operations on the socket when ctx ends. After the returned function nothing changes the deadline that
// another operation sets.
func (c *Conn) watch(ctx context.Context) (stop func()) {
	deadline, _ := ctx.Deadline() // without deadline the zero time, which means none to the socket too
	_ = c.sock.SetDeadline(deadline)
	ended := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		_ = c.sock.SetDeadline(time.Unix(1, 0))
		close(ended)
	})
	return func() {
		if !cancel() {
			<-ended
		}
	}
}

// canceled returns the cause of a canceled context, else err.
func canceled(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}
