package server

import (
	"cmp"
	"regexp"
	"strconv"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/server/observe"
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
		c.in.Need = int64(end)
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
	c.out.AppendAs(h.Version, h.Stream, supported)
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
		c.out.Append(h.Stream, nil, supported)
	default:
		c.refuse(h.Stream, unexpected(h.Opcode))
	}
}

// startup serves STARTUP on a connection that is not ready. From here on the version is agreed on, and with it the use
// of segments, even if the options are refused: on v5 a second attempt has to come in a segment, unless the first one
// named an unknown compression.
func (c *conn) startup(h protocol.Header, m *protocol.Startup) {
	first := c.session.version == 0
	c.session.version = h.Version
	compression, err := checkStartup(m, h.Version)
	if err == nil && c.as != nil {
		err = c.resumeLogin()
	}
	if err != nil && !h.Version.HasSegments() {
		compression = protocol.NoCompression
	}
	if first || !h.Version.HasSegments() {
		c.session.compression = compression
		c.out.Speak(h.Version, compression)
	}
	if err != nil {
		c.refuse(h.Stream, err)
	} else {
		c.becomeReady(m)
		c.out.Append(h.Stream, nil, c.started())
	}
	if !first {
		return
	}
	if asksForUnknownCompression(m, h.Version) && h.Version.HasSegments() {
		c.session.version = 0 // nothing is agreed on: the next STARTUP is the first again
		return
	}
	c.serveNext = c.serveEnvelope
	if h.Version.HasSegments() {
		c.serveNext = c.serveSegment
		c.segments.Compressed = compression == protocol.LZ4
		c.out.UseSegments()
	}
}

// started answers a STARTUP that is right.
func (c *conn) started() protocol.Response {
	if c.session.authenticates {
		return &protocol.Authenticate{Authenticator: c.server.login.class()}
	}
	return &protocol.Ready{}
}

// becomeReady applies the options to the session. Where clients log in, the handshake goes on.
func (c *conn) becomeReady(m *protocol.Startup) {
	c.session.options = m.Map()
	c.session.throwOverload = c.session.options[protocol.OptionThrowOnOverload] == "1"
	c.session.shown.Store(true)
	if c.server.roles != nil && c.as == nil {
		c.session.authenticates = true
		return
	}
	c.session.ready = true
	c.setReadDeadline(time.Time{})
	c.log.Debug().Stringer("version", c.session.version).Stringer("compression", c.session.compression).
		Str("driver", observe.Shown(c.session.options[protocol.OptionDriverName])).
		Str("driver_version", observe.Shown(c.session.options[protocol.OptionDriverVersion])).
		Msg("connection ready")
}

// startupAgain refuses STARTUP on a connection that is ready.
func startupAgain(r *request) {
	r.fail(cqlerr.Protocolf("Unexpected message %s, the connection is already initialized", protocol.OpStartup))
}

// checkStartup checks the options that have an effect. It returns the compression even if it refuses another option.
func checkStartup(m *protocol.Startup, v protocol.Version) (protocol.Compression, error) {
	compression := protocol.NoCompression
	var compressionErr error
	if name, ok := m.Get(protocol.OptionCompression); ok {
		compression, compressionErr = protocol.ParseCompression(name, v)
	}
	version, ok := m.Get(protocol.OptionCQLVersion)
	if !ok {
		return compression, cqlerr.Protocolf("Missing value %s in STARTUP message", protocol.OptionCQLVersion)
	}
	if err := checkCQLVersion(version); err != nil {
		return compression, err
	}
	return compression, compressionErr
}

// asksForUnknownCompression reports whether a STARTUP names a compression that the version does not have.
func asksForUnknownCompression(m *protocol.Startup, v protocol.Version) bool {
	name, ok := m.Get(protocol.OptionCompression)
	_, err := protocol.ParseCompression(name, v)
	return ok && err != nil
}

// cqlVersion matches CQL_VERSION. Only the three numbers are compared.
var cqlVersion = regexp.MustCompile(`^(\d+)\.(\d+)(?:\.(\w+)(?:\.\w+)?)?(?:-[-.\w]+)?(?:[.+][.\w]+)?$`)

// lowestCQL is the lowest version that is accepted. Cassandra's error says 3.0.0.
var lowestCQL = [3]int{2, 99, 0}

// checkCQLVersion refuses versions of the language that are too old. It accepts versions that do not exist yet.
func checkCQLVersion(version string) error {
	part := cqlVersion.FindStringSubmatch(version)
	if part == nil {
		return cqlerr.Protocolf("Invalid version value: %s", version)
	}
	for i, lowest := range lowestCQL {
		n, _ := strconv.Atoi(part[i+1]) // a part that is missing or no number counts as 0
		switch cmp.Compare(n, lowest) {
		case -1:
			return cqlerr.Protocolf("CQL version %s is not supported by the binary protocol (supported version are "+
				">= 3.0.0)", version)
		case 1:
			return nil
		}
	}
	return nil
}

// cqlRelease is the version of the language, as SUPPORTED lists it.
const cqlRelease = "3.4.7"

// supported answers OPTIONS. The keys are Cassandra's: drivers tell servers apart by them.
var supported = &protocol.Supported{Options: []protocol.SupportedOption{
	{Key: "PROTOCOL_VERSIONS", Values: protocol.SupportedVersions()},
	{Key: "COMPRESSION", Values: protocol.Compressions()},
	{Key: "CQL_VERSION", Values: []string{cqlRelease}},
}}

// options serves OPTIONS, which drivers also use as a heartbeat.
func options(r *request) { r.answer(supported) }
