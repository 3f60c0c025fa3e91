package server

import "github.com/cqld/cqld/protocol"

// serveHandshake (handshake.go), serveEnvelope (v3 and v4) and serveSegment (v5, segments.go) serve the first message
// of the input. They return its length, or 0 if it has not arrived completely. A connection begins with serveHandshake,
// and STARTUP decides which of the others follows.

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
		c.in.need = int64(end)
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

// envelopeEnd is where an envelope ends whose header h was refused. If its length is out of bounds as well, it is none.
func (c *conn) envelopeEnd(h protocol.Header) (int64, error) {
	if protocol.CheckLength(h, c.server.limits.Frame, false) != nil {
		return 0, errNotCQL
	}
	return protocol.HeaderSize + int64(h.Length), nil
}

// refuseLong skips an envelope that is too long. It answers when all of it has arrived: the client may not read before.
func (c *conn) refuseLong(h protocol.Header, v protocol.Version, err error) int64 {
	c.in.skipped = func() { c.refuseHeader(v, h.Stream, err) }
	return protocol.HeaderSize + int64(h.Length)
}

// refuseHeader answers an error in the form of a version, which may not be the connection's.
func (c *conn) refuseHeader(v protocol.Version, stream int16, err error) {
	if v == c.session.version {
		c.refuse(stream, err)
		return
	}
	c.out.appendAs(v, stream, c.errorMessage(err))
}

// refuse answers with an error before there is a request.
func (c *conn) refuse(stream int16, err error) {
	c.out.append(stream, nil, c.errorMessage(err))
}
