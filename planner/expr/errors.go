package expr

import (
	"errors"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/functions"
)

// invalidValue is what a client is told of bytes or text that are no value of a type.
func invalidValue(err error) error {
	if _, known := cqlerr.As(err); known {
		return err
	}
	if ended := (*functions.Ended)(nil); errors.As(err, &ended) {
		return err
	}
	return cqlerr.Invalidf("%s", err.Error())
}

// NotSupported is the answer to syntax of CQL that is understood but not built.
func NotSupported(what string) error {
	return cqlerr.Invalidf("%s is not supported by cqld yet", what)
}
