package server

import (
	"crypto/md5"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/protocol"
)

// statement is a planned statement, which executions share, with the parts of answers that are always the same.
type statement struct {
	text       string
	keyspace   string // of unqualified names
	planned    time.Time
	plan       *planner.Prepared
	quick      bool   // the reader may run it
	isBatch    bool   // a BEGIN BATCH, which modifies but cannot stand in a batch
	writes     string // the write type for errors; "": it writes nothing
	reads      bool   // it is a SELECT
	manyWrites bool   // it is a batch of many statements
	ranges     bool   // it reads ranges of partitions
	size       int64  // bytes of memory that it takes, when it was measured
	slots      int    // how many slots of a cache it has

	id        preparedID
	markers   *protocol.ColumnSpecs
	pkIndexes []uint16
	columns   *protocol.ColumnSpecs // nil: it returns no rows, or the columns are not known
	resultID  preparedID            // of columns

	latency      prometheus.Observer // of its executions
	batchLatency atomic.Value        // a prometheus.Observer of batches of such statements, when there was one

	// large is how many of its next reads are not quick, because one gave large rows.
	large atomic.Int32

	// seen is the newest catalog that the plan is known to fit.
	seen atomic.Pointer[schema.Catalog]
}

// preparedID is the id of a prepared statement or of result columns: an MD5.
type preparedID = [md5.Size]byte

// textKey finds the plan of a statement that came as text.
type textKey struct{ keyspace, text string }

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

// statementID is the id of a prepared statement. It depends on nothing else: drivers expect the same id when they
// prepare again.
func statementID(text, keyspace string) preparedID { return md5.Sum([]byte(keyspace + text)) }

// columnSpecs are result columns as the protocol describes them.
func columnSpecs(columns []planner.ResultColumn) *protocol.ColumnSpecs {
	specs := make([]protocol.ColumnSpec, len(columns))
	for i, c := range columns {
		specs[i] = protocol.ColumnSpec{Keyspace: c.Keyspace, Table: c.Table, Name: c.Name, Type: c.Type, Desc: c.Desc}
	}
	return protocol.NewColumnSpecs(specs)
}

// validity says whether a plan fits the current catalog.
type validity uint8

// The validities in order of damage.
const (
	valid    validity = iota
	outdated          // the server plans it again: the tables look the same to clients
	invalid           // clients have to prepare it again: a table is gone or looks different
)

// check compares the tables of the plan with the current ones. Definitions are planned again after every change of the
// schema.
func (st *statement) check(current *schema.Catalog) validity {
	if st.seen.Load() == current {
		return valid
	}
	result := valid
	if st.plan.Definition || len(st.plan.Tables) == 0 {
		result = outdated
	}
	for _, old := range st.plan.Tables {
		t := current.Table(old.Keyspace, old.Name)
		switch {
		case t == old:
		case t == nil || !looksEqual(t, old):
			return invalid
		default:
			result = outdated
		}
	}
	if result == valid {
		st.seen.Store(current)
	}
	return result
}

// hasTypes reports whether the types and functions that the statement names are the same as when it was planned.
// Cassandra's prepared statements keep theirs, so only plans of texts are checked.
func (st *statement) hasTypes(current *schema.Catalog) bool {
	for _, old := range st.plan.Types {
		if current.Type(old.Keyspace, old.Name) != old {
			return false
		}
	}
	for i := range st.plan.Calls {
		if !st.plan.Calls[i].Hold(current) {
			return false
		}
	}
	return true
}

// looksEqual reports whether Cassandra keeps prepared statements through the change of a table: those of its
// columns, its indexes and of some options invalidate them.
func looksEqual(a, b *schema.Table) bool {
	if a.ID != b.ID || a.Compact != b.Compact || len(a.Columns) != len(b.Columns) || !slices.Equal(a.Indexes, b.Indexes) ||
		a.Options.DefaultTimeToLive != b.Options.DefaultTimeToLive ||
		a.Options.GCGraceSeconds != b.Options.GCGraceSeconds {
		return false
	}
	for i, c := range a.Columns {
		if d := b.Columns[i]; c.Name != d.Name || c.Kind != d.Kind || !types.Equal(c.Type, d.Type) || !c.Mask.Equal(d.Mask) {
			return false
		}
	}
	return true
}
