package cqltest

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/server/control"
)

// Act is what a Fault or an Interceptor does to a request. Functions such as Unavailable and Drop make one; the zero
// Act does nothing.
type Act struct {
	act   control.Act
	wrong string // why no request can meet it; "": one can
}

// String names the act.
func (a Act) String() string { return a.act.String() }

// AfterApplying has the request served before the act: what it writes is there, and the client does not know it. The
// act is not done to a request that fails on its own.
func (a Act) AfterApplying() Act {
	a.act = a.act.AfterApplying()
	return a
}

// Reasons are why replicas have failed: the protocol's numbers, by the addresses of the replicas. Clients of versions
// before v5 get only how many there are.
type Reasons map[netip.Addr]uint16

// Fail answers with an error of package cqlerr, or with any other as a server error with its text.
func Fail(err error) Act { return Act{act: control.Fail(err)} }

// Unavailable says that fewer replicas are alive than a level requires.
func Unavailable(level Consistency, required, alive int) Act {
	return Act{act: control.Unavailable(cqlerr.Consistency(level), required, alive)}
}

// ReadTimeout says that too few replicas have answered a read in time. dataPresent says that the one asked for the data
// has.
func ReadTimeout(level Consistency, received, blockFor int, dataPresent bool) Act {
	return Act{act: control.ReadTimeout(cqlerr.Consistency(level), received, blockFor, dataPresent)}
}

// WriteTimeout says that too few replicas have confirmed a write in time. writeType is SIMPLE, BATCH, UNLOGGED_BATCH,
// COUNTER, BATCH_LOG, CAS, VIEW or CDC.
func WriteTimeout(level Consistency, received, blockFor int, writeType string) Act {
	return Act{control.WriteTimeout(cqlerr.Consistency(level), received, blockFor, writeType), wrongWriteType(writeType)}
}

// ReadFailure says that replicas have failed to read.
func ReadFailure(level Consistency, received, blockFor int, dataPresent bool, reasons Reasons) Act {
	return Act{act: control.ReadFailure(cqlerr.Consistency(level), received, blockFor, dataPresent, control.Reasons(reasons))}
}

// WriteFailure says that replicas have failed to write. writeType is one of those of WriteTimeout.
func WriteFailure(level Consistency, received, blockFor int, writeType string, reasons Reasons) Act {
	act := control.WriteFailure(cqlerr.Consistency(level), received, blockFor, writeType, control.Reasons(reasons))
	return Act{act, wrongWriteType(writeType)}
}

func wrongWriteType(name string) string {
	if slices.Contains(control.WriteTypes, name) {
		return ""
	}
	return fmt.Sprintf("the write type %q does not exist%s", name, suggestion(name, control.WriteTypes))
}

// CASWriteUnknown says that nobody knows whether a conditional write is applied. Clients of versions before v5 get a
// write timeout of type CAS, as from Cassandra.
func CASWriteUnknown(level Consistency, received, blockFor int) Act {
	return Act{act: control.CASWriteUnknown(cqlerr.Consistency(level), received, blockFor)}
}

// Overloaded says that the coordinator has too much to do.
func Overloaded() Act { return Act{act: control.Overloaded()} }

// IsBootstrapping says that the coordinator is about to join.
func IsBootstrapping() Act { return Act{act: control.IsBootstrapping()} }

// TruncateError says that a table could not be truncated.
func TruncateError() Act { return Act{act: control.TruncateError()} }

// ServerError says that the server has failed, with a text.
func ServerError(text string) Act { return Act{act: control.ServerError(text)} }

// Unprepared says that the server does not know a prepared statement, which drivers then prepare again. It does nothing
// to requests without one.
func Unprepared() Act { return Act{act: control.Unprepared()} }

// Drop closes the connection without an answer.
func Drop() Act { return Act{act: control.Drop()} }

// Malformed answers with rows that end before their columns, which no driver can decode.
func Malformed() Act { return Act{act: control.Malformed()} }

// EchoPayload serves the request, and answers with the custom payload that it came with.
func EchoPayload() Act { return Act{act: control.EchoPayload()} }
