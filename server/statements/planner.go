package statements

import (
	"slices"
	"time"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/define"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/server/observe"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/pace"
)

// Planner parses and plans statements.
type Planner struct {
	Store      *store.Store
	Exec       *exec.Executor
	Settings   *guardrail.Settings
	Latencies  *observe.Latencies
	Limits     parser.Limits
	Logins     bool                  // statements need permissions
	Masks      bool                  // columns may be masked
	Datacenter string                // for replication strategies that name it
	Nodes      func() map[string]int // how many nodes each datacenter has; nil: there is one node
}

// Plan plans a text, which is executed at once if run is set, or else prepared. Constants have the time at. It steps
// the turn, and guard applies guardrails; both may be nil.
func (p *Planner) Plan(
	turn *pace.Turn, guard *guardrail.Check, text, keyspace string, run bool, at time.Time,
) (*Statement, error) {
	parsed, markers, err := parser.ParseWithin(text, p.Limits)
	if err != nil {
		return nil, err
	}
	if markers > maxMarkers {
		return nil, cqlerr.Invalidf("Too many markers(?). %d markers exceed the allowed maximum of %d",
			markers, maxMarkers)
	}
	catalog := p.Store.Catalog()
	plan, err := planner.Make(parsed, planner.Env{
		Catalog: catalog, Keyspace: keyspace, Text: text, Run: run, Logins: p.Logins, Masks: p.Masks,
		Datacenter: p.Datacenter, Nodes: p.Nodes(), ReplicationFactor: int(p.Settings.DefaultKeyspaceRF), Now: at,
		Guard: guard, Step: turn.Step,
	})
	if err != nil {
		return nil, err
	}
	st := &Statement{Text: text, Keyspace: keyspace, Plan: plan, Quick: p.Exec.Quick(plan.Plan), planned: at}
	_, st.IsBatch = parsed.(*cql.Batch)
	st.Writes = exec.WriteType(plan.Plan)
	st.Latency, st.Amounts = p.Latencies.OfPlan(plan.Plan)
	switch plan := plan.Plan.(type) {
	case *planner.Select:
		st.Reads, st.Ranges = true, plan.Where.Partition == nil
	case *define.Truncate:
		st.Truncates = true
	case *planner.Modification:
		st.Costly = plan.Costly
	case *planner.Batch:
		st.Costly = slices.ContainsFunc(plan.Statements, func(m *planner.Modification) bool { return m.Costly })
		st.ManyWrites = len(plan.Statements) > ShortBatch
		st.Quick = st.Quick && !st.ManyWrites
	}
	if plan.Result != nil {
		st.Columns = Specs(plan.Result)
	}
	st.size = estimatedSize(len(text), len(plan.Markers), len(plan.Result))
	st.seen.Store(catalog)
	return st, nil
}

// maxMarkers is the largest number of bind markers that the protocol can count.
const maxMarkers = 65535

// MaxKeptText is the length of the longest text whose plan Texts keeps.
const MaxKeptText = 4 << 10

// Texts keeps the plans of statements that come as text.
type Texts struct {
	planner *Planner
	kept    *cache[textKey]
}

type textKey struct {
	keyspace, text string
	guarded        bool // its client is subject to guardrails
}

// NewTexts returns a cache of that many bytes.
func NewTexts(p *Planner, limit int64) *Texts { return &Texts{p, newCache[textKey](limit)} }

// Plan returns the plan of a text. It keeps plans of reads and writes for the next time, unless they contain the
// current time.
func (t *Texts) Plan(turn *pace.Turn, guard *guardrail.Check, text, keyspace string) (*Statement, error) {
	if st := t.Known(text, keyspace, guard != nil); st != nil {
		return st, nil
	}
	st, err := t.planner.Plan(turn, guard, text, keyspace, true, t.planner.Store.Now())
	if err != nil {
		return nil, err
	}
	if len(text) <= MaxKeptText && (st.Plan.Modifies || st.Plan.Result != nil) && !st.Plan.Timed {
		t.kept.put(textKey{keyspace, text, guard != nil}, st)
	}
	return st, nil
}

// Known returns the kept plan of a text, for a client that is subject to guardrails or not; nil: there is none.
func (t *Texts) Known(text, keyspace string, guarded bool) *Statement {
	key := textKey{keyspace, text, guarded}
	st := t.kept.get(key)
	if st == nil {
		return nil
	}
	if c := t.planner.Store.Catalog(); st.check(c) != planner.Valid || !st.Plan.MeansTheSame(c) {
		t.kept.drop(key, st)
		return nil
	}
	return st
}

// Prune drops plans that do not fit the current schema any more, to free their memory. They would not be used anyway,
// because every use checks the plan.
func (t *Texts) Prune() { prune(t.kept, t.planner) }

func prune[K comparable](c *cache[K], p *Planner) {
	catalog := p.Store.Catalog()
	c.prune(func(st *Statement) bool { return st.check(catalog) == planner.Invalid })
}
