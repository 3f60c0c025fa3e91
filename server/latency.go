package server

import (
	"slices"
	"sync"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/define"
	"github.com/cqld/cqld/store"
	"github.com/prometheus/client_golang/prometheus"
)

// latencyTables is how many tables have histograms of their own. A table has one for each kind of statement that it is
// used with, and a scrape prints each as two dozen lines: with four kinds some 10 KB for a table, 2.5 MB in all.
const latencyTables = 256

// latencyBuckets are the upper bounds of the histograms' buckets, in seconds: from a read of one row in memory to the
// longest of the default timeouts.
var latencyBuckets = []float64{
	10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6,
	1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 100e-3, 250e-3, 500e-3,
	1, 2.5, 5, 10,
}

// latencies are histograms of how long statements take, by kind of statement and by table. A plan is kept together with
// its histogram, so an execution looks nothing up.
type latencies struct {
	store      *store.Store
	histograms *prometheus.HistogramVec

	// ofMixedBatches returns the histogram of batches that write to several tables.
	ofMixedBatches func() prometheus.Observer

	mu     sync.Mutex
	tables map[tableName]tableID // with histograms of their own
}

type tableName struct{ keyspace, table string }

// tableID tells a table from a later one of the same name.
type tableID = [16]byte

func newLatencies(st *store.Store) *latencies {
	l := &latencies{
		store: st,
		histograms: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "cqld_statement_duration_seconds",
			Help:    "Time from the arrival of a statement to its answer.",
			Buckets: latencyBuckets,
		}, []string{"statement", "keyspace", "table"}),
		tables: make(map[tableName]tableID),
	}
	l.ofMixedBatches = sync.OnceValue(func() prometheus.Observer { return l.of(batchKind, nil) })
	return l
}

// StatementLatencies returns the histograms of how long statements take, by kind of statement and by table.
func (s *Server) StatementLatencies() prometheus.Collector { return s.latencies.histograms }

// ofPlan returns the histogram of executions of a plan.
func (l *latencies) ofPlan(plan planner.Plan) prometheus.Observer {
	kind, table := kindAndTable(plan)
	return l.of(kind, table)
}

// of returns the histogram of a kind of statement and a table. Statements of no table or of several share one for each
// kind, and so do the tables beyond latencyTables.
func (l *latencies) of(kind string, table *schema.Table) prometheus.Observer {
	if table == nil {
		return l.histograms.WithLabelValues(kind, "", "")
	}
	name := tableName{table.Keyspace, table.Name}
	l.mu.Lock()
	defer l.mu.Unlock()
	id, known := l.tables[name]
	if known && id != table.ID {
		l.forget(name)
		known = false
	}
	if !known {
		// The plan may be older than a DROP TABLE, whose schemaChanged has already forgotten the table.
		if current := l.store.Catalog().Table(name.keyspace, name.table); len(l.tables) >= latencyTables ||
			current == nil || current.ID != table.ID {
			return l.histograms.WithLabelValues(kind, "", "")
		}
		l.tables[name] = table.ID
	}
	return l.histograms.WithLabelValues(kind, name.keyspace, name.table)
}

// prune removes the histograms of tables that were dropped.
func (l *latencies) prune() {
	l.mu.Lock()
	defer l.mu.Unlock()
	catalog := l.store.Catalog()
	for name, id := range l.tables {
		if t := catalog.Table(name.keyspace, name.table); t == nil || t.ID != id {
			l.forget(name)
		}
	}
}

// forget removes the histograms of a table. The caller holds mu.
func (l *latencies) forget(name tableName) {
	l.histograms.DeletePartialMatch(prometheus.Labels{"keyspace": name.keyspace, "table": name.table})
	delete(l.tables, name)
}

// batchOf returns the histogram of BATCH messages that consist of statements on the table of st alone.
func (l *latencies) batchOf(st *statement) prometheus.Observer {
	if kept := st.batchLatency.Load(); kept != nil {
		return kept.(prometheus.Observer)
	}
	o := l.of(batchKind, modifiedTable(st))
	st.batchLatency.Store(o)
	return o
}

// modifiedTable returns the table of an INSERT, UPDATE or DELETE, and nil for other statements.
func modifiedTable(st *statement) *schema.Table {
	if m, ok := st.plan.Plan.(*planner.Modification); ok {
		return m.Table
	}
	return nil
}

// batchKind is how metrics name a batch, both as a message and in CQL.
const batchKind = "batch"

// kindAndTable returns the kind of a statement as metrics name it, and its table: nil for statements of no table and of
// several.
func kindAndTable(plan planner.Plan) (kind string, table *schema.Table) {
	switch p := plan.(type) {
	case *planner.Select:
		return "select", p.Table
	case *planner.Modification:
		switch p.Verb {
		case planner.Insert:
			return "insert", p.Table
		case planner.Update:
			return "update", p.Table
		}
		return "delete", p.Table
	case *planner.Batch:
		if len(p.Statements) > 0 {
			table = p.Statements[0].Table
		}
		if slices.ContainsFunc(p.Statements, func(m *planner.Modification) bool { return m.Table != table }) {
			table = nil
		}
		return batchKind, table
	case *define.Truncate:
		return "truncate", p.Table
	case *planner.Use:
		return "use", nil
	case *define.Describe:
		return "describe", nil
	}
	return "definition", nil
}

// clockStart is what monotonic compares with: reading only the monotonic clock takes half the time of time.Now.
var clockStart = time.Now()

// monotonic returns the time on a clock that is never set.
func monotonic() time.Duration { return time.Since(clockStart) }

// observe counts the time that the request's statement took, if it got as far as being executed. Reads that the reader
// serves are answered when the burst is over, so they have the time of that; but a read that the reader itself waited
// for began before the burst.
func (r *request) observe() {
	c := r.conn
	switch {
	case r.latency == nil:
	case !r.detached && r.statement != nil && r.statement.reads && r.began == c.arrived:
		c.burst = append(c.burst, r.latency)
		if len(c.burst) == longestBurst {
			c.observeBurst()
		}
	default:
		r.latency.Observe(float64(monotonic()-r.began) / float64(time.Second))
	}
}

// longestBurst is how many reads are counted at a time: a connection keeps room for as many, and compressed segments
// may have a lot more of them.
const longestBurst = 1024

// observeBurst counts the time that the reads of a burst took. Only the reader calls it, before it writes the answers.
func (c *conn) observeBurst() {
	if len(c.burst) == 0 {
		return
	}
	took := float64(monotonic()-c.arrived) / float64(time.Second)
	for _, latency := range c.burst {
		latency.Observe(took)
	}
	clear(c.burst)
	c.burst = c.burst[:0]
}
