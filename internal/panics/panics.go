// Package panics keeps a panic from ending the process, because a server that ends for one statement or one table is
// down for all clients, and at each start again if background work causes it.
//
// A panic becomes an *Error with Into or Call. Then whoever began the work decides what fails: one request, one build,
// or all commits of a folder. Run and Go are for goroutines whose outcome nobody waits for. What a function holds is
// released by defer, so that a panic releases it too.
//
// Stack overflows, running out of memory and concurrent writes to a map are no panics: nothing recovers from them.
package panics

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/internal/invariants"
)

// Error is a panic as an error.
type Error struct {
	Value any
	Stack []byte // for the log: Error does not show it
}

// Error names the value that was given to panic.
func (e *Error) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Is reports whether an error is a panic, or wraps one.
func Is(err error) bool {
	var e *Error
	return errors.As(err, &e)
}

// Into is deferred. It makes a panic of the function its error.
func Into(err *error) {
	if p := recover(); p != nil {
		*err = toError(p)
	}
}

// toError makes an error of a panic. A violated invariant still ends the process: only builds for tests check
// invariants, and a test has to see it.
func toError(p any) error {
	if v, ok := p.(invariants.Violation); ok {
		panic(v)
	}
	return &Error{p, debug.Stack()}
}

// Call calls fn. If fn panics, that is the error.
func Call(fn func() error) (err error) {
	defer Into(&err)
	return fn()
}

// Recover is deferred. It logs a panic of the function.
func Recover(log *zerolog.Logger) {
	if p := recover(); p != nil {
		Log(log, toError(p)).Msg("a goroutine panicked")
	}
}

// Run runs fn. If fn panics, that is logged.
func Run(log *zerolog.Logger, fn func()) {
	defer Recover(log)
	fn()
}

// Go is Run in a goroutine. A goroutine per request is cheaper with Recover.
func Go(log *zerolog.Logger, fn func()) { go Run(log, fn) }

// Log begins a line of the log with an error, and the stack if it is a panic.
func Log(log *zerolog.Logger, err error) *zerolog.Event {
	line := log.Error().Err(err)
	if e := (*Error)(nil); errors.As(err, &e) {
		line.Bytes("stack", e.Stack)
	}
	return line
}
