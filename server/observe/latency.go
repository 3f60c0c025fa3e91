package observe

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

// maxTables is how many tables have their own histograms in the metrics. A table has one for each kind of statement,
// and a scrape prints each as two dozen lines: with four kinds some 10 KB for a table, 2.5 MB in all.
const maxTables = 256

// Latencies are histograms of how long statements take, by kind of statement and by table. A plan is kept together
// with its histogram, so an execution looks nothing up.
type Latencies struct {
	store *store.Store

	// OfMixedBatches returns the histogram of batches that write to several tables.
	OfMixedBatches func() *Histogram

	mu     sync.Mutex
	shared map[string]*Histogram // by kind, of statements without a table or with several
	past   map[string]*timings   // by kind, counted with others, of tables that were dropped
	tables map[tableName]*tableLatencies
	own    int // number of tables with their own histograms in the metrics
}

// tableLatencies are the histograms of a table.
type tableLatencies struct {
	id     [16]byte // of this table, and not of a later one with the same name
	own    bool     // the metrics have histograms of the table; otherwise they count it with others
	series map[series]*Histogram
	reads  ReadAmounts
}

// series identifies a histogram of a table.
type series struct {
	kind string
	scan bool // of a SELECT: it reads ranges of partitions
	own  bool // tableLatencies.own when the histogram was made
}

// ReadAmounts are how many rows and tombstones the reads of a table went over.
type ReadAmounts struct{ Rows, Tombstones Amounts }

type tableName struct{ keyspace, table string }

// NewLatencies returns the latencies of statements on tables of a store.
func NewLatencies(st *store.Store) *Latencies {
	l := &Latencies{
		store:  st,
		shared: make(map[string]*Histogram),
		past:   make(map[string]*timings),
		tables: make(map[tableName]*tableLatencies),
	}
	l.OfMixedBatches = sync.OnceValue(func() *Histogram { return l.Of(batchKind, false, nil) })
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

// List returns the histograms of tables that have their own, and the sums of all others.
func (l *Latencies) List() (all []StatementLatency) {
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

// OfPlan returns the histogram of executions of a plan, and for a SELECT also where its rows are counted.
func (l *Latencies) OfPlan(plan planner.Plan) (*Histogram, *ReadAmounts) {
	kind, table := KindAndTable(plan)
	p, read := plan.(*planner.Select)
	h := l.Of(kind, read && p.Where.Partition == nil, table)
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

// OfBatches returns the histogram of batches that write to a table.
func (l *Latencies) OfBatches(table *schema.Table) *Histogram { return l.Of(batchKind, false, table) }

// Of returns the histogram of a kind of statement and a table. Statements without a table or with several share one
// for each kind.
func (l *Latencies) Of(kind string, scan bool, table *schema.Table) *Histogram {
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
		// The plan may be older than a DROP TABLE, after which Prune has already forgotten the table.
		if current := l.store.Catalog().Table(name.keyspace, name.table); current == nil || current.ID != table.ID {
			return l.sharedOf(kind)
		}
		t = &tableLatencies{id: table.ID, series: make(map[series]*Histogram)}
		l.tables[name] = t
	}
	if !t.own && l.own < maxTables {
		t.own = true
		l.own++
	}
	key := series{kind, scan, t.own}
	if t.series[key] == nil {
		t.series[key] = new(Histogram)
	}
	return t.series[key]
}

// sharedOf returns the histogram that statements of a kind share. The caller holds mu.
func (l *Latencies) sharedOf(kind string) *Histogram {
	if l.shared[kind] == nil {
		l.shared[kind] = new(Histogram)
	}
	return l.shared[kind]
}

// Prune removes the histograms of tables that were dropped.
func (l *Latencies) Prune() {
	l.mu.Lock()
	defer l.mu.Unlock()
	catalog := l.store.Catalog()
	for name, known := range l.tables {
		if t := catalog.Table(name.keyspace, name.table); t == nil || t.ID != known.id {
			l.forget(name)
		}
	}
}

// forget removes the histograms of a table. The counts of a table that was counted with others remain. The caller
// holds mu.
func (l *Latencies) forget(name tableName) {
	t := l.tables[name]
	delete(l.tables, name)
	if t.own {
		l.own--
	}
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
}

// Tick computes the rates of all tables.
func (l *Latencies) Tick() {
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

// Activity is the row of a table that virtual tables show.
func (l *Latencies) Activity(table *schema.Table) (a system.TableActivity) {
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
		Rows: t.reads.Rows.Distribution(), Tombstones: t.reads.Tombstones.Distribution(),
	}
}

// batchKind is the kind of a batch in metrics, both as a message and in CQL.
const batchKind = "batch"

// KindAndTable returns the kind of a statement in metrics, and its table: nil for statements without a table or with
// several.
func KindAndTable(plan planner.Plan) (kind string, table *schema.Table) {
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
