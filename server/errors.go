package server

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/store/pace"
)

// errAbandoned is the error of a request that was given up, if the client is still connected.
var errAbandoned = cqlerr.Serverf("The request was abandoned because its connection ends")

// errStopping is the error of long work that a server does not begin, or does not finish, because it was told to stop.
// Drivers ask another node.
var errStopping = cqlerr.Overloadedf("The server is stopping")

// errInternal is the error of a request on which the server failed. The log has the cause.
var errInternal = cqlerr.Serverf("Internal server error; the server's log has the details")

// errorMessage is the only place where errors become messages. An error without a kind is a failure of the server: it
// is logged, and the client gets errInternal.
func (c *conn) errorMessage(err error) *protocol.Error {
	told, ok := cqlerr.As(err)
	switch {
	case ok:
	case errors.Is(err, context.Canceled):
		told = errAbandoned
	case errors.Is(err, pace.ErrRefused):
		told = errStopping
	default:
		if c.server.logged.allow(requestFailed, c.remote.Addr()) {
			c.log.Error().Err(err).Msg(requestFailed)
		}
		told = errInternal
	}
	c.server.metrics.countError(told.Code)
	return &protocol.Error{Err: told}
}

// panicked turns a panic into an error, and logs it with its stack.
func (c *conn) panicked(p any) error {
	if c.server.logged.allow(requestPanicked, c.remote.Addr()) {
		c.log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg(requestPanicked)
	}
	return errInternal
}

const (
	requestFailed   = "request failed"
	requestPanicked = "a request panicked"
)
