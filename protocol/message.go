package protocol

import "github.com/cqld/cqld/cql/cqlerr"

// Message is a request or a response.
type Message interface {
	// Opcode is the opcode of the message's header.
	Opcode() Opcode

	// String is the message in one line, for a person who debugs; see message_text.go.
	String() string

	// append appends the body behind what a prefix may have put there.
	append(dst []byte, v Version) []byte

	// decode replaces every field by what r has; slices of the message are used again.
	decode(r *reader, v Version)
}

// Request is a message that clients send.
type Request interface {
	Message
	request()
}

// Response is a message that servers send.
type Response interface {
	Message
	response()
}

// Decode decodes the body of a message of a known kind, without a prefix.
func Decode(m Message, v Version, body []byte) error {
	r := reader{b: body}
	m.decode(&r, v)
	return r.err
}

// AppendBody appends the body of a message, without a prefix.
func AppendBody(dst []byte, v Version, m Message) []byte { return m.append(dst, v) }

// Requests decodes the requests of one connection. It owns one message of every kind: what Decode returns is
// valid until it is called again, and aliases the body it was given.
type Requests struct {
	// Payload is the custom payload of the last request, usually none.
	Payload []PayloadEntry

	startup      Startup
	credentials  Credentials
	options      Options
	query        Query
	prepare      Prepare
	execute      Execute
	register     Register
	batch        Batch
	authResponse AuthResponse

	r reader
}

// message is the table of requests: the struct for an opcode, or nil if it is a response's or nobody's.
func (q *Requests) message(op Opcode) Request {
	switch op {
	case OpStartup:
		return &q.startup
	case OpCredentials:
		return &q.credentials
	case OpOptions:
		return &q.options
	case OpQuery:
		return &q.query
	case OpPrepare:
		return &q.prepare
	case OpExecute:
		return &q.execute
	case OpRegister:
		return &q.register
	case OpBatch:
		return &q.batch
	case OpAuthResponse:
		return &q.authResponse
	}
	return nil
}

// Decode decodes a request from its body, which is not compressed any more. Errors are what the client is to
// be told; they say nothing about the connection, which can go on.
func (q *Requests) Decode(h Header, body []byte) (Request, error) {
	q.Payload = reuse(q.Payload)
	m := q.message(h.Opcode)
	if m == nil {
		return nil, h.Check()
	}
	q.r = reader{b: body}
	if h.Flags.Has(FlagCustomPayload) {
		if !h.Version.HasPayload() {
			return nil, cqlerr.Protocolf("Received frame with CUSTOM_PAYLOAD flag for native protocol version < 4")
		}
		q.Payload = q.r.appendPayload(q.Payload)
	}
	m.decode(&q.r, h.Version)
	if err := q.r.err; err != nil {
		return nil, err
	}
	return m, nil
}

// AppendRequest appends a whole uncompressed request: h names version, stream and flags.
func AppendRequest(dst []byte, h Header, payload []PayloadEntry, m Request) []byte {
	start := len(dst)
	h.Opcode, h.Response = m.Opcode(), false
	if len(payload) > 0 {
		h.Flags |= FlagCustomPayload
	}
	dst = AppendHeader(dst, h)
	if h.Flags.Has(FlagCustomPayload) {
		dst = appendPayload(dst, payload)
	}
	dst = m.append(dst, h.Version)
	FinishFrame(dst, start)
	return dst
}

// AppendResponse appends a whole uncompressed response. A nil prefix is an empty one.
func AppendResponse(dst []byte, v Version, stream int16, p *Prefix, m Response) []byte {
	start := len(dst)
	dst = appendResponseHead(dst, v, stream, p, m.Opcode())
	dst = m.append(dst, v)
	FinishFrame(dst, start)
	return dst
}

// appendResponseHead appends what comes before a message.
func appendResponseHead(dst []byte, v Version, stream int16, p *Prefix, op Opcode) []byte {
	dst = AppendHeader(dst, Header{Version: v, Response: true, Flags: p.flags(v), Stream: stream, Opcode: op})
	return p.append(dst, v)
}

// DecodeResponse decodes a response and its prefix from its body, which is not compressed any more.
func DecodeResponse(h Header, body []byte) (Response, *Prefix, error) {
	r := reader{b: body}
	prefix := decodePrefix(&r, h)
	m := responseMessage(h.Opcode, &r)
	if m == nil {
		if r.err != nil {
			return nil, nil, r.err
		}
		return nil, nil, h.responseError()
	}
	m.decode(&r, h.Version)
	if r.err != nil {
		return nil, nil, r.err
	}
	return m, prefix, nil
}

// responseError says why a header is no response's.
func (h Header) responseError() error {
	if !h.Opcode.Known() {
		return cqlerr.Protocolf("Unknown opcode %d", byte(h.Opcode))
	}
	return wrongDirection(h.Opcode)
}

// responseMessage is the table of responses. That of RESULT depends on the kind its body begins with.
func responseMessage(op Opcode, r *reader) Response {
	switch op {
	case OpError:
		return &Error{}
	case OpReady:
		return &Ready{}
	case OpAuthenticate:
		return &Authenticate{}
	case OpSupported:
		return &Supported{}
	case OpResult:
		return resultMessage(r)
	case OpEvent:
		return &Event{}
	case OpAuthChallenge:
		return &AuthChallenge{}
	case OpAuthSuccess:
		return &AuthSuccess{}
	}
	return nil
}
