package server

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/store/pace"
)

// longBatch is the size of a message from which on it is decoded when it has its turn.
const longBatch = 16 << 10

// shortBatch is how many statements a batch may have for the goroutine that reads to run it.
const shortBatch = 100

// batchHere lets the goroutine that reads run short batches of prepared statements that are quick.
func batchHere(r *request) bool {
	m := r.message.(*protocol.Batch)
	if len(m.Children) > shortBatch {
		return false
	}
	for i := range m.Children {
		if !m.Children[i].Prepared {
			return false
		}
		if st, err := r.conn.server.lookup(m.Children[i].ID); err != nil || !st.quick {
			return false
		}
	}
	return true
}

// batch serves BATCH. All statements are found or planned before one is judged.
func batch(r *request) {
	m := r.message.(*protocol.Batch)
	r.traceRequest("Execute batch of CQL3 queries", "", &m.Parameters)
	r.batch.Kind, r.batch.Options = exec.BatchKind(m.Type), r.options(&m.Parameters)
	onlyModifications, sameTable := true, true
	var first *statement
	for i := range m.Children {
		st, err := r.childStatement(&m.Children[i], &m.Parameters)
		if err != nil {
			r.fail(err)
			return
		}
		r.batch.Children = append(r.batch.Children, exec.Request{Prepared: st.plan, Values: m.Children[i].Values})
		if first == nil {
			first = st
		}
		sameTable = sameTable && modifiedTable(st) == modifiedTable(first)
		onlyModifications = onlyModifications && st.plan.Modifies && !st.isBatch
	}
	if !onlyModifications {
		r.fail(planner.ErrNotInBatch())
		return
	}
	if len(m.Children) == 0 {
		r.answer(&protocol.Void{})
		return
	}
	if sameTable {
		r.latency = r.conn.server.latencies.batchOf(first)
	} else {
		r.latency = r.conn.server.latencies.ofMixedBatches()
	}
	r.tracef("Executing batch of %d statements", len(m.Children))
	if (len(m.Children) > shortBatch || r.size > batchWeight*longWrite) && !r.turn.Begun() {
		turn, err := r.takeTurn(r.conn.server.limits.WriteTimeout)
		if err != nil {
			r.fail(r.timedOut(err, r.batch.Kind.WriteType()))
			return
		}
		defer turn.End()
	}
	if r.turn.Begun() {
		r.batch.Turn = &r.turn
	}
	r.conn.writes.add(r, r.batch.Kind.WriteType())
	r.conn.server.exec.ExecuteBatch(r.conn.server.ctx, &r.batch, r.done)
}

// childStatement finds or plans one statement of a batch, and counts its values.
func (r *request) childStatement(child *protocol.BatchChild, p *protocol.QueryParameters) (st *statement, err error) {
	if child.Prepared {
		st, err = r.conn.server.lookup(child.ID)
	} else {
		var keyspace string
		if keyspace, err = r.keyspaceFor(p); err == nil {
			err = r.planning(child.Query, func(turn *pace.Turn) (err error) {
				st, err = r.conn.server.planText(turn, child.Query, keyspace)
				return err
			})
		}
	}
	if err != nil {
		return nil, err
	}
	if len(child.Values) != len(st.plan.Markers) {
		return nil, cqlerr.Invalidf("There were %d markers(?) in CQL but %d bound variables",
			len(st.plan.Markers), len(child.Values))
	}
	return st, nil
}
