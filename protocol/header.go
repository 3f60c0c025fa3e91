package protocol

import (
	"encoding/binary"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
)

// HeaderSize is the size of an envelope's header.
//
//	<version [byte]><flags [byte]><stream [short]><opcode [byte]><length [int]>
const HeaderSize = 9

// Flags are the flags of an envelope. Unknown ones are ignored.
type Flags byte

// The flags of section 2.2. FlagTracing asks for tracing in a request and announces a tracing id in a
// response; FlagWarning occurs in responses only.
const (
	FlagCompressed    Flags = 0x01
	FlagTracing       Flags = 0x02
	FlagCustomPayload Flags = 0x04
	FlagWarning       Flags = 0x08
	FlagUseBeta       Flags = 0x10
)

// Has reports whether f contains flag.
func (f Flags) Has(flag Flags) bool { return f&flag != 0 }

// EventStream is the stream id of messages that answer no request.
const EventStream int16 = -1

// directionBit of the version byte is set in responses.
const directionBit = 0x80

// Header precedes every message.
type Header struct {
	Version  Version
	Response bool
	Flags    Flags
	Stream   int16 // chosen by the client and echoed
	Opcode   Opcode
	Length   uint32 // of the body as sent
}

// ParseHeader decodes a header from the first HeaderSize bytes of b. Header.Check validates it.
func ParseHeader(b []byte) Header {
	_ = b[HeaderSize-1]
	return Header{
		Version:  Version(b[0] &^ directionBit),
		Response: b[0]&directionBit != 0,
		Flags:    Flags(b[1]),
		Stream:   int16(binary.BigEndian.Uint16(b[2:])),
		Opcode:   Opcode(b[4]),
		Length:   binary.BigEndian.Uint32(b[5:]),
	}
}

// AppendHeader appends the header. Headers of versions 1 and 2 have one byte for the stream.
func AppendHeader(dst []byte, h Header) []byte {
	first := byte(h.Version)
	if h.Response {
		first |= directionBit
	}
	if h.Version.IsBeta() {
		h.Flags |= FlagUseBeta
	}
	dst = append(dst, first, byte(h.Flags))
	if h.Version.HasLongHeader() {
		dst = append(dst, byte(h.Stream>>8))
	}
	dst = append(dst, byte(h.Stream), byte(h.Opcode))
	return binary.BigEndian.AppendUint32(dst, h.Length)
}

// FinishFrame sets the length of the envelope that begins at b[start] and ends where b ends.
func FinishFrame(b []byte, start int) { finishFrame(b, start, 0) }

// finishFrame is FinishFrame for a body that continues after b.
func finishFrame(b []byte, start, more int) {
	size := HeaderSize
	if !Version(b[start] &^ directionBit).HasLongHeader() {
		size--
	}
	binary.BigEndian.PutUint32(b[start+size-4:], uint32(len(b)-start-size+more))
}

// HeaderErrorKind is the kind of an invalid header.
type HeaderErrorKind uint8

// After an unknown opcode or a wrong direction a connection can continue, because the length is known; after a wrong
// version it cannot.
const (
	UnsupportedVersion HeaderErrorKind = iota
	BetaUnset                          // version 6 without FlagUseBeta
	WrongDirection                     // a response sent by a client
	UnknownOpcode
)

// HeaderError is a header that does not begin a request. A connection without a version answers in Version; Stream is
// the request's if Cassandra answers on it, else 0.
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

// CheckVersionByte checks the first byte of an envelope before the rest arrives: a client of another protocol, such
// as TLS or HTTP, may never send a whole header.
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

// Check reports why the header cannot begin a request.
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

// wrongDirection is the error for an opcode with the wrong direction bit.
func wrongDirection(op Opcode) *cqlerr.Error {
	expected, got := "REQUEST", "RESPONSE"
	if !op.IsRequest() {
		expected, got = got, expected
	}
	return cqlerr.Protocolf("Wrong protocol direction (expected %s, got %s) for opcode %d (%s)",
		expected, got, byte(op), op)
}

// VersionMismatch is the error for an envelope of another version than its connection's.
func VersionMismatch(got, connection Version) *cqlerr.Error {
	space := " "
	if connection.HasSegments() {
		space = "" // as Cassandra prints it
	}
	return cqlerr.Protocolf("Invalid message version. Got %s but previous%smessages on this connection "+
		"had version %s", got, space, connection)
}

// CheckLength checks the length of an envelope against limit. In segments Cassandra counts only the body, otherwise
// also the header, and only in segments the length is signed.
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
