package protocol

import "fmt"

// Opcode is the kind of a message.
type Opcode byte

// The opcodes of section 2.1.
const (
	OpError         Opcode = 0x00
	OpStartup       Opcode = 0x01
	OpReady         Opcode = 0x02
	OpAuthenticate  Opcode = 0x03
	OpCredentials   Opcode = 0x04
	OpOptions       Opcode = 0x05
	OpSupported     Opcode = 0x06
	OpQuery         Opcode = 0x07
	OpResult        Opcode = 0x08
	OpPrepare       Opcode = 0x09
	OpExecute       Opcode = 0x0A
	OpRegister      Opcode = 0x0B
	OpEvent         Opcode = 0x0C
	OpBatch         Opcode = 0x0D
	OpAuthChallenge Opcode = 0x0E
	OpAuthResponse  Opcode = 0x0F
	OpAuthSuccess   Opcode = 0x10
)

// opcodes has for each opcode its name, whether it is sent by clients, and whether a request asking for
// tracing is traced.
var opcodes = [...]struct {
	name      string
	request   bool
	traceable bool
}{
	OpError:         {"ERROR", false, false},
	OpStartup:       {"STARTUP", true, false},
	OpReady:         {"READY", false, false},
	OpAuthenticate:  {"AUTHENTICATE", false, false},
	OpCredentials:   {"CREDENTIALS", true, false},
	OpOptions:       {"OPTIONS", true, false},
	OpSupported:     {"SUPPORTED", false, false},
	OpQuery:         {"QUERY", true, true},
	OpResult:        {"RESULT", false, false},
	OpPrepare:       {"PREPARE", true, true},
	OpExecute:       {"EXECUTE", true, true},
	OpRegister:      {"REGISTER", true, false},
	OpEvent:         {"EVENT", false, false},
	OpBatch:         {"BATCH", true, true},
	OpAuthChallenge: {"AUTH_CHALLENGE", false, false},
	OpAuthResponse:  {"AUTH_RESPONSE", true, false},
	OpAuthSuccess:   {"AUTH_SUCCESS", false, false},
}

// Known reports whether o is an opcode of the protocol.
func (o Opcode) Known() bool { return int(o) < len(opcodes) }

// IsRequest reports whether clients send o; the other opcodes are the server's.
func (o Opcode) IsRequest() bool { return o.Known() && opcodes[o].request }

// Traceable reports whether the tracing flag of a request has an effect.
func (o Opcode) Traceable() bool { return o.Known() && opcodes[o].traceable }

// String is the name in capitals, as error texts have it.
func (o Opcode) String() string {
	if o.Known() {
		return opcodes[o].name
	}
	return fmt.Sprintf("UNKNOWN_%d", byte(o))
}
