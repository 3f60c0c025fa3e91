package server

import (
	"context"
	"errors"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol"
)

// The take methods serve what stands first in the input and return how long it is, or 0 if it has not
// arrived completely. A connection begins with takeHandshake; STARTUP decides what comes after.

// takeHandshake takes an envelope before the version is agreed on. Errors about headers are answered as v5,
// whatever the client speaks, because that is what Cassandra does and drivers look for.
func (c *conn) takeHandshake(b []byte) (int64, error) {
	if err := protocol.CheckVersionByte(b[0]); err != nil {
		c.refuseHeader(err.Version, err.Stream, err)
		return int64(len(b)), nil // a TLS or HTTP client is told once
	}
	if len(b) < protocol.HeaderSize {
		return 0, nil
	}
	h := protocol.ParseHeader(b)
	if err := h.Check(); err != nil {
		c.refuseHeader(err.Version, err.Stream, err)
		return c.behind(h, b), nil
	}
	if err := protocol.CheckLength(h, c.server.limits.Frame, false); err != nil {
		return c.refuseLong(h, protocol.V5, err), nil
	}
	end := protocol.HeaderSize + int(h.Length)
	if len(b) < end {
		c.in.need = int64(end)
		return 0, nil
	}
	c.handshake(h, b[protocol.HeaderSize:end:end])
	return int64(end), nil
}

// takeEnvelope takes an envelope of v3 or v4.
func (c *conn) takeEnvelope(b []byte) (int64, error) {
	version := c.session.version
	if err := protocol.CheckVersionByte(b[0]); err != nil {
		if err.Version.Supported() {
			err.Version = version
		}
		c.refuseHeader(err.Version, err.Stream, err)
		return int64(len(b)), nil
	}
	if len(b) < protocol.HeaderSize {
		return 0, nil
	}
	h := protocol.ParseHeader(b)
	if err := c.checkHeader(h); err != nil {
		c.refuseHeader(err.Version, err.Stream, err)
		return c.behind(h, b), nil
	}
	if err := protocol.CheckLength(h, c.server.limits.Frame, false); err != nil {
		return c.refuseLong(h, version, err), nil
	}
	end := protocol.HeaderSize + int(h.Length)
	if len(b) < end {
		c.in.need = int64(end)
		return 0, nil
	}
	body := b[protocol.HeaderSize:end:end]
	if h.Flags.Has(protocol.FlagCompressed) && c.session.compression != protocol.NoCompression {
		return int64(end), c.compressed(h, body)
	}
	return int64(end), c.request(h, body)
}

// compressed takes an envelope whose body is compressed. Without negotiated compression the flag means nothing.
func (c *conn) compressed(h protocol.Header, body []byte) error {
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
	return c.request(h, plain)
}

// keptPlain is the largest buffer that is kept for the next decompressed body.
const keptPlain = 64 << 10

// takeSegment takes a segment of v5 and the envelopes in it.
func (c *conn) takeSegment(b []byte) (int64, error) {
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
		if envelopes, err = c.takeEnclosed(envelopes); err != nil {
			return 0, err
		}
	}
	if c.segments.Free() {
		c.releaseSegments()
	}
	return int64(n), nil
}

// takeEnclosed takes the first of the envelopes of a segment and returns the others.
func (c *conn) takeEnclosed(b []byte) (rest []byte, err error) {
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
	return rest, c.request(h, body)
}

// countError counts an envelope that could not be understood: the second in a row in one segment is the
// connection's end.
func (c *conn) countError() error {
	if c.errors++; c.errors > 1 && c.session.version.HasSegments() {
		return errHangUp
	}
	return nil
}

// checkHeader judges a header on a connection whose version is agreed on.
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

// behind is where the next envelope begins if h stands at the beginning of b. A length that is out of
// bounds is not believed: what has arrived is given up.
func (c *conn) behind(h protocol.Header, b []byte) int64 {
	if protocol.CheckLength(h, c.server.limits.Frame, false) != nil {
		return int64(len(b))
	}
	return protocol.HeaderSize + int64(h.Length)
}

// refuseLong skips an envelope that is too long and answers when all of it has come, as the client might
// not read before.
func (c *conn) refuseLong(h protocol.Header, v protocol.Version, err error) int64 {
	c.in.skipped = func() { c.refuseHeader(v, h.Stream, err) }
	return protocol.HeaderSize + int64(h.Length)
}

// refuseHeader answers an error as a version that need not be the connection's.
func (c *conn) refuseHeader(v protocol.Version, stream int16, err error) {
	if v == c.session.version {
		c.refuse(stream, err)
		return
	}
	c.out.appendAs(v, stream, c.errorMessage(err))
}

// refuse answers an error to something that did not become a request.
func (c *conn) refuse(stream int16, err error) {
	c.out.append(stream, nil, c.errorMessage(err))
}

// segmentError is what a client is told about a segment.
func (c *conn) segmentError(err error) error {
	var crc *protocol.CRCError
	if errors.As(err, &crc) {
		return crc.On(c.id)
	}
	return err
}

// isFatal reports whether what follows an error in segments cannot be understood.
func isFatal(err error) bool {
	var segment *protocol.SegmentError
	var crc *protocol.CRCError
	return errors.As(err, &segment) || errors.As(err, &crc)
}

// handshake serves a request before the version is agreed on. Only two are allowed, and the others are not
// even decoded.
func (c *conn) handshake(h protocol.Header, body []byte) {
	if h.Opcode != protocol.OpStartup && h.Opcode != protocol.OpOptions {
		c.refuseHeader(h.Version, 0, unexpected(h.Opcode))
		return
	}
	c.server.metrics.requests[h.Opcode].Add(1)
	var decoder protocol.Requests
	m, err := decoder.Decode(h, body)
	if err != nil {
		c.refuseHeader(h.Version, 0, err)
		return
	}
	if startup, ok := m.(*protocol.Startup); ok {
		c.startup(h, startup)
		return
	}
	c.out.appendAs(h.Version, h.Stream, supported)
}

// unexpected is for a request before STARTUP.
func unexpected(op protocol.Opcode) *cqlerr.Error {
	return cqlerr.Protocolf("Unexpected message %s, expecting STARTUP or OPTIONS", op)
}
