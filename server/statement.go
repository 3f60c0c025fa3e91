package server

import (
	"crypto/md5"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/server/observe"
)

// statement is a planned statement, which executions share, with the parts of answers that are always the same.
type statement struct {
	text       string
	keyspace   string // of unqualified names
	planned    time.Time
	plan       *planner.Prepared
	quick      bool   // the reader may execute it, a read with a budget
	isBatch    bool   // a BEGIN BATCH, which modifies but cannot be in a batch
	writes     string // the write type for errors; "": it writes nothing
	reads      bool   // it is a SELECT
	truncates  bool   // it is a TRUNCATE
	manyWrites bool   // it is a batch of many statements
	ranges     bool   // it reads ranges of partitions
	size       int64  // an upper bound of its memory, in bytes
	slots      int    // how many slots of a cache it has

	id        preparedID
	markers   *protocol.ColumnSpecs
	pkIndexes []uint16
	columns   *protocol.ColumnSpecs // nil: it returns no rows, or the columns are not known
	resultID  preparedID            // of columns

	latency      *observe.Histogram                // of its executions
	batchLatency atomic.Pointer[observe.Histogram] // of batches of such statements, when there was one
	amounts      *observe.ReadAmounts              // of rows that reads go over; nil: they are not counted

	// needs caches the permissions that the statement requires, as of a catalog; nil: it was not executed with logins.
	needs atomic.Pointer[needs]

	// applied are the columns of a conditional write that was applied, once there was one.
	applied atomic.Pointer[protocol.ColumnSpecs]

	// seen is the newest catalog that the plan is known to fit.
	seen atomic.Pointer[schema.Catalog]
}

// preparedID is the id of a prepared statement or of result columns: an MD5.
type preparedID = [md5.Size]byte

// textKey finds the plan of a statement that came as text.
type textKey struct {
	keyspace, text string
	guarded        bool // its client is subject to guardrails
}

// describe fills in the parts of the answer to PREPARE.
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
}

// estimatedSize is an upper bound of the memory that keeping a statement takes: its text, its plan and the parts of
// its answers. The plan grows with the words of the text, which may be as short as two bytes.
func estimatedSize(text, markers, columns int) int64 {
	return int64(2<<10 + 32*text + 288*(markers+columns))
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

// check says whether the plan fits the current catalog. It does not look again at a catalog that the plan is known to
// fit.
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
