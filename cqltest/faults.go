package cqltest

import (
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/server/control"
)

// Fault is a rule: it selects requests, and delays them (Delay) or changes their fate (Act). A field that is not set
// matches all requests, with two exceptions: requests are prepared without faults unless Opcode is PREPARE, and faults
// do not apply to keyspaces that come with the server, which drivers read, unless Keyspace names one of them.
//
//	srv.Faults().Add(t, cqltest.Fault{Kind: "insert", Table: "orders", Times: 2, Act: cqltest.Overloaded()})
//
// A BATCH matches if one of its statements does.
type Fault = control.Fault

// Faults are the rules of a server, in the order in which they were added. They are tried in this order, up to the
// first one that matches the request and does more than delay it.
type Faults struct{ faults *control.Faults }

// Faults returns the server's rules. They do not apply to Exec, Query and LoadDir. While there are none, they cost
// nothing.
func (s *Server) Faults() *Faults { return &Faults{&s.controls.Faults} }

// Add puts a rule in force, for requests that arrive from then on. It fails the test if the rule can never act,
// because a field has a value that no request has, or because it has neither an Act nor a Delay.
func (f *Faults) Add(t testing.TB, fault Fault) *Rule {
	t.Helper()
	if err := fault.Check(); err != nil {
		t.Fatalf("cqltest: this fault would never act: %v", err)
	}
	return f.faults.Add(fault)
}

// List returns the rules that are in force. A rule that has acted Times times is among them.
func (f *Faults) List() []*Rule { return f.faults.List() }

// Clear removes all rules.
func (f *Faults) Clear() { f.faults.Clear() }

// Rule is a Fault that is in force. It counts the requests that match, and how often it has acted; Remove ends it.
type Rule = control.Rule

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

// Request is a request of a client, for an Interceptor and Fault.Match: its statements, consistency levels, client and
// payload. They must not change it.
type Request = control.Request

// Part is one statement of a Request: its kind, table, text, and whether it is prepared, conditional or a scan.
type Part = server.Part
