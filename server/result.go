package server

import (
	"fmt"

	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/protocol"
)

// resultMessage turns the result of an execution into a message, and does what results mean for sessions:
// USE sets the keyspace, definitions are told to whoever registered.
func (r *request) resultMessage(result exec.Result) protocol.Response {
	switch result := result.(type) {
	case *exec.Void:
		r.warn(result.Warnings...)
		return &protocol.Void{}
	case *exec.Rows:
		r.warn(result.Warnings...)
		if st := r.statement; st != nil && st.quick {
			st.gave(len(result.Cells))
		}
		return r.rowsMessage(result)
	case *exec.SetKeyspace:
		keyspace := result.Keyspace // the result is exec's again soon
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

// rowsMessage puts the columns before rows, or leaves them out where the client knows them:
//
//   - QUERY leaves them out when asked to.
//   - EXECUTE does as well before v5. Since v5 it does if the client's metadata id says that it knows these
//     columns; else it sends them with their id, asked to leave them out or not.
//   - Rows of conditional statements depend on the outcome and come with columns, except by QUERY.
func (r *request) rowsMessage(rows *exec.Rows) protocol.Response {
	columns, id := r.rowColumns(rows.Columns)
	metadata := protocol.RowsMetadata{Columns: columns, Skip: r.skip, PagingState: rows.PagingState}
	switch {
	case !r.prepared:
	case rows.Conditional:
		metadata.Skip = false
	case r.conn.session.version.HasResultMetadataID() && r.expected != *id:
		metadata.NewMetadataID = id[:]
	}
	r.rows = protocol.Rows{Metadata: metadata, Count: rows.Count, Cells: rows.Cells}
	return &r.rows
}

// rowColumns returns the columns as the statement has them encoded, if they are the ones it was planned
// with, and their id if the statement is prepared.
func (r *request) rowColumns(columns []planner.ResultColumn) (*protocol.ColumnSpecs, *preparedID) {
	if st := r.statement; st != nil && sameColumns(columns, st.plan.Result) {
		return st.columns, &st.resultID
	}
	specs := columnSpecs(columns)
	id := protocol.ResultMetadataID(specs.Columns())
	return specs, &id
}

// sameColumns reports whether a and b are one slice.
func sameColumns(a, b []planner.ResultColumn) bool {
	return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0]
}
