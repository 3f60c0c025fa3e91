package server

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol"
)

// serveHandshake serves an envelope before the version is agreed on. Errors about headers are answered as v5, whatever
// the client speaks: Cassandra does so, and drivers rely on it.
func (c *conn) serveHandshake(b []byte) (int64, error) {
	if err := protocol.CheckVersionByte(b[0]); err != nil {
		return 0, c.refuseBytes(b, err)
	}
	if len(b) < protocol.HeaderSize {
		return 0, nil
	}
	h := protocol.ParseHeader(b)
	if err := h.Check(); err != nil {
		c.refuseHeader(err.Version, err.Stream, err)
		return c.envelopeEnd(h)
	}
	if err := protocol.CheckLength(h, c.server.limits.Frame, false); err != nil {
		return c.refuseLong(h, protocol.V5, err), nil
	}
	end := protocol.HeaderSize + int(h.Length)
	if len(b) < end {
		c.in.need = int64(end)
		return 0, nil
	}
	c.answerHandshake(h, b[protocol.HeaderSize:end:end])
	return int64(end), nil
}

// answerHandshake serves a request before the version is agreed on. It refuses all but STARTUP and OPTIONS without
// decoding them.
func (c *conn) answerHandshake(h protocol.Header, body []byte) {
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

// unexpected is the error for a request before STARTUP.
func unexpected(op protocol.Opcode) *cqlerr.Error {
	return cqlerr.Protocolf("Unexpected message %s, expecting STARTUP or OPTIONS", op)
}

// handshakeAgain serves a request on a connection whose first STARTUP was refused.
func (c *conn) handshakeAgain(h protocol.Header, body []byte) {
	c.server.metrics.requests[h.Opcode].Add(1)
	var decoder protocol.Requests
	m, err := decoder.Decode(h, body)
	if err != nil {
		c.refuse(h.Stream, err)
		return
	}
	switch m := m.(type) {
	case *protocol.Startup:
		c.startup(h, m)
	case *protocol.Options:
		c.out.append(h.Stream, nil, supported)
	default:
		c.refuse(h.Stream, unexpected(h.Opcode))
	}
}
