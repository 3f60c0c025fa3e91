package server

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol"
)

// errAbandoned is told to a client whose request was given up, if it is still there to be told.
var errAbandoned = cqlerr.Serverf("The request was abandoned because its connection ends")

// errInternal is told to a client when we fail; what happened is in the log.
var errInternal = cqlerr.Serverf("Internal server error; the server's log has the details")

// errorMessage is the one place where errors become messages. An error without a kind is a failure of ours:
// it is logged, and the client is told no more than that.
func (c *conn) errorMessage(err error) *protocol.Error {
	told, ok := cqlerr.As(err)
	switch {
	case ok:
	case errors.Is(err, context.Canceled):
		told = errAbandoned
	default:
		c.log.Error().Err(err).Msg("request failed")
		told = errInternal
	}
	c.server.metrics.countError(told.Code)
	return &protocol.Error{Err: told}
}

// panicked turns a panic into an error and logs where it came from.
func (c *conn) panicked(p any) error {
	c.log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg("a request panicked")
	return errInternal
}
