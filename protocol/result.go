package protocol

import "github.com/cqld/cqld/cql/cqlerr"

// The kinds of RESULT: its body begins with one of them as [int], and each is a message of its own here.
const (
	resultVoid         = 1
	resultRows         = 2
	resultSetKeyspace  = 3
	resultPrepared     = 4
	resultSchemaChange = 5
)

// resultMessage reads the kind of a RESULT and returns the message for the rest, or nil and fails.
func resultMessage(r *reader) Response {
	kind := r.int()
	switch kind {
	case resultVoid:
		return &Void{}
	case resultRows:
		return &Rows{}
	case resultSetKeyspace:
		return &SetKeyspace{}
	case resultPrepared:
		return &Prepared{}
	case resultSchemaChange:
		return &SchemaChange{}
	}
	r.fail(cqlerr.Protocolf("Unknown kind of result %d", kind))
	return nil
}
