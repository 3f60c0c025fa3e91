package protocol

import (
	"fmt"

	"github.com/cqld/cqld/cql/cqlerr"
)

// downgrade returns e as a version can express it: itself, or the error that stood for its kind before the
// kind existed.
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
			return timedOut(cqlerr.WriteTimeout, d)
		}
	case cqlerr.CASWriteUnknown:
		if !v.HasCASErrors() {
			d := detail[cqlerr.TimeoutDetail](e)
			d.WriteType = writeTypeCAS
			return timedOut(cqlerr.WriteTimeout, d)
		}
	}
	return e
}

func failureAsTimeout(e *cqlerr.Error, code cqlerr.Code) *cqlerr.Error {
	d := detail[cqlerr.FailureDetail](e)
	return timedOut(code, cqlerr.TimeoutDetail{
		Consistency: d.Consistency, Received: d.Received, BlockFor: d.BlockFor,
		WriteType: d.WriteType, DataPresent: d.DataPresent,
	})
}

// timedOut has the text of plain timeouts, which does not tell what made it one.
func timedOut(code cqlerr.Code, d cqlerr.TimeoutDetail) *cqlerr.Error {
	return &cqlerr.Error{
		Code:    code,
		Message: fmt.Sprintf("Operation timed out - received only %d responses.", d.Received),
		Detail:  d,
	}
}
