package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"github.com/cqld/cqld/protocol"
)

// serveHandshake (handshake.go), serveEnvelope (v3 and v4) and serveSegment (v5) serve the first message
// of the input. They return its length, or 0 if it has not arrived completely. A connection begins with
// serveHandshake, and STARTUP decides which of the others follows.

// serveEnvelope serves the first envelope of the input.
func (c *conn) serveEnvelope(b []byte) (int64, error) {
	version := c.session.version
	if err := protocol.CheckVersionByte(b[0]); err != nil {
		if err.Version.Supported() {
			err.Version = version
		}
		return 0, c.refuseBytes(b, err)
	}
	if len(b) < protocol.HeaderSize {
		return 0, nil
	}
	h := protocol.ParseHeader(b)
	if err := c.checkHeader(h); err != nil {
		c.refuseHeader(err.Version, err.Stream, err)
		return c.envelopeEnd(h)
	}
	if err := protocol.CheckLength(h, c.server.limits.Frame, false); err != nil {
		return c.refuseLong(h, version, err), nil
	}
	end := protocol.HeaderSize + int(h.Length)
	if len(b) < end {
		c.in.Need = int64(end)
		return 0, nil
	}
	body := b[protocol.HeaderSize:end:end]
	if h.Flags.Has(protocol.FlagCompressed) && c.session.compression != protocol.NoCompression {
		return int64(end), c.serveCompressed(h, body)
	}
	return int64(end), c.serveRequest(h, body)
}

// serveCompressed serves an envelope whose body is compressed.
func (c *conn) serveCompressed(h protocol.Header, body []byte) error {
	compression, limit := c.session.compression, c.server.limits.Frame
	if n := compression.DecompressedLen(body); n > keptPlain && n <= limit {
		if err := c.reserve(int64(n)); err != nil {
			return err
		}
		defer c.release(int64(n))
	}
	plain, err := compression.AppendDecompressed(c.plain[:0], body, limit)
	if err != nil {
		c.refuse(0, err)
		return nil
	}
	if c.plain = plain; cap(plain) > keptPlain {
		c.plain = nil // the request may own it
	}
	return c.serveRequest(h, plain)
}

// keptPlain is the largest buffer that is kept for the next decompressed body.
const keptPlain = 64 << 10

// checkHeader checks a header on a connection that has agreed on a version.
func (c *conn) checkHeader(h protocol.Header) *protocol.HeaderError {
	version := c.session.version
	if err := h.Check(); err != nil {
		if err.Kind != protocol.BetaUnset { // which is answered as that version
			err.Version = version
		}
		if err.Kind != protocol.BetaUnset || version.HasSegments() {
			err.Stream = h.Stream
		}
		return err
	}
	if h.Version != version {
		return &protocol.HeaderError{
			Err: protocol.VersionMismatch(h.Version, version), Version: version, Stream: h.Stream,
		}
	}
	return nil
}

// envelopeEnd is the end of an envelope whose header h was refused. If its length is out of bounds as well, the bytes
// are no envelope.
func (c *conn) envelopeEnd(h protocol.Header) (int64, error) {
	if protocol.CheckLength(h, c.server.limits.Frame, false) != nil {
		return 0, errNotCQL
	}
	return protocol.HeaderSize + int64(h.Length), nil
}

// refuseLong skips an envelope that is too long. It answers when all of it has arrived: the client may not read
// before.
func (c *conn) refuseLong(h protocol.Header, v protocol.Version, err error) int64 {
	c.in.Skipped = func() { c.refuseHeader(v, h.Stream, err) }
	return protocol.HeaderSize + int64(h.Length)
}

// refuseHeader answers an error in the form of a version, which may not be the connection's.
func (c *conn) refuseHeader(v protocol.Version, stream int16, err error) {
	if v == c.session.version {
		c.refuse(stream, err)
		return
	}
	c.out.AppendAs(v, stream, c.errorMessage(err))
}

// refuse answers with an error before there is a request.
func (c *conn) refuse(stream int16, err error) {
	c.out.Append(stream, nil, c.errorMessage(err))
}

// serveSegment serves the envelopes of the first segment (v5).
func (c *conn) serveSegment(b []byte) (int64, error) {
	envelopes, n, err := c.segments.Next(b)
	if errors.Is(err, context.Canceled) { // while it waited for memory
		return 0, c.readError(err)
	}
	if err != nil {
		c.refuse(0, c.segmentError(err))
		if n == 0 || isFatal(err) {
			return 0, errHangUp
		}
		return int64(n), nil
	}
	c.errors = 0
	for len(envelopes) > 0 {
		if envelopes, err = c.serveEnclosed(envelopes); err != nil {
			return 0, err
		}
	}
	if c.segments.Free() {
		c.releaseSegments()
	}
	return int64(n), nil
}

// serveEnclosed serves the first envelope of a segment and returns the rest.
func (c *conn) serveEnclosed(b []byte) (rest []byte, err error) {
	if len(b) >= protocol.HeaderSize {
		h := protocol.ParseHeader(b)
		if err := c.checkHeader(h); err != nil {
			c.refuseHeader(err.Version, err.Stream, err)
			b = b[protocol.HeaderSize:]
			return b[min(int64(len(b)), int64(h.Length)):], c.countError()
		}
	}
	h, body, rest, err := protocol.CutEnvelope(b, c.server.limits.Frame)
	if err != nil {
		c.refuse(h.Stream, err)
		if isFatal(err) {
			return nil, errHangUp
		}
		return rest, nil
	}
	return rest, c.serveRequest(h, body)
}

// countError counts an envelope that could not be decoded. The second one in a row ends the connection, on v5.
func (c *conn) countError() error {
	if c.errors++; c.errors > 1 && c.session.version.HasSegments() {
		return errHangUp
	}
	return nil
}

// segmentError is the error that a client gets about a segment.
func (c *conn) segmentError(err error) error {
	var crc *protocol.CRCError
	if errors.As(err, &crc) {
		return crc.On(c.id)
	}
	return err
}

// isFatal reports whether the bytes after a wrong segment cannot be decoded.
func isFatal(err error) bool {
	var segment *protocol.SegmentError
	var crc *protocol.CRCError
	return errors.As(err, &segment) || errors.As(err, &crc)
}

// releaseSegments gives back the memory that was reserved for the parts of a large message.
func (c *conn) releaseSegments() {
	if n := c.segments.Release(); n > 0 {
		c.release(int64(n))
	}
}

// errNotCQL ends a connection on which something other than CQL arrives.
var errNotCQL = fmt.Errorf("%w: it does not speak CQL", errHangUp)

// refuseBytes closes a connection whose next bytes are not an envelope of a supported version. The start of the next
// envelope is unknown, and guessing would be dangerous: a web page can make a browser send HTTP requests and TLS
// handshakes to this port, and choose some of their bytes. HTTP clients get an HTTP response, others get err.
//
// It returns nil if b is too short to tell.
func (c *conn) refuseBytes(b []byte, err *protocol.HeaderError) error {
	if c.session.version == 0 {
		method, partial := httpMethod(b)
		if partial {
			return nil
		}
		if method != "" {
			c.answerHTTP(method)
			return errNotCQL
		}
	}
	c.refuseHeader(err.Version, err.Stream, err)
	return errNotCQL
}

// httpMethods are the first words of HTTP requests. PRI begins a connection of HTTP/2.
var httpMethods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodConnect, http.MethodOptions, http.MethodTrace, "PRI",
}

// httpMethod returns the method of the HTTP request that b begins with; "": there is none. partial reports that b may
// be the beginning of one.
func httpMethod(b []byte) (method string, partial bool) {
	word, _, whole := bytes.Cut(b[:min(len(b), len("OPTIONS "))], []byte(" "))
	for _, m := range httpMethods {
		if whole && m == string(word) {
			return m, false
		}
		partial = partial || !whole && strings.HasPrefix(m, string(word))
	}
	return "", partial
}

// answerHTTP explains this port to an HTTP client.
func (c *conn) answerHTTP(method string) {
	speaks := "CQL"
	if t := c.server.tls; t != nil && !t.Optional {
		speaks = "CQL over TLS"
	}
	text := fmt.Sprintf("This port speaks %s, the protocol of Apache Cassandra, and not HTTP.\n"+
		"Connect to it with cqlsh or a Cassandra driver.\n", speaks)
	if at := c.server.http; at.IsValid() {
		if at.Addr().IsUnspecified() { // as [::]
			at = netip.AddrPortFrom(c.local.Addr(), at.Port())
		}
		text += fmt.Sprintf("Metrics are at http://%s/metrics.\n", at)
	}
	answer := fmt.Sprintf("HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"+
		"X-Content-Type-Options: nosniff\r\nContent-Length: %d\r\nConnection: close\r\n\r\n", len(text))
	if method != http.MethodHead {
		answer += text
	}
	c.out.AppendText(answer)
}
