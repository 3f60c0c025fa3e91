package server

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/server/statements"
	"github.com/cqld/cqld/store/pace"
)

// resultMessage turns a result into a message. It also applies results: USE sets the session's keyspace, and
// definitions are published as events.
func (r *request) resultMessage(result exec.Result) protocol.Response {
	switch result := result.(type) {
	case *exec.Void:
		r.warn(result.Warnings...)
		return &protocol.Void{}
	case *exec.Rows:
		r.warn(result.Warnings...)
		return r.rowsMessage(result)
	case *exec.SetKeyspace:
		keyspace := result.Keyspace // exec may reuse the result
		r.conn.session.keyspace.Store(&keyspace)
		return &protocol.SetKeyspace{Keyspace: keyspace}
	case *exec.SchemaChange:
		r.warn(result.Warnings...)
		r.conn.server.schemaChanged(result.Events)
		r.conn.server.publish(result.Events)
		change := schemaChange(result.Answer)
		return &change
	}
	return r.conn.errorMessage(fmt.Errorf("result of unknown kind %T", result))
}

// rowsMessage makes a message of rows. It has the columns, unless the client knows them:
//
//   - QUERY leaves them out when the client asks for that.
//   - EXECUTE does the same before v5. Since v5 it leaves them out if the client's metadata id is that of the columns;
//     otherwise it always sends them with their id.
//   - EXECUTE of a conditional statement always sends them, because they depend on the outcome.
func (r *request) rowsMessage(rows *exec.Rows) protocol.Response {
	skip := r.parameters().Flags.Has(protocol.SkipMetadata)
	execute, prepared := r.message.(*protocol.Execute)
	if rows.Conditional {
		metadata := protocol.RowsMetadata{Columns: r.conditionalColumns(rows.Columns), Skip: skip && !prepared}
		r.rows = protocol.Rows{Metadata: metadata, Count: rows.Count, Cells: rows.Cells}
		return &r.rows
	}
	columns, id := r.rowColumns(rows.Columns)
	metadata := protocol.RowsMetadata{Columns: columns, Skip: skip, PagingState: rows.PagingState}
	if prepared && r.conn.session.version.HasResultMetadataID() && string(execute.ResultMetadataID) != string(id[:]) {
		metadata.NewMetadataID = id[:]
	}
	r.rows = protocol.Rows{Metadata: metadata, Count: rows.Count, Before: rows.Before, Cells: rows.Cells}
	return &r.rows
}

// conditionalColumns returns encoded columns of a conditional write. If it was applied, [applied] is the only column,
// and the statement keeps it.
func (r *request) conditionalColumns(columns []planner.ResultColumn) *protocol.ColumnSpecs {
	if r.statement == nil || len(columns) != 1 {
		return statements.Specs(columns)
	}
	return r.statement.AppliedSpecs(columns)
}

// rowColumns returns encoded columns and their id, which the statement has if they are the columns of the plan.
func (r *request) rowColumns(columns []planner.ResultColumn) (*protocol.ColumnSpecs, *statements.ID) {
	if st := r.statement; st != nil && sameColumns(columns, st.Plan.Result) {
		return st.Columns, &st.ResultID
	}
	specs := statements.Specs(columns)
	id := protocol.ResultMetadataID(specs.Columns())
	return specs, &id
}

// sameColumns reports whether a and b are one slice.
func sameColumns(a, b []planner.ResultColumn) bool {
	return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0]
}

// schemaChange is a change in the form of the protocol.
func schemaChange(c schema.Change) protocol.SchemaChange {
	return protocol.SchemaChange{
		Change: string(c.Kind), Target: string(c.Target), Keyspace: c.Keyspace, Name: c.Name, Args: c.Args,
	}
}

// errAbandoned is the error of an abandoned request, if the client is still connected.
var errAbandoned = cqlerr.Serverf("The request was abandoned because its connection ends")

// errStopping is the error of long work that a stopping server does not begin, or does not finish. Drivers retry it on
// another node.
var errStopping = cqlerr.Overloadedf("The server is stopping")

// errInternal is the error of a request on which the server failed. The log has the cause.
var errInternal = cqlerr.Serverf("Internal server error; the server's log has the details")

// errorMessage is the only place where errors become messages. An error without a kind is a failure of the server: it
// is logged, and the client gets errInternal.
func (c *conn) errorMessage(err error) *protocol.Error {
	shown, ok := cqlerr.As(err)
	switch {
	case ok:
	case errors.Is(err, context.Canceled):
		shown = errAbandoned
	case errors.Is(err, pace.ErrRefused):
		shown = errStopping
	default:
		if c.server.logged.Allow(requestFailed, c.remote.Addr()) {
			panics.Log(&c.log, err).Msg(requestFailed)
		}
		shown = errInternal
	}
	c.server.metrics.countError(shown.Code)
	return &protocol.Error{Err: shown}
}

// panicked turns a panic into an error, and logs it with its stack.
func (c *conn) panicked(p any) error {
	if c.server.logged.Allow(requestPanicked, c.remote.Addr()) {
		c.log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg(requestPanicked)
	}
	return errInternal
}

const (
	requestFailed   = "request failed"
	requestPanicked = "a request panicked"
)
