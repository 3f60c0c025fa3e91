package protocol

import (
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
)

// HeaderErrorKind is what is wrong with a header.
type HeaderErrorKind uint8

// The kinds. A stream of envelopes can go on behind an unknown opcode or a wrong direction, because the
// length is known; behind a wrong version it cannot.
const (
	UnsupportedVersion HeaderErrorKind = iota
	BetaUnset                          // version 6 without FlagUseBeta
	WrongDirection                     // a response sent by a client
	UnknownOpcode
)

// HeaderError is a header that starts no request. A connection that has no version yet answers in
// Version; Stream is the request's if Cassandra answers on that, else 0.
type HeaderError struct {
	Kind    HeaderErrorKind
	Err     *cqlerr.Error
	Version Version
	Stream  int16
}

// Error is the message for the client.
func (e *HeaderError) Error() string { return e.Err.Error() }

// Unwrap makes cqlerr.As find the error to send.
func (e *HeaderError) Unwrap() error { return e.Err }

// CheckVersionByte judges the first byte of an envelope, before there are more: what is no version of the
// protocol, a TLS or HTTP client perhaps, may never send a whole header.
func CheckVersionByte(b byte) *HeaderError {
	v := Version(b &^ directionBit)
	if v.Supported() {
		return nil
	}
	answer := V5
	if v == 1 || v == 2 {
		answer = v
	}
	return &HeaderError{
		Kind: UnsupportedVersion,
		Err: cqlerr.Protocolf("Invalid or unsupported protocol version (%d); supported versions are (%s)",
			byte(v), strings.Join(SupportedVersions(), ", ")),
		Version: answer,
	}
}

// Check judges whether the header starts a request.
func (h Header) Check() *HeaderError {
	first := byte(h.Version)
	if err := CheckVersionByte(first); err != nil {
		return err
	}
	if h.Version.IsBeta() && !h.Flags.Has(FlagUseBeta) {
		return &HeaderError{
			Kind: BetaUnset,
			Err: cqlerr.Protocolf("Beta version of the protocol used (%s), but USE_BETA flag is unset",
				h.Version),
			Version: h.Version,
		}
	}
	if !h.Opcode.Known() {
		return &HeaderError{
			Kind: UnknownOpcode, Err: cqlerr.Protocolf("Unknown opcode %d", byte(h.Opcode)),
			Version: V5, Stream: h.Stream,
		}
	}
	if h.Response || !h.Opcode.IsRequest() {
		return &HeaderError{
			Kind: WrongDirection, Err: wrongDirection(h.Opcode),
			Version: V5, Stream: h.Stream,
		}
	}
	return nil
}

// wrongDirection says that an opcode came with the direction bit of the other side.
func wrongDirection(op Opcode) *cqlerr.Error {
	expected, got := "REQUEST", "RESPONSE"
	if !op.IsRequest() {
		expected, got = got, expected
	}
	return cqlerr.Protocolf("Wrong protocol direction (expected %s, got %s) for opcode %d (%s)",
		expected, got, byte(op), op)
}

// VersionMismatch is for an envelope of another version than its connection's.
func VersionMismatch(got, connection Version) *cqlerr.Error {
	space := " "
	if connection.HasSegments() {
		space = "" // as Cassandra prints it
	}
	return cqlerr.Protocolf("Invalid message version. Got %s but previous%smessages on this connection "+
		"had version %s", got, space, connection)
}

// CheckLength judges whether an envelope is short enough to be read. Before the body may be skipped its
// whole length has to arrive. In segments Cassandra counts the body alone, else the header too, and only in
// segments it takes the length as signed.
func CheckLength(h Header, limit int, segmented bool) error {
	if !segmented {
		if total := int64(h.Length) + HeaderSize; total > int64(limit) {
			return cqlerr.Invalidf("Request is too big: length %d exceeds maximum allowed length %d.", total, limit)
		}
		return nil
	}
	if int32(h.Length) < 0 {
		return &SegmentError{cqlerr.Protocolf("Invalid value for envelope header body length field: %d",
			int32(h.Length))}
	}
	if int64(h.Length) > int64(limit) {
		return cqlerr.Invalidf("CQL Message of size %d bytes exceeds allowed maximum of %d bytes", h.Length, limit)
	}
	return nil
}
