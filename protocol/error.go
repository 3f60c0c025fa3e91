package protocol

import "github.com/cqld/cqld/cql/cqlerr"

// Error tells that a request failed.
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
// failures is a [int] count, since v5 followed by an [inetaddr] and a [short] reason for each. Kinds that a
// version does not know are sent as the nearest it knows.
type Error struct{ Err *cqlerr.Error }

// maxFailures is the largest count of failures that is believed without a reason for each.
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

// detailOf is the detail a code must have on the wire: an error that was made without, or with another
// kind's, gets an empty one, because clients would read beyond the end.
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

// decodeFailure gives a failure of an old version as many empty reasons as it counts, as far as the count
// can be believed.
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
