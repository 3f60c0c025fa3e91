package cqltest

import (
	"net/netip"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/server/control"
)

// Consistency is a consistency level.
type Consistency = cqlerr.Consistency

// The consistency levels. SameLevel is the level of the request, in Acts that name one.
const (
	Any         = cqlerr.Any
	One         = cqlerr.One
	Two         = cqlerr.Two
	Three       = cqlerr.Three
	Quorum      = cqlerr.Quorum
	All         = cqlerr.All
	LocalQuorum = cqlerr.LocalQuorum
	EachQuorum  = cqlerr.EachQuorum
	Serial      = cqlerr.Serial
	LocalSerial = cqlerr.LocalSerial
	LocalOne    = cqlerr.LocalOne
	SameLevel   = control.SameLevel
)

// Act changes the fate of a request, for a Fault or an Interceptor. Functions such as Unavailable and Drop make one;
// the zero Act does nothing. AfterApplying serves the request first: its writes are stored, and the client does not
// know it.
type Act = control.Act

// Reasons are why replicas have failed: the protocol's numbers, by the addresses of the replicas. Clients of versions
// before v5 get only how many there are.
type Reasons = control.Reasons

// Fail answers with an error of package cqlerr, or with any other as a server error with its text.
func Fail(err error) Act { return control.Fail(err) }

// Unavailable answers that fewer replicas are alive than a level requires.
func Unavailable(level Consistency, required, alive int) Act {
	return control.Unavailable(level, required, alive)
}

// ReadTimeout answers that too few replicas have answered a read in time. dataPresent says whether the replica that
// was asked for the data has.
func ReadTimeout(level Consistency, received, blockFor int, dataPresent bool) Act {
	return control.ReadTimeout(level, received, blockFor, dataPresent)
}

// WriteTimeout answers that too few replicas have confirmed a write in time. writeType is SIMPLE, BATCH,
// UNLOGGED_BATCH, COUNTER, BATCH_LOG, CAS, VIEW or CDC.
func WriteTimeout(level Consistency, received, blockFor int, writeType string) Act {
	return control.WriteTimeout(level, received, blockFor, writeType)
}

// ReadFailure answers that replicas have failed to read.
func ReadFailure(level Consistency, received, blockFor int, dataPresent bool, reasons Reasons) Act {
	return control.ReadFailure(level, received, blockFor, dataPresent, reasons)
}

// WriteFailure answers that replicas have failed to write. writeType is as in WriteTimeout.
func WriteFailure(level Consistency, received, blockFor int, writeType string, reasons Reasons) Act {
	return control.WriteFailure(level, received, blockFor, writeType, reasons)
}

// CASWriteUnknown answers that it is unknown whether a conditional write is applied. Clients of versions before v5 get
// a write timeout of type CAS, as from Cassandra.
func CASWriteUnknown(level Consistency, received, blockFor int) Act {
	return control.CASWriteUnknown(level, received, blockFor)
}

// Overloaded answers that the coordinator has too much to do.
func Overloaded() Act { return control.Overloaded() }

// IsBootstrapping answers that the coordinator is about to join.
func IsBootstrapping() Act { return control.IsBootstrapping() }

// TruncateError answers that a table could not be truncated.
func TruncateError() Act { return control.TruncateError() }

// ServerError answers that the server has failed, with a text.
func ServerError(text string) Act { return control.ServerError(text) }

// Unprepared answers that the server does not know a prepared statement, which drivers then prepare again. It does
// nothing to requests without one.
func Unprepared() Act { return control.Unprepared() }

// Drop closes the connection without an answer.
func Drop() Act { return control.Drop() }

// Malformed answers with rows that end before their columns, which no driver can decode.
func Malformed() Act { return control.Malformed() }

// EchoPayload serves the request, and answers with the custom payload that it came with.
func EchoPayload() Act { return control.EchoPayload() }

// Request is a request of a client for an Interceptor and Fault.Match, which must not change it.
type Request struct {
	Opcode     string   // QUERY, PREPARE, EXECUTE or BATCH
	Statements []string // the text, or all texts of a BATCH; "" for an unknown prepared statement
	Keyspace   string   // of the session
	Parts      []Part   // its statements; none for a text that is refused or an id that is unknown

	Consistency       Consistency // of PREPARE: Any
	SerialConsistency Consistency

	Client  netip.AddrPort
	Node    int               // the number of the node that coordinates the request; 1: the server has no ring
	Options map[string]string // of the connection's STARTUP
	Payload map[string][]byte // the custom payload that the client has sent
}

// Part is one statement of a Request: its kind, table, text, and whether it is prepared, conditional or a scan.
type Part = server.Part

// requestOf is a request as the server shows it.
func requestOf(r *server.Inspected) *Request {
	own := &Request{
		Opcode: r.Opcode, Statements: r.Statements, Keyspace: r.Keyspace, Parts: r.Parts,
		Consistency: r.Consistency, SerialConsistency: r.SerialConsistency,
		Client: r.Client, Node: r.Node, Options: r.Options,
	}
	for _, e := range r.Payload {
		if own.Payload == nil {
			own.Payload = map[string][]byte{}
		}
		own.Payload[e.Key] = e.Value
	}
	return own
}
