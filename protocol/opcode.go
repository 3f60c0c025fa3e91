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

// opcodes has for each opcode its name, whether clients send it, and whether the tracing flag has an effect.
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

// String is the name in capitals, as in error texts.
func (o Opcode) String() string {
	if o.Known() {
		return opcodes[o].name
	}
	return fmt.Sprintf("UNKNOWN_%d", byte(o))
}

// Version is a version of the protocol. Its methods are the differences between versions.
type Version byte

// The versions that are served. V6 is in development at Cassandra: a client has to set FlagUseBeta, and
// nothing else distinguishes it from V5.
const (
	V3 Version = 3
	V4 Version = 4
	V5 Version = 5
	V6 Version = 6
)

// SupportedVersions names the versions as SUPPORTED lists them and errors print them.
func SupportedVersions() []string {
	return []string{V3.String(), V4.String(), V5.String(), V6.String()}
}

// String is the version as Cassandra prints it: 4/v4, 6/v6-beta.
func (v Version) String() string {
	if v.IsBeta() {
		return fmt.Sprintf("%d/v%d-beta", byte(v), byte(v))
	}
	return fmt.Sprintf("%d/v%d", byte(v), byte(v))
}

// Supported reports whether the package can encode and decode v.
func (v Version) Supported() bool { return v >= V3 && v <= V6 }

// IsBeta reports whether envelopes of the version carry FlagUseBeta.
func (v Version) IsBeta() bool { return v == V6 }

// HasLongHeader reports whether headers have 9 bytes, with 2 for the stream. Older versions have one byte for it;
// they are refused in their own format.
func (v Version) HasLongHeader() bool { return v >= V3 }

// HasSegments reports whether envelopes travel in segments once STARTUP is answered.
func (v Version) HasSegments() bool { return v >= V5 }

// HasBodyCompression reports whether bodies are compressed one by one, and the header says so.
func (v Version) HasBodyCompression() bool { return v < V5 }

// HasSnappy reports whether snappy may be negotiated.
func (v Version) HasSnappy() bool { return v < V5 }

// HasUnset reports whether a value of length -2 means "not set"; before, any negative length is null.
func (v Version) HasUnset() bool { return v >= V4 }

// HasWarnings reports whether responses may carry warnings.
func (v Version) HasWarnings() bool { return v >= V4 }

// HasPayload reports whether bodies may carry a custom payload.
func (v Version) HasPayload() bool { return v >= V4 }

// HasPKIndexes reports whether the result of PREPARE lists the markers of the partition key.
func (v Version) HasPKIndexes() bool { return v >= V4 }

// HasFunctionChanges reports whether schema changes name functions and aggregates.
func (v Version) HasFunctionChanges() bool { return v >= V4 }

// HasTraceEvents reports whether TRACE_COMPLETE may be registered for.
func (v Version) HasTraceEvents() bool { return v >= V4 }

// HasFailures reports whether the errors READ_FAILURE, WRITE_FAILURE and FUNCTION_FAILURE exist.
func (v Version) HasFailures() bool { return v >= V4 }

// HasFailureReasons reports whether those errors list the replicas and their reasons.
func (v Version) HasFailureReasons() bool { return v >= V5 }

// HasCASErrors reports whether CAS_WRITE_UNKNOWN exists and CAS timeouts count contentions.
func (v Version) HasCASErrors() bool { return v >= V5 }

// HasPrepareFlags reports whether PREPARE has flags after its text.
func (v Version) HasPrepareFlags() bool { return v >= V5 }

// HasResultMetadataID reports whether result columns of prepared statements have an id.
func (v Version) HasResultMetadataID() bool { return v >= V5 }

// WideFlags reports whether the flags of QUERY, EXECUTE and BATCH are 4 bytes instead of one.
func (v Version) WideFlags() bool { return v >= V5 }
