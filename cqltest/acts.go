package cqltest

import (
	"net/netip"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/server/control"
)

// Act changes the fate of a request, for a Fault or an Interceptor. Functions such as Unavailable and Drop make one;
// the zero Act does nothing.
type Act struct{ act control.Act }

// String names the act.
func (a Act) String() string { return a.act.String() }

// AfterApplying serves the request before the act: its writes are stored, and the client does not know it. Requests
// that fail by themselves do not meet the act.
func (a Act) AfterApplying() Act { return Act{a.act.AfterApplying()} }

// Reasons are why replicas have failed: the protocol's numbers, by the addresses of the replicas. Clients of versions
// before v5 get only how many there are.
type Reasons map[netip.Addr]uint16

// Fail answers with an error of package cqlerr, or with any other as a server error with its text.
func Fail(err error) Act { return Act{control.Fail(err)} }

// Unavailable answers that fewer replicas are alive than a level requires.
func Unavailable(level Consistency, required, alive int) Act {
	return Act{control.Unavailable(cqlerr.Consistency(level), required, alive)}
}

// ReadTimeout answers that too few replicas have answered a read in time. dataPresent says whether the replica that
// was asked for the data has.
func ReadTimeout(level Consistency, received, blockFor int, dataPresent bool) Act {
	return Act{control.ReadTimeout(cqlerr.Consistency(level), received, blockFor, dataPresent)}
}

// WriteTimeout answers that too few replicas have confirmed a write in time. writeType is SIMPLE, BATCH,
// UNLOGGED_BATCH, COUNTER, BATCH_LOG, CAS, VIEW or CDC.
func WriteTimeout(level Consistency, received, blockFor int, writeType string) Act {
	return Act{control.WriteTimeout(cqlerr.Consistency(level), received, blockFor, writeType)}
}

// ReadFailure answers that replicas have failed to read.
func ReadFailure(level Consistency, received, blockFor int, dataPresent bool, reasons Reasons) Act {
	return Act{control.ReadFailure(cqlerr.Consistency(level), received, blockFor, dataPresent, control.Reasons(reasons))}
}

// WriteFailure answers that replicas have failed to write. writeType is as in WriteTimeout.
func WriteFailure(level Consistency, received, blockFor int, writeType string, reasons Reasons) Act {
	return Act{control.WriteFailure(cqlerr.Consistency(level), received, blockFor, writeType, control.Reasons(reasons))}
}

// CASWriteUnknown answers that it is unknown whether a conditional write is applied. Clients of versions before v5 get
// a write timeout of type CAS, as from Cassandra.
func CASWriteUnknown(level Consistency, received, blockFor int) Act {
	return Act{control.CASWriteUnknown(cqlerr.Consistency(level), received, blockFor)}
}

// Overloaded answers that the coordinator has too much to do.
func Overloaded() Act { return Act{control.Overloaded()} }

// IsBootstrapping answers that the coordinator is about to join.
func IsBootstrapping() Act { return Act{control.IsBootstrapping()} }

// TruncateError answers that a table could not be truncated.
func TruncateError() Act { return Act{control.TruncateError()} }

// ServerError answers that the server has failed, with a text.
func ServerError(text string) Act { return Act{control.ServerError(text)} }

// Unprepared answers that the server does not know a prepared statement, which drivers then prepare again. It does
// nothing to requests without one.
func Unprepared() Act { return Act{control.Unprepared()} }

// Drop closes the connection without an answer.
func Drop() Act { return Act{control.Drop()} }

// Malformed answers with rows that end before their columns, which no driver can decode.
func Malformed() Act { return Act{control.Malformed()} }

// EchoPayload serves the request, and answers with the custom payload that it came with.
func EchoPayload() Act { return Act{control.EchoPayload()} }
