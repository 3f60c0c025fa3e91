package server

import (
	"crypto/md5"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/store/pace"
	"github.com/prometheus/client_golang/prometheus"
)

// statement is a planned statement that several executions share, with the parts of answers that do not
// change between them.
type statement struct {
	text       string
	keyspace   string // of unqualified names
	planned    time.Time
	plan       *planner.Prepared
	quick      bool   // the goroutine that reads may run it
	isBatch    bool   // a BEGIN BATCH, which modifies but cannot stand in a batch
	writes     string // what errors call it if it is a write
	reads      bool   // it is a SELECT
	manyWrites bool   // it is a batch of many statements
	ranges     bool   // it reads ranges of partitions
	size       int64  // bytes that it keeps alive, once it was measured
	slots      int    // how many places of a cache it has

	id        preparedID
	markers   *protocol.ColumnSpecs
	pkIndexes []uint16
	columns   *protocol.ColumnSpecs // nil if it returns no rows, or which is not known
	resultID  preparedID            // of columns

	latency      prometheus.Observer // of its executions
	batchLatency atomic.Value        // a prometheus.Observer of batches of such statements, once there was one

	// large is how many more of its reads may not be quick, because one of them gave much.
	large atomic.Int32

	// seen is the newest catalog that the plan was found to be right for.
	seen atomic.Pointer[schema.Catalog]
}

// preparedID is the id of a prepared statement or of result columns: an MD5.
type preparedID = [md5.Size]byte

// textKey finds the plan of a statement that came as text.
type textKey struct{ keyspace, text string }

// maxMarkers is how many bind markers the protocol can number.
const maxMarkers = 65535

// plan parses and plans a statement, which is run at once or prepared, as of a time.
func (s *Server) plan(text, keyspace string, run bool, at time.Time) (*statement, error) {
	return s.planOn(nil, text, keyspace, run, at)
}

// planOn is plan on a turn; nil: nobody waits.
func (s *Server) planOn(turn *pace.Turn, text, keyspace string, run bool, at time.Time) (*statement, error) {
	parsed, markers, err := parser.Parse(text)
	if err != nil {
		return nil, err
	}
	if markers > maxMarkers {
		return nil, cqlerr.Invalidf("Too many markers(?). %d markers exceed the allowed maximum of %d",
			markers, maxMarkers)
	}
	catalog := s.store.Catalog()
	plan, err := planner.Make(parsed, planner.Env{
		Catalog: catalog, Keyspace: keyspace, Text: text, Run: run, Datacenter: s.datacenter, Now: at,
		Step: turn.Step,
	})
	if err != nil {
		return nil, err
	}
	st := &statement{text: text, keyspace: keyspace, planned: at, plan: plan, quick: s.exec.Quick(plan.Plan)}
	_, st.isBatch = parsed.(*cql.Batch)
	st.writes = exec.WriteType(plan.Plan)
	switch p := plan.Plan.(type) {
	case *planner.Select:
		st.reads, st.ranges = true, p.Where.Partition == nil
	case *planner.Batch:
		st.manyWrites = len(p.Statements) > shortBatch
		st.quick = st.quick && !st.manyWrites
	}
	if plan.Result != nil {
		st.columns = columnSpecs(plan.Result)
	}
	st.latency = s.latencies.ofPlan(plan.Plan)
	st.seen.Store(catalog)
	return st, nil
}

// describe fills in what PREPARE answers.
func (st *statement) describe() {
	st.id = statementID(st.text, st.keyspace)
	if st.plan.Qualified {
		st.id = statementID(st.text, "")
	}
	markers := make([]protocol.ColumnSpec, len(st.plan.Markers))
	for i, m := range st.plan.Markers {
		markers[i] = protocol.ColumnSpec{Keyspace: m.Keyspace, Table: m.Table, Name: m.Name, Type: m.Type}
	}
	st.markers = protocol.NewColumnSpecs(markers)
	for _, i := range st.plan.KeyMarkers {
		st.pkIndexes = append(st.pkIndexes, uint16(i))
	}
	st.resultID = protocol.ResultMetadataID(st.columns.Columns())
	st.measure()
}

// statementID is the id under which a statement is prepared. It depends on nothing else, because drivers
// insist that preparing again gives the same.
func statementID(text, keyspace string) preparedID { return md5.Sum([]byte(keyspace + text)) }

// columnSpecs are result columns as the protocol describes them.
func columnSpecs(columns []planner.ResultColumn) *protocol.ColumnSpecs {
	specs := make([]protocol.ColumnSpec, len(columns))
	for i, c := range columns {
		specs[i] = protocol.ColumnSpec{Keyspace: c.Keyspace, Table: c.Table, Name: c.Name, Type: c.Type, Desc: c.Desc}
	}
	return protocol.NewColumnSpecs(specs)
}

// check says whether the plan is right for the current catalog, without looking again at one that it was right for.
func (st *statement) check(current *schema.Catalog) planner.Validity {
	if st.seen.Load() == current {
		return planner.Valid
	}
	v := st.plan.Validity(current)
	if v == planner.Valid {
		st.seen.Store(current)
	}
	return v
}
