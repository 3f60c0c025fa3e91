package protocol

import "github.com/cqld/cqld/cql/cqlerr"

// Message is a request or a response.
type Message interface {
	// Opcode is the opcode of the message's header.
	Opcode() Opcode

	// String prints the message in one line for debugging; see message_text.go.
	String() string

	// append appends the body.
	append(dst []byte, v Version) []byte

	// decode sets every field from r; it reuses the slices of the message.
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

// Requests decodes the requests of one connection. It owns one message of every kind: the result of Decode is valid
// until the next call, and aliases the body.
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

// message returns the struct for the opcode of a request, else nil.
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

// Decode decodes a request from its uncompressed body. Errors are for the client; the connection can continue.
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

// appendResponseHead appends the header and the prefix.
func appendResponseHead(dst []byte, v Version, stream int16, p *Prefix, op Opcode) []byte {
	dst = AppendHeader(dst, Header{Version: v, Response: true, Flags: p.flags(v), Stream: stream, Opcode: op})
	return p.append(dst, v)
}

// DecodeResponse decodes a response and its prefix from the uncompressed body.
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

// responseError is the error for a header that is not of a response.
func (h Header) responseError() error {
	if !h.Opcode.Known() {
		return cqlerr.Protocolf("Unknown opcode %d", byte(h.Opcode))
	}
	return wrongDirection(h.Opcode)
}

// responseMessage returns a message for the opcode of a response. That of RESULT depends on the kind in its body.
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

// Prefix is the optional parts of the body of a response before the message.
//
//	[<tracing id [uuid]>][<warnings [string list]>][<payload [bytes map]>]
//
// Each part is announced by a flag of the header. A nil *Prefix is an empty one.
type Prefix struct {
	Traced    bool
	TracingID [16]byte
	Warnings  []string
	Payload   []PayloadEntry
}

// PayloadEntry is one entry of a custom payload, for extensions of servers and clients.
type PayloadEntry struct {
	Key   string
	Value []byte
}

// flags returns the header flags for the present parts. A version drops the parts that it does not know.
func (p *Prefix) flags(v Version) (f Flags) {
	if p == nil {
		return 0
	}
	if p.Traced {
		f |= FlagTracing
	}
	if len(p.Warnings) > 0 && v.HasWarnings() {
		f |= FlagWarning
	}
	if len(p.Payload) > 0 && v.HasPayload() {
		f |= FlagCustomPayload
	}
	return f
}

func (p *Prefix) append(dst []byte, v Version) []byte {
	f := p.flags(v)
	if f.Has(FlagTracing) {
		dst = append(dst, p.TracingID[:]...)
	}
	if f.Has(FlagWarning) {
		dst = appendStringList(dst, p.Warnings)
	}
	if f.Has(FlagCustomPayload) {
		dst = appendPayload(dst, p.Payload)
	}
	return dst
}

func decodePrefix(r *reader, h Header) *Prefix {
	p := &Prefix{Traced: h.Flags.Has(FlagTracing)}
	if p.Traced {
		p.TracingID = r.uuid()
	}
	if h.Flags.Has(FlagWarning) {
		p.Warnings = r.stringList()
	}
	if h.Flags.Has(FlagCustomPayload) {
		p.Payload = r.appendPayload(nil)
	}
	return p
}

func appendPayload(dst []byte, payload []PayloadEntry) []byte {
	payload = payload[:min(len(payload), maxShort)]
	dst = appendShort(dst, len(payload))
	for _, e := range payload {
		dst = appendBytes(appendString(dst, e.Key), e.Value)
	}
	return dst
}

// appendPayload appends the entries of a [bytes map] to dst.
func (r *reader) appendPayload(dst []PayloadEntry) []PayloadEntry {
	for n := r.short(); n > 0 && r.err == nil; n-- {
		dst = append(dst, PayloadEntry{Key: r.string(), Value: r.bytes()})
	}
	return dst
}
