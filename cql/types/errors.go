package types

import (
	"errors"
	"fmt"
)

// ErrKind says that a type takes no literal of the kind at hand: an integer for a text, for example. Who
// gets it knows the column and writes the sentence.
var ErrKind = errors.New("types: the type takes no literal of this kind")

// errKey says that a key was not made by AppendKey. Only damaged storage has such keys.
var errKey = errors.New("types: malformed key")

// ValueError is why bytes or a text are not a value of a type, to be sent as an invalid request: in
// Cassandra's words, but in ours where Cassandra lets a Java exception out.
type ValueError struct {
	Message string

	// Request says that Cassandra lets this error through to the client as it is, with nothing about the value in
	// front of it.
	Request bool
}

// Error is the sentence that the client gets.
func (e *ValueError) Error() string { return e.Message }

// invalidf is for what a client did wrong.
func invalidf(format string, args ...any) error {
	return &ValueError{Message: fmt.Sprintf(format, args...)}
}
