package server

import (
	"fmt"

	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/protocol"
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
		r.noteSize(result)
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
	if rows.Conditional {
		skip := r.skip && !r.prepared
		r.rows = protocol.Rows{Metadata: protocol.RowsMetadata{Columns: r.conditionalColumns(rows.Columns), Skip: skip}, Count: rows.Count, Cells: rows.Cells}
		return &r.rows
	}
	columns, id := r.rowColumns(rows.Columns)
	metadata := protocol.RowsMetadata{Columns: columns, Skip: r.skip, PagingState: rows.PagingState}
	switch {
	case !r.prepared:
	case r.conn.session.version.HasResultMetadataID() && r.expected != *id:
		metadata.NewMetadataID = id[:]
	}
	r.rows = protocol.Rows{Metadata: metadata, Count: rows.Count, Before: rows.Before, Cells: rows.Cells}
	return &r.rows
}

// conditionalColumns returns encoded columns of a conditional write. If it was applied, there is only [applied], and
// the statement has it.
func (r *request) conditionalColumns(columns []planner.ResultColumn) *protocol.ColumnSpecs {
	st := r.statement
	if st == nil || len(columns) != 1 {
		return columnSpecs(columns)
	}
	specs := st.applied.Load()
	if specs == nil {
		specs = columnSpecs(columns)
		st.applied.Store(specs)
	}
	return specs
}

// rowColumns returns encoded columns and their id. If they are the ones of the plan, the statement has both.
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
