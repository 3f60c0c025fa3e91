// Package cqlerr has the errors that clients see: the protocol's error kinds, with constructors called where an error
// is detected.
//
// The text of an error is Cassandra's, word for word, and is written once. Package protocol encodes an Error; package
// server decides which Go errors become plain server errors.
//
// Specification: native_protocol_v5.spec, section 9.
package cqlerr

import (
	"errors"
	"fmt"
	"net/netip"
)

// Error is an error for a client. Detail has the fields that some kinds add.
type Error struct {
	Code    Code
	Message string
	Detail  Detail
}

// Error is the message alone.
func (e *Error) Error() string { return e.Message }

// As returns the Error inside err, if there is one.
func As(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}

// Detail is the extra content of an error kind: one struct per kind that has any.
type Detail interface{ detail() }

// UnavailableDetail has the numbers of required and live replicas.
type UnavailableDetail struct {
	Consistency     Consistency
	Required, Alive int
}

// TimeoutDetail describes a read or write that timed out.
type TimeoutDetail struct {
	Consistency        Consistency
	Received, BlockFor int
	WriteType          string // writes
	DataPresent        bool   // reads
	Contentions        int    // writes of type CAS, protocol v5
}

// FailureDetail describes a read or write that failed on replicas.
type FailureDetail struct {
	Consistency        Consistency
	Received, BlockFor int
	Reasons            []FailureReason
	WriteType          string // writes
	DataPresent        bool   // reads
}

// FailureReason is the reason of one replica.
type FailureReason struct {
	Replica netip.Addr
	Reason  uint16
}

// FunctionDetail names the user function that failed.
type FunctionDetail struct {
	Keyspace, Function string
	ArgTypes           []string
}

// AlreadyExistsDetail names what exists; Table is empty for a keyspace.
type AlreadyExistsDetail struct{ Keyspace, Table string }

// UnpreparedDetail carries the id exactly as the client sent it.
type UnpreparedDetail struct{ ID []byte }

func (UnavailableDetail) detail()   {}
func (TimeoutDetail) detail()       {}
func (FailureDetail) detail()       {}
func (FunctionDetail) detail()      {}
func (AlreadyExistsDetail) detail() {}
func (UnpreparedDetail) detail()    {}

func newf(code Code, format string, args []any) *Error {
	if len(args) == 0 {
		return &Error{Code: code, Message: format}
	}
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalidf is for a statement that parses but is not valid.
func Invalidf(format string, args ...any) *Error { return newf(Invalid, format, args) }

// Syntaxf is for text that does not parse, and for the few rules Cassandra's grammar checks itself.
func Syntaxf(format string, args ...any) *Error { return newf(SyntaxError, format, args) }

// Protocolf is for bytes that are not a message, or a message out of turn.
func Protocolf(format string, args ...any) *Error { return newf(ProtocolError, format, args) }

// Configf is for an option whose value is wrong.
func Configf(format string, args ...any) *Error { return newf(ConfigError, format, args) }

// Unauthorizedf is for a permission that is lacking.
func Unauthorizedf(format string, args ...any) *Error { return newf(Unauthorized, format, args) }

// Overloadedf is for a request that exceeds a limit of the server.
func Overloadedf(format string, args ...any) *Error { return newf(Overloaded, format, args) }

// Serverf is for an internal failure with a text for the client.
func Serverf(format string, args ...any) *Error { return newf(ServerError, format, args) }

// KeyspaceExists is for CREATE KEYSPACE of an existing one.
func KeyspaceExists(keyspace string) *Error {
	return &Error{
		Code:    AlreadyExists,
		Message: fmt.Sprintf(`Cannot add existing keyspace "%s"`, keyspace),
		Detail:  AlreadyExistsDetail{Keyspace: keyspace},
	}
}

// TableExists is for CREATE TABLE of an existing table or view.
func TableExists(keyspace, table string) *Error {
	return &Error{
		Code:    AlreadyExists,
		Message: fmt.Sprintf(`Cannot add already existing table "%s" to keyspace "%s"`, table, keyspace),
		Detail:  AlreadyExistsDetail{Keyspace: keyspace, Table: table},
	}
}

// UnpreparedID is for EXECUTE or BATCH with an id that is not cached; drivers prepare again and resend.
func UnpreparedID(id []byte) *Error {
	return &Error{
		Code: Unprepared,
		Message: fmt.Sprintf("Prepared query with ID %x not found (either the query was not prepared on this "+
			"host (maybe the host has been restarted?) or you have prepared too many queries and it has been "+
			"evicted from the internal cache)", id),
		Detail: UnpreparedDetail{ID: id},
	}
}

// NotEnoughReplicas is for a consistency level that one node cannot satisfy.
func NotEnoughReplicas(level Consistency, required, alive int) *Error {
	return &Error{
		Code:    Unavailable,
		Message: "Cannot achieve consistency level " + level.String(),
		Detail:  UnavailableDetail{Consistency: level, Required: required, Alive: alive},
	}
}

// NotEnoughIn is for a consistency level that is counted in each datacenter. Cassandra reports no live replicas
// there.
func NotEnoughIn(datacenter string, level Consistency, required int) *Error {
	e := NotEnoughReplicas(level, required, 0)
	e.Message += " in DC " + datacenter
	return e
}

// NoFullReplica is for a read in a keyspace without replicas, at a level that requires none.
func NoFullReplica(level Consistency) *Error {
	return &Error{Code: Unavailable, Message: "Insufficient full replicas", Detail: UnavailableDetail{Consistency: level}}
}

// TimedOut is a timeout with the text of plain timeouts.
func TimedOut(code Code, d TimeoutDetail) *Error {
	return &Error{
		Code:    code,
		Message: fmt.Sprintf("Operation timed out - received only %d responses.", d.Received),
		Detail:  d,
	}
}

// WriteUnknown is for a write that may or may not have been stored.
func WriteUnknown(level Consistency, writeType string) *Error {
	return TimedOut(WriteTimeout, TimeoutDetail{Consistency: level, BlockFor: 1, WriteType: writeType})
}

// CASTimedOut is for a conditional write that timed out before its decision and is not stored. contentions counts its
// retries after conflicting writes.
func CASTimedOut(level Consistency, contentions int) *Error {
	return casTimeout(TimeoutDetail{Consistency: level, BlockFor: 1, WriteType: "CAS", Contentions: contentions})
}

// CASLate is for a conditional write that too few replicas have accepted, or confirmed, in time.
func CASLate(level Consistency, received, blockFor int, writeType string) *Error {
	return casTimeout(TimeoutDetail{Consistency: level, Received: received, BlockFor: blockFor, WriteType: writeType})
}

func casTimeout(d TimeoutDetail) *Error {
	return &Error{
		Code: WriteTimeout,
		Message: fmt.Sprintf("CAS operation timed out: received %d of %d required responses after %d contention retries",
			d.Received, d.BlockFor, d.Contentions),
		Detail: d,
	}
}

// CASUnknown is for a conditional write that may or may not have been stored.
func CASUnknown(level Consistency) *Error {
	return &Error{
		Code:    CASWriteUnknown,
		Message: "CAS operation result is unknown - proposal accepted by 0 but not a quorum.",
		Detail:  TimeoutDetail{Consistency: level, BlockFor: 1, WriteType: "CAS"},
	}
}

// ReadTimedOut is for a read that timed out.
func ReadTimedOut(level Consistency) *Error {
	return TimedOut(ReadTimeout, TimeoutDetail{Consistency: level, BlockFor: 1})
}

// ReadLate is for a read that too few replicas have answered in time. The first of them sends the data.
func ReadLate(level Consistency, received, blockFor int) *Error {
	d := TimeoutDetail{Consistency: level, Received: received, BlockFor: blockFor, DataPresent: received > 0}
	return TimedOut(ReadTimeout, d)
}

// WriteLate is for a write that too few replicas have confirmed in time.
func WriteLate(level Consistency, received, blockFor int, writeType string) *Error {
	d := TimeoutDetail{Consistency: level, Received: received, BlockFor: blockFor, WriteType: writeType}
	return TimedOut(WriteTimeout, d)
}

// NoBatchLog is for a logged batch without another node to log it.
func NoBatchLog(required int) *Error {
	return &Error{
		Code: Unavailable,
		Message: fmt.Sprintf("Cannot achieve consistency level %s for batchlog in local DC, required:%d, available:0",
			Two, required),
		Detail: UnavailableDetail{Consistency: Two, Required: required},
	}
}

// TruncateUnavailable is for a TRUNCATE while a node is down.
func TruncateUnavailable() *Error {
	return &Error{Code: TruncateError, Message: "Error during truncate: Cannot achieve consistency level ALL"}
}

// TruncateTimedOut is for a TRUNCATE that timed out.
func TruncateTimedOut() *Error {
	return &Error{
		Code:    TruncateError,
		Message: "Error during truncate: Truncate timed out - received only 0 responses",
	}
}

// FunctionFailed is for a function that cannot compute its value.
func FunctionFailed(keyspace, name string, argTypes []string, text string) *Error {
	return &Error{
		Code: FunctionFailure, Message: text,
		Detail: FunctionDetail{Keyspace: keyspace, Function: name, ArgTypes: argTypes},
	}
}

// tombstonesReason is the code of READ_TOO_MANY_TOMBSTONES.
const tombstonesReason = 1

// TooManyTombstones is for a read that its only replica aborted at the tombstone limit.
func TooManyTombstones(level Consistency, replica netip.AddrPort) *Error {
	return &Error{
		Code: ReadFailure,
		Message: fmt.Sprintf("Operation failed - received 0 responses and 1 failures: READ_TOO_MANY_TOMBSTONES from /%s",
			replica),
		Detail: FailureDetail{
			Consistency: level, BlockFor: 1,
			Reasons: []FailureReason{{Replica: replica.Addr(), Reason: tombstonesReason}},
		},
	}
}
