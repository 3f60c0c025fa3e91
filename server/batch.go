package server

import (
	"fmt"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/server/statements"
	"github.com/cqld/cqld/store/pace"
)

// longBatch is the size of a body above which a BATCH is decoded on a turn.
const longBatch = 16 << 10

// batchInReader lets the reader execute short batches of quick prepared statements. A goroutine executes batches with
// conditions, because the store compares their values when the turn of the batch comes.
func batchInReader(r *request) bool {
	m := r.message.(*protocol.Batch)
	if len(m.Children) > statements.ShortBatch || r.waitsForTimestamp() {
		return false
	}
	for i := range m.Children {
		if !m.Children[i].Prepared {
			return false
		}
		st, err := r.conn.node.prepared.Lookup(m.Children[i].ID)
		if err != nil || !st.Quick || st.Writes == exec.Conditional {
			return false
		}
	}
	return true
}

// batch serves BATCH. It finds or plans all statements before it refuses one.
func batch(r *request) {
	m, s := r.message.(*protocol.Batch), r.conn.server
	r.trace.Request("Execute batch of CQL3 queries", "", &m.Parameters)
	r.batch.Kind = exec.BatchKind(m.Type)
	kind := r.batch.Kind.WriteType()
	onlyModifications, sameTable, costly := true, true, false
	var first *statements.Statement
	for i := range m.Children {
		st, err := r.childStatement(&m.Children[i], &m.Parameters)
		if err != nil {
			r.fail(err)
			return
		}
		r.batch.Children = append(r.batch.Children, exec.Request{Prepared: st.Plan, Values: m.Children[i].Values})
		if s.roles != nil {
			r.children = append(r.children, st)
		}
		if first == nil {
			first = st
		}
		if st.Writes == exec.Conditional {
			kind = exec.Conditional
		}
		costly = costly || st.Costly
		sameTable = sameTable && st.ModifiedTable() == first.ModifiedTable()
		onlyModifications = onlyModifications && st.Plan.Modifies && !st.IsBatch
	}
	if !onlyModifications {
		r.fail(planner.ErrNotInBatch())
		return
	}
	timeout := s.limits.writeTimeout(classOf(kind))
	r.batch.Options = r.options(&m.Parameters, timeout)
	if s.roles != nil {
		if err := r.authorizeBatch(); err != nil {
			r.fail(err)
			return
		}
	}
	if len(m.Children) == 0 {
		r.answer(&protocol.Void{})
		return
	}
	if sameTable {
		r.latency = first.BatchLatency(s.latencies)
	} else {
		r.latency = s.latencies.OfMixedBatches()
	}
	if r.trace != nil {
		r.trace.Event(fmt.Sprintf("Executing batch of %d statements", len(m.Children)))
	}
	if (costly || len(m.Children) > statements.ShortBatch || r.size > batchWeight*maxDirectWrite) && !r.turn.Begun() {
		if err := r.beginTurn(s.ctx, timeout); err != nil {
			r.fail(r.notBegun(err, kind))
			return
		}
		defer r.turn.End()
	}
	if r.turn.Begun() {
		r.batch.Turn = &r.turn
	}
	s.recent.note(r)
	if kind == exec.Conditional {
		r.batch.Decision = r.startDecision()
	}
	r.conn.pendingWrites.add(r, kind)
	s.exec.ExecuteBatch(s.ctx, &r.batch, r.done)
}

// childStatement finds or plans one statement of a batch, and counts its values.
func (r *request) childStatement(child *protocol.BatchChild, p *protocol.QueryParameters) (st *statements.Statement, err error) {
	if child.Prepared {
		st, err = r.conn.node.prepared.Lookup(child.ID)
	} else {
		var keyspace string
		if keyspace, err = r.keyspaceFor(p); err == nil {
			err = r.whenPlannable(child.Query, func(turn *pace.Turn) (err error) {
				st, err = r.conn.server.texts.Plan(turn, r.guarded(), child.Query, keyspace)
				return err
			})
		}
	}
	if err != nil {
		return nil, err
	}
	if len(child.Values) != len(st.Plan.Markers) {
		return nil, cqlerr.Invalidf("There were %d markers(?) in CQL but %d bound variables",
			len(st.Plan.Markers), len(child.Values))
	}
	return st, nil
}
