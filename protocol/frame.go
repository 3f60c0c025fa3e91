package protocol

import "encoding/binary"

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

// Header is what stands before every message.
type Header struct {
	Version  Version
	Response bool
	Flags    Flags
	Stream   int16 // chosen by the client and echoed
	Opcode   Opcode
	Length   uint32 // of the body as it is sent
}

// ParseHeader decodes a header from the first HeaderSize bytes of b, whatever they are; Header.Check judges.
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

// finishFrame is FinishFrame for a body that has more bytes behind b.
func finishFrame(b []byte, start, more int) {
	size := HeaderSize
	if !Version(b[start] &^ directionBit).HasLongHeader() {
		size--
	}
	binary.BigEndian.PutUint32(b[start+size-4:], uint32(len(b)-start-size+more))
}
