package server

import (
	"context"
	"errors"

	"github.com/cqld/cqld/protocol"
)

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

// countError counts an envelope that could not be decoded. The second in a row in one segment ends the connection.
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

// isFatal reports whether the bytes behind a wrong segment cannot be decoded.
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
