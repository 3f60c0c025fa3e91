package cqltest

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/server/control"
)

// Clock is the clock of a server; package server/control describes it. It runs like the real one until the test moves
// it (Advance, Set) or stops it (Freeze, Run), and is the clock of all that CQL shows.
type Clock = control.Clock

// Fault is a rule: which requests, and what becomes of them. Package server/control describes its fields.
//
//	srv.Faults().Add(cqltest.Fault{Kind: "insert", Table: "orders", Times: 2, Act: cqltest.Overloaded()})
type Fault = control.Fault

// Faults are the rules of a server, in the order in which they were added: Add, List and Clear.
type Faults = control.Faults

// Rule is a Fault that is in force: it counts (Matched, Acted) and can be removed (Remove).
type Rule = control.Rule

// Act is what a fault does to a request. Functions such as Unavailable and Drop make one; AfterApplying has the request
// served before.
type Act = control.Act

// Reasons are why replicas have failed: the protocol's numbers, by the addresses of the replicas.
type Reasons = control.Reasons

// SameLevel stands for the consistency level of the request, in errors that name one.
const SameLevel = control.SameLevel

// Faults are the server's rules. What Exec and Load runs is not subject to them. While there are none, they cost
// nothing.
func (s *Server) Faults() *Faults { return &s.controls.Faults }

// Fail answers with an error: one of package cqlerr, or any other as a server error with its text.
func Fail(err error) Act {
	return control.Fail(err)
}

// Unavailable says that fewer replicas are alive than a level requires.
func Unavailable(level cqlerr.Consistency, required, alive int) Act {
	return control.Unavailable(level, required, alive)
}

// ReadTimeout says that too few replicas have answered a read in time. dataPresent says that the one asked for the data
// has.
func ReadTimeout(level cqlerr.Consistency, received, blockFor int, dataPresent bool) Act {
	return control.ReadTimeout(level, received, blockFor, dataPresent)
}

// WriteTimeout says that too few replicas have confirmed a write in time. writeType is SIMPLE, BATCH, UNLOGGED_BATCH,
// COUNTER, BATCH_LOG, CAS, VIEW or CDC.
func WriteTimeout(level cqlerr.Consistency, received, blockFor int, writeType string) Act {
	return control.WriteTimeout(level, received, blockFor, writeType)
}

// ReadFailure says that replicas have failed to read.
func ReadFailure(level cqlerr.Consistency, received, blockFor int, dataPresent bool, reasons Reasons) Act {
	return control.ReadFailure(level, received, blockFor, dataPresent, reasons)
}

// WriteFailure says that replicas have failed to write.
func WriteFailure(level cqlerr.Consistency, received, blockFor int, writeType string, reasons Reasons) Act {
	return control.WriteFailure(level, received, blockFor, writeType, reasons)
}

// CASWriteUnknown says that nobody knows whether a conditional write is applied. Clients of versions before v5 get a
// write timeout of type CAS, as from Cassandra.
func CASWriteUnknown(level cqlerr.Consistency, received, blockFor int) Act {
	return control.CASWriteUnknown(level, received, blockFor)
}

// Overloaded says that the coordinator has too much to do.
func Overloaded() Act {
	return control.Overloaded()
}

// IsBootstrapping says that the coordinator is about to join.
func IsBootstrapping() Act {
	return control.IsBootstrapping()
}

// TruncateError says that a table could not be truncated.
func TruncateError() Act {
	return control.TruncateError()
}

// ServerError says that the server has failed, with a text.
func ServerError(text string) Act {
	return control.ServerError(text)
}

// Unprepared says that the server does not know a prepared statement, which drivers then prepare again. It does nothing
// to requests without one.
func Unprepared() Act {
	return control.Unprepared()
}

// Drop closes the connection without an answer.
func Drop() Act {
	return control.Drop()
}

// Malformed answers with rows that end before their columns, which no driver can decode.
func Malformed() Act {
	return control.Malformed()
}

// EchoPayload serves the request, and answers with the custom payload that it came with.
func EchoPayload() Act {
	return control.EchoPayload()
}
