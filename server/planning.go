package server

import (
	"context"
	"errors"
	"time"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/define"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/store/pace"
)

// keptText is the length of the longest text whose plan is kept.
const keptText = 4 << 10

// planText returns the plan of a text. It keeps plans of reads and writes for the next time, unless they contain the
// current time.
func (s *Server) planText(turn *pace.Turn, guard *guardrail.Check, text, keyspace string) (*statement, error) {
	key := textKey{keyspace, text, guard != nil}
	if st := s.knownText(key); st != nil {
		return st, nil
	}
	st, err := s.planOn(turn, guard, text, keyspace, true, s.store.Now())
	if err != nil {
		return nil, err
	}
	if len(text) <= keptText && (st.plan.Modifies || st.plan.Result != nil) && !st.plan.Timed {
		s.texts.put(key, st)
	}
	return st, nil
}

// knownText returns the kept plan of a text; nil: there is none.
func (s *Server) knownText(key textKey) *statement {
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
const longText = keptText

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

// plan parses and plans a statement at a time. The statement is run at once, or else prepared.
func (s *Server) plan(text, keyspace string, run bool, at time.Time) (*statement, error) {
	return s.planOn(nil, nil, text, keyspace, run, at)
}

// planOn is plan on a turn, for a client that is subject to guardrails; both may be nil.
func (s *Server) planOn(
	turn *pace.Turn, guard *guardrail.Check, text, keyspace string, run bool, at time.Time,
) (*statement, error) {
	parsed, markers, err := parser.ParseWithin(text, parser.Limits{Length: s.limits.Statement, Nesting: s.limits.Nesting})
	if err != nil {
		return nil, err
	}
	if markers > maxMarkers {
		return nil, cqlerr.Invalidf("Too many markers(?). %d markers exceed the allowed maximum of %d",
			markers, maxMarkers)
	}
	catalog := s.store.Catalog()
	plan, err := planner.Make(parsed, planner.Env{
		Catalog: catalog, Keyspace: keyspace, Text: text, Run: run, Logins: s.roles != nil, Masks: s.masks,
		Datacenter: s.datacenter, Nodes: s.nodesByDatacenter(), ReplicationFactor: int(s.settings.DefaultKeyspaceRF), Now: at,
		Guard: guard, Step: turn.Step,
	})
	if err != nil {
		return nil, err
	}
	st := &statement{text: text, keyspace: keyspace, planned: at, plan: plan, quick: s.exec.Quick(plan.Plan)}
	_, st.isBatch = parsed.(*cql.Batch)
	st.writes = exec.WriteType(plan.Plan)
	st.latency, st.amounts = s.latencies.OfPlan(plan.Plan)
	switch p := plan.Plan.(type) {
	case *planner.Select:
		st.reads, st.ranges = true, p.Where.Partition == nil
	case *define.Truncate:
		st.truncates = true
	case *planner.Batch:
		st.manyWrites = len(p.Statements) > shortBatch
		st.quick = st.quick && !st.manyWrites
	}
	if plan.Result != nil {
		st.columns = columnSpecs(plan.Result)
	}
	st.size = estimatedSize(len(text), len(plan.Markers), len(plan.Result))
	st.seen.Store(catalog)
	return st, nil
}

// maxMarkers is the largest number of bind markers that the protocol can count.
const maxMarkers = 65535
