package control

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/server"
)

// Act changes the fate of a request. Functions such as Unavailable and Drop make one; the zero Act does nothing.
type Act struct {
	kind    actKind
	err     *cqlerr.Error
	applied bool
}

type actKind uint8

const (
	actNothing actKind = iota
	actError
	actDrop
	actMalformed
	actUnprepared
	actEcho
)

// SameLevel is the consistency level of the request, in errors that name one.
const SameLevel cqlerr.Consistency = 0xffff

// Fail answers with an error: one of package cqlerr, or any other as a server error with its text.
func Fail(err error) Act {
	told, ok := cqlerr.As(err)
	if !ok {
		told = cqlerr.Serverf("%v", err)
	}
	return Act{kind: actError, err: told}
}

func fail(code cqlerr.Code, detail cqlerr.Detail, format string, args ...any) Act {
	return Act{kind: actError, err: &cqlerr.Error{Code: code, Message: fmt.Sprintf(format, args...), Detail: detail}}
}

// Unavailable answers that fewer replicas are alive than a level requires.
func Unavailable(level cqlerr.Consistency, required, alive int) Act {
	return fail(cqlerr.Unavailable, cqlerr.UnavailableDetail{Consistency: level, Required: required, Alive: alive},
		"Cannot achieve consistency level %s", level)
}

// ReadTimeout answers that too few replicas have answered a read in time. dataPresent answers that the one asked for
// the data has.
func ReadTimeout(level cqlerr.Consistency, received, blockFor int, dataPresent bool) Act {
	return fail(cqlerr.ReadTimeout, cqlerr.TimeoutDetail{
		Consistency: level, Received: received, BlockFor: blockFor, DataPresent: dataPresent,
	}, "Operation timed out - received only %d responses.", received)
}

// WriteTimeout answers that too few replicas have confirmed a write in time. writeType is SIMPLE, BATCH,
// UNLOGGED_BATCH, COUNTER, BATCH_LOG, CAS, VIEW or CDC.
func WriteTimeout(level cqlerr.Consistency, received, blockFor int, writeType string) Act {
	return fail(cqlerr.WriteTimeout, cqlerr.TimeoutDetail{
		Consistency: level, Received: received, BlockFor: blockFor, WriteType: writeType,
	}, "Operation timed out - received only %d responses.", received)
}

// Reasons are why replicas have failed: the protocol's numbers, by the addresses of the replicas. Clients of versions
// before v5 get only how many there are.
type Reasons map[netip.Addr]uint16

func (r Reasons) list() (all []cqlerr.FailureReason) {
	for replica, reason := range r {
		all = append(all, cqlerr.FailureReason{Replica: replica, Reason: reason})
	}
	slices.SortFunc(all, func(a, b cqlerr.FailureReason) int { return a.Replica.Compare(b.Replica) })
	return all
}

// ReadFailure answers that replicas have failed to read.
func ReadFailure(level cqlerr.Consistency, received, blockFor int, dataPresent bool, reasons Reasons) Act {
	return fail(cqlerr.ReadFailure, cqlerr.FailureDetail{
		Consistency: level, Received: received, BlockFor: blockFor, DataPresent: dataPresent, Reasons: reasons.list(),
	}, "Operation failed - received %d responses and %d failures", received, len(reasons))
}

// WriteFailure answers that replicas have failed to write.
func WriteFailure(level cqlerr.Consistency, received, blockFor int, writeType string, reasons Reasons) Act {
	return fail(cqlerr.WriteFailure, cqlerr.FailureDetail{
		Consistency: level, Received: received, BlockFor: blockFor, WriteType: writeType, Reasons: reasons.list(),
	}, "Operation failed - received %d responses and %d failures", received, len(reasons))
}

// CASWriteUnknown answers that it is unknown whether a conditional write is applied. Clients of versions before v5 get
// a write timeout of type CAS, as from Cassandra.
func CASWriteUnknown(level cqlerr.Consistency, received, blockFor int) Act {
	return fail(cqlerr.CASWriteUnknown, cqlerr.TimeoutDetail{
		Consistency: level, Received: received, BlockFor: blockFor, WriteType: "CAS",
	}, "CAS operation result is unknown - proposal accepted by %d but not a quorum.", received)
}

// Overloaded answers that the coordinator has too much to do.
func Overloaded() Act {
	return fail(cqlerr.Overloaded, nil, "Too many in flight hints: the coordinator is overloaded")
}

// IsBootstrapping answers that the coordinator is about to join.
func IsBootstrapping() Act {
	return fail(cqlerr.IsBootstrapping, nil, "Cannot read from a bootstrapping node")
}

// TruncateError answers that a table could not be truncated.
func TruncateError() Act {
	return fail(cqlerr.TruncateError, nil, "Error during truncate: Truncate timed out - received only 0 responses")
}

// ServerError answers that the server has failed, with a text.
func ServerError(text string) Act { return fail(cqlerr.ServerError, nil, "%s", text) }

// Unprepared answers that the server does not know a prepared statement, which drivers then prepare again. It does
// nothing to requests without one.
func Unprepared() Act { return Act{kind: actUnprepared} }

// Drop closes the connection without an answer.
func Drop() Act { return Act{kind: actDrop} }

// Malformed answers with rows that end before their columns, which no driver can decode.
func Malformed() Act { return Act{kind: actMalformed} }

// EchoPayload serves the request, and answers with the custom payload that it came with.
func EchoPayload() Act { return Act{kind: actEcho} }

// AfterApplying serves the request before the act: its writes are stored, and the client does not know it. A request
// that fails is answered with its error.
func (a Act) AfterApplying() Act {
	a.applied = true
	return a
}

// writeType returns the type of write that the error of the act names, if it names one.
func (a Act) writeType() (name string, is bool) {
	if a.err == nil {
		return "", false
	}
	switch d := a.err.Detail.(type) {
	case cqlerr.TimeoutDetail:
		return d.WriteType, a.err.Code == cqlerr.WriteTimeout
	case cqlerr.FailureDetail:
		return d.WriteType, a.err.Code == cqlerr.WriteFailure
	}
	return "", false
}

// before applies the act before the request is served. If it is applied afterwards, r.Data has it.
func (a Act) before(r *server.Inspected) error {
	switch {
	case a.kind == actEcho:
		r.AnswerPayload = r.Payload
	case a.applied:
		r.Data = a
	default:
		return a.errorFor(r)
	}
	return nil
}

// errorFor is the error for a request.
func (a Act) errorFor(r *server.Inspected) error {
	switch a.kind {
	case actDrop:
		return server.ErrHangUp
	case actMalformed:
		return server.ErrMalformed
	case actUnprepared:
		return cqlerr.UnpreparedID(r.PreparedID)
	case actError:
		return withLevel(a.err, r.Consistency)
	}
	return nil
}

// withLevel replaces SameLevel by the level of the request.
func withLevel(err *cqlerr.Error, level cqlerr.Consistency) *cqlerr.Error {
	own := *err
	switch d := err.Detail.(type) {
	case cqlerr.UnavailableDetail:
		if d.Consistency == SameLevel {
			d.Consistency = level
			own.Detail = d
			own.Message = strings.Replace(own.Message, SameLevel.String(), level.String(), 1)
		}
	case cqlerr.TimeoutDetail:
		if d.Consistency == SameLevel {
			d.Consistency = level
			own.Detail = d
		}
	case cqlerr.FailureDetail:
		if d.Consistency == SameLevel {
			d.Consistency = level
			own.Detail = d
		}
	}
	return &own
}

// String names the act.
func (a Act) String() string {
	name := [...]string{"nothing", "error", "drop", "malformed", "unprepared", "echo payload"}[a.kind]
	if a.kind == actError {
		name = fmt.Sprintf("error 0x%04X %s", uint32(a.err.Code), a.err.Message)
	}
	if a.applied {
		name += " after applying"
	}
	return name
}
