package server

import (
	"context"
	"encoding/hex"
	"errors"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/server/statements"
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
	r.statement = r.conn.server.texts.Known(m.Query, keyspace, r.guarded() != nil)
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
	values := bind(r.statement.Plan.Markers, p)
	if len(values) != len(r.statement.Plan.Markers) {
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
	r.trace.Parse(text)
	err = r.whenPlannable(text, func(turn *pace.Turn) (err error) {
		r.statement, err = r.conn.server.texts.Plan(turn, r.guarded(), text, keyspace)
		return err
	})
	if err == nil {
		r.trace.Event("Preparing statement")
	}
	return err
}

// keyspaceFor is the keyspace of unqualified names: the request's own or the session's.
func (r *request) keyspaceFor(p *protocol.QueryParameters) (string, error) {
	if !p.Flags.Has(protocol.WithKeyspace) {
		return r.conn.session.currentKeyspace(), nil
	}
	return p.Keyspace, r.conn.server.checkKeyspace(p.Keyspace)
}

// checkKeyspace refuses a keyspace that does not exist. Its name is taken as it is.
func (s *Server) checkKeyspace(name string) error { return planner.CheckUse(s.store.Catalog(), name) }

// whenPlannable calls plan, which parses and plans a text, when there is memory for that. A long text is planned on a
// turn, without a deadline. A very long one is planned only while its client is there: it may be a write, which goes
// on without the client once it is planned.
func (r *request) whenPlannable(text string, plan func(*pace.Turn) error) error {
	if len(text) <= longText {
		return plan(nil)
	}
	s := r.conn.server
	n := planningCost(int64(len(text)))
	if err := s.memory.planning.TakeUnless(r.conn.ctx, s.scheduler.Refusing(), r, n); err != nil {
		return err
	}
	defer s.memory.planning.Leave(r, n)
	err := r.beginTurn(r.conn.planningContext(len(text)), s.limits.ReadTimeout)
	if errors.Is(err, pace.ErrTimeout) {
		return cqlerr.Overloadedf("The server is too busy to plan a text of %d bytes", len(text))
	}
	if err != nil {
		return err
	}
	defer r.turn.End()
	r.turn.Extend(time.Time{})
	return plan(&r.turn)
}

// longText is the length above which texts wait for memory and are planned on turns.
const longText = statements.MaxKeptText

// planningContext ends the planning of a text of some length.
func (c *conn) planningContext(length int) context.Context {
	if length > veryLongText {
		return c.ctx
	}
	return c.server.ctx
}

// veryLongText is the length above which planning a text ends when its client has gone.
const veryLongText = 1 << 20

// planningCost is the most memory that parsing and planning a text may take: the bound of the parser for long texts,
// and more for short texts, which may consist of very short words.
func planningCost(length int64) int64 { return 40*length + min(210*length, 8<<20) }

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
	r.trace.Parse(m.Query)
	var st *statements.Statement
	var fresh bool
	err := r.whenPlannable(m.Query, func(turn *pace.Turn) (err error) {
		st, fresh, err = r.conn.node.prepared.Prepare(turn, r.guarded(), m.Query, keyspace)
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
	if fresh && !st.Plan.Qualified && (own || !session.useWarned.Swap(true)) {
		r.warnAboutUse(st, keyspace)
	}
	r.answer(&protocol.Prepared{
		ID:               st.ID[:],
		ResultMetadataID: st.ResultID[:],
		Bind:             st.Markers,
		PKIndexes:        st.PKIndexes,
		Result:           st.Columns,
	})
}

// executeInReader finds the prepared statement, which the reader executes in most cases. A statement that is not found
// may be there when the goroutine looks for it again.
func executeInReader(r *request) bool {
	st, err := r.conn.node.prepared.Lookup(r.message.(*protocol.Execute).ID)
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
		if st, err = r.conn.node.prepared.Lookup(m.ID); err != nil {
			r.trace.Request("Execute CQL3 prepared query", "", p)
			r.fail(err)
			return
		}
		r.statement = st
	}
	r.trace.Request("Execute CQL3 prepared query", st.Text, p)
	if err := p.CheckPageSize(); err != nil {
		r.fail(err)
		return
	}
	values := bind(st.Plan.Markers, p)
	if len(values) != len(st.Plan.Markers) {
		r.fail(cqlerr.Invalidf("there were %d markers(?) in CQL but %d bound variables",
			len(st.Plan.Markers), len(values)))
		return
	}
	session := &r.conn.session
	if used := session.currentKeyspace(); !st.Plan.Qualified && st.Keyspace != used && !session.useWarned.Swap(true) {
		r.warnAboutUse(st, used)
	}
	r.execute(values, p)
}

// warnAboutUse adds the warning about prepared statements that depend on USE. A connection gets it once.
func (r *request) warnAboutUse(st *statements.Statement, used string) {
	r.warn("`USE <keyspace>` with prepared statements is considered to be an anti-pattern due to ambiguity in " +
		"non-qualified table names. Please consider removing instances of `Session#setKeyspace(<keyspace>)`, " +
		"`Session#execute(\"USE <keyspace>\")` and `cluster.newSession(<keyspace>)` from your code, and always use " +
		"fully qualified table names (e.g. <keyspace>.<table>). Keyspace used: " +
		orNull(used) + ", statement keyspace: " + orNull(st.Keyspace) +
		", statement id: " + hex.EncodeToString(st.ID[:]))
}

// orNull prints a keyspace as Cassandra does: "" is null.
func orNull(keyspace string) string {
	if keyspace == "" {
		return "null"
	}
	return keyspace
}
