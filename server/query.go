package server

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/store/pace"
)

// queryHere lets the goroutine that reads run texts whose plan is kept and quick. USE is run there as well,
// so that it counts for the requests behind it.
func queryHere(r *request) bool {
	m := r.message.(*protocol.Query)
	keyspace, err := r.keyspaceFor(&m.Parameters)
	if err != nil {
		return true // to be answered
	}
	if planner.IsUse(m.Query) {
		return true
	}
	r.statement = r.conn.server.knownText(m.Query, keyspace)
	return r.statement != nil && r.servesHere(r.statement)
}

// query serves QUERY.
func query(r *request) {
	m := r.message.(*protocol.Query)
	p := &m.Parameters
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
	r.tracef("Parsing %s", text)
	err = r.planning(text, func(turn *pace.Turn) (err error) {
		r.statement, err = r.conn.server.planText(turn, text, keyspace)
		return err
	})
	if err == nil {
		r.tracef("Preparing statement")
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

// checkKeyspace refuses a keyspace that does not exist; its name is taken as it is.
func (s *Server) checkKeyspace(name string) error { return planner.CheckUse(s.store.Catalog(), name) }

// keptText is the longest text whose plan is kept.
const keptText = 4 << 10

// knownText returns the plan that is kept for a text, or nil.
func (s *Server) knownText(text, keyspace string) *statement {
	key := textKey{keyspace, text}
	st := s.texts.get(key)
	if st == nil {
		return nil
	}
	if c := s.store.Catalog(); st.check(c) != planner.Valid || !st.plan.MeansTheSame(c) {
		s.texts.drop(key, st)
		return nil
	}
	return st
}

// planText returns the plan of a text, and keeps those of reads and writes for the next time, unless they
// tell the time of this one.
func (s *Server) planText(turn *pace.Turn, text, keyspace string) (*statement, error) {
	if st := s.knownText(text, keyspace); st != nil {
		return st, nil
	}
	st, err := s.planOn(turn, text, keyspace, true, s.store.Now())
	if err != nil {
		return nil, err
	}
	if len(text) <= keptText && (st.plan.Modifies || st.plan.Result != nil) && !st.plan.Timed {
		st.estimate()
		s.texts.put(textKey{keyspace, text}, st)
	}
	return st, nil
}

// bind returns the values for markers, in their order. Names pick values out; there may be other values. If
// one is missing there are fewer values than markers.
func bind(markers []planner.Marker, p *protocol.QueryParameters) []types.Value {
	if len(p.Names) == 0 {
		return p.Values
	}
	values := make([]types.Value, 0, len(markers))
	for _, m := range markers {
		for i, name := range p.Names {
			if name == m.Name {
				values = append(values, p.Values[i])
				break
			}
		}
	}
	return values
}

// execute runs the request's statement; exec answers.
func (r *request) execute(values []types.Value, p *protocol.QueryParameters) {
	r.traceValues(values)
	r.skip = p.Flags.Has(protocol.SkipMetadata)
	r.latency = r.statement.latency
	r.single = exec.Request{Prepared: r.statement.plan, Values: values, Options: r.options(p)}
	s, st := r.conn.server, r.statement
	if st.writes != "" && r.size > heavyWrite {
		if err := r.takeHeavy(st.writes); err != nil {
			r.fail(err)
			return
		}
	}
	if r.needsTurn() {
		turn, err := r.takeTurn(s.timeout(st))
		if err != nil {
			r.fail(r.timedOut(err, st.writes))
			return
		}
		defer turn.End()
		r.single.Turn = turn
	}
	if st.writes != "" {
		r.conn.writes.add(r, st.writes)
	}
	s.exec.Execute(r.context(), &r.single, r.done)
}

// options are a request's parameters as exec takes them.
func (r *request) options(p *protocol.QueryParameters) exec.Options {
	return exec.Options{
		Consistency:       p.Consistency,
		SerialConsistency: p.SerialConsistency,
		PageSize:          int(p.PageSize),
		PagingState:       p.PagingState,
		Timestamp:         p.Timestamp,
		HasTimestamp:      p.Flags.Has(protocol.WithTimestamp),
		Now:               int64(uint32(p.NowInSeconds)), // Cassandra's seconds have no sign
		HasNow:            p.Flags.Has(protocol.WithNow),
		Version:           int(r.conn.session.version),
		Session:           r.conn.storeSession(),
		Keyspace:          r.conn.session.currentKeyspace(),
	}
}
