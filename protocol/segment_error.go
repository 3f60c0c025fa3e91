package protocol

import (
	"fmt"

	"github.com/cqld/cqld/cql/cqlerr"
)

// SegmentError is a failure inside the segments of a connection behind which nothing can be understood:
// it is answered and the connection closed.
type SegmentError struct{ Err *cqlerr.Error }

// Error is the message for the client.
func (e *SegmentError) Error() string { return e.Err.Error() }

// Unwrap makes cqlerr.As find the error to send.
func (e *SegmentError) Unwrap() error { return e.Err }

func segmentErrorf(format string, args ...any) *SegmentError {
	return &SegmentError{cqlerr.Protocolf(format, args...)}
}

// CRCError is a checksum that does not match what it covers. Cassandra begins its text with the id of the
// connection, which only the server knows.
type CRCError struct {
	Where          string // header or body
	Read, Computed uint32
}

// Error has both checksums as Java prints an int: those of a body may be negative.
func (e *CRCError) Error() string {
	return fmt.Sprintf("invalid, unrecoverable CRC mismatch detected in frame %s. Read %d, Computed %d",
		e.Where, int32(e.Read), int32(e.Computed))
}

// On is the error to send on a connection.
func (e *CRCError) On(connection string) *cqlerr.Error {
	return cqlerr.Protocolf("%s %s", connection, e.Error())
}
