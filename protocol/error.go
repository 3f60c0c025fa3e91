package protocol

import "github.com/cqld/cqld/cql/cqlerr"

// Error reports that a request failed.
//
//	<code [int]><message [string]> then, for
//	UNAVAILABLE			<consistency><required [int]><alive [int]>
//	WRITE_TIMEOUT		<consistency><received [int]><block for [int]><write type [string]>
//							[<contentions [short]>]		CAS, since v5
//	READ_TIMEOUT		<consistency><received [int]><block for [int]><data present [byte]>
//	READ_FAILURE		<consistency><received [int]><block for [int]><failures><data present [byte]>
//	WRITE_FAILURE		<consistency><received [int]><block for [int]><failures><write type [string]>
//	FUNCTION_FAILURE	<keyspace [string]><function [string]><argument types [string list]>
//	CAS_WRITE_UNKNOWN	<consistency><received [int]><block for [int]>
//	ALREADY_EXISTS		<keyspace [string]><table [string]>
//	UNPREPARED			<id [short bytes]>
//
// failures is a [int] count, since v5 followed by an [inetaddr] and a [short] reason for each. A kind that a version
// does not know is sent as the nearest known one.
type Error struct{ Err *cqlerr.Error }

// maxFailures is the largest accepted count of failures without reasons.
const maxFailures = 1000

// writeTypeCAS is the write type of lightweight transactions, which versions treat differently.
const writeTypeCAS = "CAS"

// Opcode is ERROR's.
func (*Error) Opcode() Opcode { return OpError }
func (*Error) response()      {}

func (m *Error) append(dst []byte, v Version) []byte {
	e := downgrade(m.Err, v)
	dst = appendString(appendInt(dst, int32(e.Code)), e.Message)
	switch d := detailOf(e).(type) {
	case cqlerr.UnavailableDetail:
		return appendReplicas(dst, d.Consistency, d.Required, d.Alive)
	case cqlerr.TimeoutDetail:
		return appendTimeout(appendReplicas(dst, d.Consistency, d.Received, d.BlockFor), e.Code, d, v)
	case cqlerr.FailureDetail:
		return appendFailure(appendReplicas(dst, d.Consistency, d.Received, d.BlockFor), e.Code, d, v)
	case cqlerr.FunctionDetail:
		return appendStringList(appendString(appendString(dst, d.Keyspace), d.Function), d.ArgTypes)
	case cqlerr.AlreadyExistsDetail:
		return appendString(appendString(dst, d.Keyspace), d.Table)
	case cqlerr.UnpreparedDetail:
		return appendShortBytes(dst, d.ID)
	}
	return dst
}

// detailOf returns the detail that a code must have on the wire. An error without it, or with another kind's, gets an
// empty one: clients would read beyond the end.
func detailOf(e *cqlerr.Error) cqlerr.Detail {
	switch e.Code {
	case cqlerr.Unavailable:
		return detail[cqlerr.UnavailableDetail](e)
	case cqlerr.WriteTimeout, cqlerr.ReadTimeout, cqlerr.CASWriteUnknown:
		return detail[cqlerr.TimeoutDetail](e)
	case cqlerr.ReadFailure, cqlerr.WriteFailure:
		return detail[cqlerr.FailureDetail](e)
	case cqlerr.FunctionFailure:
		return detail[cqlerr.FunctionDetail](e)
	case cqlerr.AlreadyExists:
		return detail[cqlerr.AlreadyExistsDetail](e)
	case cqlerr.Unprepared:
		return detail[cqlerr.UnpreparedDetail](e)
	}
	return nil
}

func detail[D cqlerr.Detail](e *cqlerr.Error) D {
	d, _ := e.Detail.(D)
	return d
}

func appendReplicas(dst []byte, c Consistency, a, b int) []byte {
	return appendInt(appendInt(appendConsistency(dst, c), int32(a)), int32(b))
}

func appendTimeout(dst []byte, code cqlerr.Code, d cqlerr.TimeoutDetail, v Version) []byte {
	switch code {
	case cqlerr.ReadTimeout:
		return appendBool(dst, d.DataPresent)
	case cqlerr.CASWriteUnknown:
		return dst
	}
	dst = appendString(dst, d.WriteType)
	if v.HasCASErrors() && d.WriteType == writeTypeCAS {
		dst = appendShort(dst, d.Contentions)
	}
	return dst
}

func appendFailure(dst []byte, code cqlerr.Code, d cqlerr.FailureDetail, v Version) []byte {
	dst = appendInt(dst, int32(len(d.Reasons)))
	if v.HasFailureReasons() {
		for _, f := range d.Reasons {
			dst = appendShort(appendInetaddr(dst, f.Replica), int(f.Reason))
		}
	}
	if code == cqlerr.ReadFailure {
		return appendBool(dst, d.DataPresent)
	}
	return appendString(dst, d.WriteType)
}

func (m *Error) decode(r *reader, v Version) {
	e := &cqlerr.Error{Code: cqlerr.Code(r.int()), Message: r.string()}
	m.Err = e
	switch e.Code {
	case cqlerr.Unavailable:
		e.Detail = cqlerr.UnavailableDetail{
			Consistency: r.consistency(), Required: int(r.int()), Alive: int(r.int()),
		}
	case cqlerr.WriteTimeout, cqlerr.ReadTimeout, cqlerr.CASWriteUnknown:
		e.Detail = decodeTimeout(r, e.Code, v)
	case cqlerr.ReadFailure, cqlerr.WriteFailure:
		e.Detail = decodeFailure(r, e.Code, v)
	case cqlerr.FunctionFailure:
		e.Detail = cqlerr.FunctionDetail{Keyspace: r.string(), Function: r.string(), ArgTypes: r.stringList()}
	case cqlerr.AlreadyExists:
		e.Detail = cqlerr.AlreadyExistsDetail{Keyspace: r.string(), Table: r.string()}
	case cqlerr.Unprepared:
		e.Detail = cqlerr.UnpreparedDetail{ID: r.shortBytes()}
	}
}

func decodeTimeout(r *reader, code cqlerr.Code, v Version) cqlerr.Detail {
	d := cqlerr.TimeoutDetail{Consistency: r.consistency(), Received: int(r.int()), BlockFor: int(r.int())}
	switch code {
	case cqlerr.ReadTimeout:
		d.DataPresent = r.byte() != 0
	case cqlerr.WriteTimeout:
		d.WriteType = r.string()
		if v.HasCASErrors() && d.WriteType == writeTypeCAS {
			d.Contentions = r.short()
		}
	}
	return d
}

// decodeFailure decodes a failure; in old versions it has as many empty reasons as the count says.
func decodeFailure(r *reader, code cqlerr.Code, v Version) cqlerr.Detail {
	d := cqlerr.FailureDetail{Consistency: r.consistency(), Received: int(r.int()), BlockFor: int(r.int())}
	n := int(r.int())
	if !v.HasFailureReasons() && n > maxFailures {
		r.fail(cqlerr.Protocolf("Too many failures: %d", n))
	}
	for ; n > 0 && r.err == nil; n-- {
		var f cqlerr.FailureReason
		if v.HasFailureReasons() {
			f = cqlerr.FailureReason{Replica: r.inetaddr(), Reason: uint16(r.short())}
		}
		d.Reasons = append(d.Reasons, f)
	}
	if code == cqlerr.ReadFailure {
		d.DataPresent = r.byte() != 0
	} else {
		d.WriteType = r.string()
	}
	return d
}

// downgrade returns e, or in an older version the error that it used before the kind existed.
func downgrade(e *cqlerr.Error, v Version) *cqlerr.Error {
	switch e.Code {
	case cqlerr.ReadFailure:
		if !v.HasFailures() {
			return failureAsTimeout(e, cqlerr.ReadTimeout)
		}
	case cqlerr.WriteFailure:
		if !v.HasFailures() {
			return failureAsTimeout(e, cqlerr.WriteTimeout)
		}
	case cqlerr.FunctionFailure:
		if !v.HasFailures() {
			return cqlerr.Invalidf("ERROR FUNCTION_FAILURE: %s", e.Message)
		}
	case cqlerr.CDCWriteFailure:
		if !v.HasFailures() {
			return cqlerr.Invalidf("ERROR CDC_WRITE_FAILURE: %s", e.Message)
		}
	case cqlerr.WriteTimeout:
		if d := detail[cqlerr.TimeoutDetail](e); !v.HasCASErrors() && d.WriteType == writeTypeCAS {
			return cqlerr.TimedOut(cqlerr.WriteTimeout, d)
		}
	case cqlerr.CASWriteUnknown:
		if !v.HasCASErrors() {
			d := detail[cqlerr.TimeoutDetail](e)
			d.WriteType = writeTypeCAS
			return cqlerr.TimedOut(cqlerr.WriteTimeout, d)
		}
	}
	return e
}

func failureAsTimeout(e *cqlerr.Error, code cqlerr.Code) *cqlerr.Error {
	d := detail[cqlerr.FailureDetail](e)
	return cqlerr.TimedOut(code, cqlerr.TimeoutDetail{
		Consistency: d.Consistency, Received: d.Received, BlockFor: d.BlockFor,
		WriteType: d.WriteType, DataPresent: d.DataPresent,
	})
}
