package server

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/secret"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/store/pace"
)

// queryInReader lets the reader run texts whose plan is kept and quick. It also runs USE, which has to take effect for
// the requests behind it.
func queryInReader(r *request) bool {
	m := r.message.(*protocol.Query)
	if r.streamName() != "" {
		return false
	}
	keyspace, err := r.keyspaceFor(&m.Parameters)
	if err != nil {
		return true // to be answered
	}
	if planner.IsUse(m.Query) {
		return true
	}
	r.statement = r.conn.server.knownText(textKey{keyspace, m.Query, r.guarded() != nil})
	return r.statement != nil && r.runsInReader(r.statement)
}

// query serves QUERY.
func query(r *request) {
	m := r.message.(*protocol.Query)
	p := &m.Parameters
	if name := r.streamName(); name != "" {
		r.serveStream(name)
		return
	}
	r.traceRequest("Execute CQL3 query", m.Query, p)
	if err := p.CheckPageSize(); err != nil {
		r.fail(err)
		return
	}
	if err := r.planText(m.Query, p); err != nil {
		r.fail(err)
		return
	}
	values := bind(r.statement.plan.Markers, p)
	if len(values) != len(r.statement.plan.Markers) {
		r.fail(cqlerr.Invalidf("Invalid amount of bind variables"))
		return
	}
	r.execute(values, p)
}

// planText sets the statement of a text.
func (r *request) planText(text string, p *protocol.QueryParameters) (err error) {
	keyspace, err := r.keyspaceFor(p)
	if err != nil || r.statement != nil {
		return err
	}
	r.tracef("Parsing %s", secret.Hide(text))
	err = r.whenPlannable(text, func(turn *pace.Turn) (err error) {
		r.statement, err = r.conn.server.planText(turn, r.guarded(), text, keyspace)
		return err
	})
	if err == nil {
		r.tracef("Preparing statement")
	}
	return err
}
