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

// ValueError is why bytes or a text are not a value of a type, in Cassandra's words. It is to be sent as
// an invalid request, or as a server error where Cassandra does that.
type ValueError struct {
	Message string
	Server  bool
}

func (e *ValueError) Error() string { return e.Message }

// invalidf is for what a client did wrong.
func invalidf(format string, args ...any) error {
	return &ValueError{Message: fmt.Sprintf(format, args...)}
}

// serverf is for what Cassandra answers by accident, as a server error.
func serverf(format string, args ...any) error {
	return &ValueError{Message: fmt.Sprintf(format, args...), Server: true}
}
