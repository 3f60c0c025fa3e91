package server

import (
	"encoding/hex"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/secret"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/store/pace"
)

// queryInReader lets the reader serve texts whose plan is kept and quick. It also serves USE, which has to take effect
// for the requests after it.
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
	r.trace.Request("Execute CQL3 query", m.Query, p)
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
	r.trace.Event("Parsing " + secret.Hide(text))
	err = r.whenPlannable(text, func(turn *pace.Turn) (err error) {
		r.statement, err = r.conn.server.planText(turn, r.guarded(), text, keyspace)
		return err
	})
	if err == nil {
		r.trace.Event("Preparing statement")
	}
	return err
}

// prepare serves PREPARE.
func prepare(r *request) {
	m := r.message.(*protocol.Prepare)
	s := r.conn.server
	r.trace.Request("Preparing CQL3 query", m.Query, nil)
	session := &r.conn.session
	keyspace := session.currentKeyspace()
	own := m.Flags&protocol.PrepareWithKeyspace != 0
	if own {
		keyspace = m.Keyspace
		if err := s.checkKeyspace(keyspace); err != nil {
			r.fail(err)
			return
		}
	}
	r.trace.Event("Parsing " + secret.Hide(m.Query))
	var st *statement
	var fresh bool
	err := r.whenPlannable(m.Query, func(turn *pace.Turn) (err error) {
		st, fresh, err = r.conn.node.prepare(turn, r.guarded(), m.Query, keyspace)
		return err
	})
	if err == nil {
		err = r.validateAuthorization(st)
	}
	if err != nil {
		r.fail(err)
		return
	}
	r.trace.Event("Preparing statement")
	// A request with its own keyspace gets the warning every time, besides the connection's.
	if fresh && !st.plan.Qualified && (own || !session.useWarned.Swap(true)) {
		r.warnAboutUse(st, keyspace)
	}
	r.answer(&protocol.Prepared{
		ID:               st.id[:],
		ResultMetadataID: st.resultID[:],
		Bind:             st.markers,
		PKIndexes:        st.pkIndexes,
		Result:           st.columns,
	})
}

// executeInReader finds the prepared statement, which the reader executes in most cases. A statement that is not found
// may be there when the goroutine looks for it again.
func executeInReader(r *request) bool {
	st, err := r.conn.node.lookup(r.message.(*protocol.Execute).ID)
	if err != nil {
		return false
	}
	r.statement = st
	return r.runsInReader(st)
}

// execute serves EXECUTE.
func execute(r *request) {
	m := r.message.(*protocol.Execute)
	p := &m.Parameters
	st := r.statement
	if st == nil {
		var err error
		if st, err = r.conn.node.lookup(m.ID); err != nil {
			r.trace.Request("Execute CQL3 prepared query", "", p)
			r.fail(err)
			return
		}
		r.statement = st
	}
	r.trace.Request("Execute CQL3 prepared query", st.text, p)
	if err := p.CheckPageSize(); err != nil {
		r.fail(err)
		return
	}
	values := bind(st.plan.Markers, p)
	if len(values) != len(st.plan.Markers) {
		r.fail(cqlerr.Invalidf("there were %d markers(?) in CQL but %d bound variables",
			len(st.plan.Markers), len(values)))
		return
	}
	session := &r.conn.session
	if used := session.currentKeyspace(); !st.plan.Qualified && st.keyspace != used && !session.useWarned.Swap(true) {
		r.warnAboutUse(st, used)
	}
	r.execute(values, p)
}

// warnAboutUse adds the warning about prepared statements that depend on USE. A connection gets it once.
func (r *request) warnAboutUse(st *statement, used string) {
	r.warn("`USE <keyspace>` with prepared statements is considered to be an anti-pattern due to ambiguity in " +
		"non-qualified table names. Please consider removing instances of `Session#setKeyspace(<keyspace>)`, " +
		"`Session#execute(\"USE <keyspace>\")` and `cluster.newSession(<keyspace>)` from your code, and always use " +
		"fully qualified table names (e.g. <keyspace>.<table>). Keyspace used: " +
		orNull(used) + ", statement keyspace: " + orNull(st.keyspace) +
		", statement id: " + hex.EncodeToString(st.id[:]))
}

// orNull prints a keyspace as Cassandra does: "" is null.
func orNull(keyspace string) string {
	if keyspace == "" {
		return "null"
	}
	return keyspace
}
