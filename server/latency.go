package server

import (
	"slices"
	"sync"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/define"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/system"
)

// latencyTables is how many tables have histograms of their own. A table has one for each kind of statement that it is
// used with, and a scrape prints each as two dozen lines: with four kinds some 10 KB for a table, 2.5 MB in all.
const latencyTables = 256

// latencies are histograms of how long statements take, by kind of statement and by table. A plan is kept together with
// its histogram, so an execution looks nothing up.
type latencies struct {
	store *store.Store

	// ofMixedBatches returns the histogram of batches that write to several tables.
	ofMixedBatches func() *histogram

	mu     sync.Mutex
	shared map[string]*histogram // by kind, of statements of no table and of several
	past   map[string]*timings   // by kind, of tables without histograms of their own that were dropped
	tables map[tableName]*tableLatencies
	own    int // how many tables have histograms of their own
}

// tableLatencies are the histograms of a table.
type tableLatencies struct {
	id     tableID
	own    bool // the metrics have histograms of the table; else it is counted with others
	series map[series]*histogram
	reads  readAmounts
}

// series tells histograms of a table apart.
type series struct {
	kind string
	scan bool // of a SELECT: it reads ranges of partitions
	own  bool // of tableLatencies when the histogram was made
}

// readAmounts are how many rows and tombstones the reads of a table went over.
type readAmounts struct{ rows, tombstones amounts }

type tableName struct{ keyspace, table string }

// tableID tells a table from a later one of the same name.
type tableID = [16]byte

func newLatencies(st *store.Store) *latencies {
	l := &latencies{
		store:  st,
		shared: make(map[string]*histogram),
		past:   make(map[string]*timings),
		tables: make(map[tableName]*tableLatencies),
	}
	l.ofMixedBatches = sync.OnceValue(func() *histogram { return l.of(batchKind, false, nil) })
	return l
}

// StatementLatency is how long statements of one kind take on one table.
type StatementLatency struct {
	Statement       string // select, insert, update, delete, batch, truncate, use, describe or definition
	Keyspace, Table string // "" for statements of no table, of several, and of tables that are counted together
	Count           uint64
	Total           time.Duration
	Buckets         map[time.Duration]uint64 // by upper bounds: how many took that long or less
}

// StatementLatencies returns how long statements take, by kind of statement and by table.
func (s *Server) StatementLatencies() []StatementLatency { return s.latencies.list() }

// list returns the histograms of tables that have their own, and those that the others share.
func (l *latencies) list() (all []StatementLatency) {
	l.mu.Lock()
	defer l.mu.Unlock()
	shared := make(map[string]*timings)
	of := func(all map[string]*timings, kind string) *timings {
		if all[kind] == nil {
			all[kind] = new(timings)
		}
		return all[kind]
	}
	for kind, h := range l.shared {
		of(shared, kind).add(h)
	}
	for kind, t := range l.past {
		of(shared, kind).merge(t)
	}
	for name, table := range l.tables {
		own := make(map[string]*timings)
		for s, h := range table.series {
			if s.own {
				of(own, s.kind).add(h)
			} else {
				of(shared, s.kind).add(h)
			}
		}
		for kind, t := range own {
			all = append(all, t.of(kind, name))
		}
	}
	for kind, t := range shared {
		all = append(all, t.of(kind, tableName{}))
	}
	return all
}

// of returns the timings of a kind of statement and a table.
func (t *timings) of(kind string, table tableName) StatementLatency {
	n, buckets := uint64(0), make(map[time.Duration]uint64, len(latencyBounds))
	for i, bound := range latencyBounds {
		n += t.buckets[i]
		buckets[bound] = n
	}
	return StatementLatency{
		Statement: kind, Keyspace: table.keyspace, Table: table.table,
		Count: t.count(), Total: t.total, Buckets: buckets,
	}
}

// ofPlan returns the histogram of executions of a plan, and of a SELECT also where its rows are counted.
func (l *latencies) ofPlan(plan planner.Plan) (*histogram, *readAmounts) {
	kind, table := kindAndTable(plan)
	p, read := plan.(*planner.Select)
	h := l.of(kind, read && p.Where.Partition == nil, table)
	if !read {
		return h, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.tables[tableName{table.Keyspace, table.Name}]; t != nil && t.id == table.ID {
		return h, &t.reads
	}
	return h, nil
}

// of returns the histogram of a kind of statement and a table. Statements of no table or of several share one for each
// kind.
func (l *latencies) of(kind string, scan bool, table *schema.Table) *histogram {
	l.mu.Lock()
	defer l.mu.Unlock()
	if table == nil {
		return l.sharedOf(kind)
	}
	name := tableName{table.Keyspace, table.Name}
	t := l.tables[name]
	if t != nil && t.id != table.ID {
		l.forget(name)
		t = nil
	}
	if t == nil {
		// The plan may be older than a DROP TABLE, whose schemaChanged has already forgotten the table.
		if current := l.store.Catalog().Table(name.keyspace, name.table); current == nil || current.ID != table.ID {
			return l.sharedOf(kind)
		}
		t = &tableLatencies{id: table.ID, series: make(map[series]*histogram)}
		l.tables[name] = t
	}
	if !t.own && l.own < latencyTables {
		t.own = true
		l.own++
	}
	key := series{kind, scan, t.own}
	if t.series[key] == nil {
		t.series[key] = new(histogram)
	}
	return t.series[key]
}

// sharedOf returns the histogram that statements of a kind share. The caller holds mu.
func (l *latencies) sharedOf(kind string) *histogram {
	if l.shared[kind] == nil {
		l.shared[kind] = new(histogram)
	}
	return l.shared[kind]
}

// prune removes the histograms of tables that were dropped.
func (l *latencies) prune() {
	l.mu.Lock()
	defer l.mu.Unlock()
	catalog := l.store.Catalog()
	for name, known := range l.tables {
		if t := catalog.Table(name.keyspace, name.table); t == nil || t.ID != known.id {
			l.forget(name)
		}
	}
}

// forget removes the histograms of a table. What was counted with other tables stays counted. The caller holds mu.
func (l *latencies) forget(name tableName) {
	t := l.tables[name]
	for s, h := range t.series {
		if s.own {
			continue
		}
		if l.past[s.kind] == nil {
			l.past[s.kind] = new(timings)
		}
		var counted timings
		counted.add(h)
		l.past[s.kind].merge(&counted)
	}
	if t.own {
		l.own--
	}
	delete(l.tables, name)
}

// tick computes the rates of all tables.
func (l *latencies) tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.tables {
		for _, h := range t.series {
			var counted timings
			counted.add(h)
			h.rate.tick(counted.count())
		}
	}
}

// activity is what virtual tables show of the statements of a table.
func (l *latencies) activity(table *schema.Table) (a system.TableActivity) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.tables[tableName{table.Keyspace, table.Name}]
	if t == nil || t.id != table.ID {
		return a
	}
	var reads, scans, writes timings
	for s, h := range t.series {
		switch {
		case s.kind == "truncate":
		case s.kind != "select":
			writes.add(h)
		case s.scan:
			scans.add(h)
		default:
			reads.add(h)
		}
	}
	return system.TableActivity{
		Reads: reads.latency(), Scans: scans.latency(), Writes: writes.latency(),
		Rows: t.reads.rows.distribution(), Tombstones: t.reads.tombstones.distribution(),
	}
}

// batchOf returns the histogram of BATCH messages that consist of statements on the table of st alone.
func (l *latencies) batchOf(st *statement) *histogram {
	if kept := st.batchLatency.Load(); kept != nil {
		return kept
	}
	h := l.of(batchKind, false, modifiedTable(st))
	st.batchLatency.Store(h)
	return h
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
		r.latency.observe(monotonic() - r.began)
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
	took := monotonic() - c.arrived
	for _, latency := range c.burst {
		latency.observe(took)
	}
	clear(c.burst)
	c.burst = c.burst[:0]
}
