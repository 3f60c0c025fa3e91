// Package statements plans statements and keeps their plans. A Planner makes a Statement of a text: its plan, and the
// parts of answers that are always the same, which all executions share. Texts keeps the plans of statements that come
// as text. Prepared keeps prepared statements by their ids. Both are a Cache with a limit of bytes.
package statements

import (
	"crypto/md5"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/define"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/server/observe"
)

// Statement is a planned statement.
type Statement struct {
	Text     string
	Keyspace string // of unqualified names
	Plan     *planner.Prepared

	Quick      bool   // exec.Quick: the reader may execute it, a read with a budget
	IsBatch    bool   // a BEGIN BATCH, which modifies but cannot be in a batch
	Writes     string // the write type for errors; "": it writes nothing
	Reads      bool   // it is a SELECT
	Ranges     bool   // it reads ranges of partitions
	Truncates  bool   // it is a TRUNCATE
	ManyWrites bool   // it is a batch of more than ShortBatch statements
	Costly     bool   // it writes values that may take long to compute

	// The answer to PREPARE.
	ID        ID
	Markers   *protocol.ColumnSpecs
	PKIndexes []uint16
	Columns   *protocol.ColumnSpecs // nil: it returns no rows, or the columns are not known
	ResultID  ID                    // of Columns

	Latency *observe.Histogram   // of its executions
	Amounts *observe.ReadAmounts // of rows that reads go over; nil: they are not counted

	planned time.Time
	size    int64 // an upper bound of its memory, in bytes
	slots   int   // how many slots of a cache it has

	batchLatency atomic.Pointer[observe.Histogram]    // of batches of such statements, when there was one
	applied      atomic.Pointer[protocol.ColumnSpecs] // of a conditional write that was applied, once there was one
	needs        atomic.Pointer[Needs]                // as of a catalog; nil: it was not executed with logins
	seen         atomic.Pointer[schema.Catalog]       // the newest catalog that the plan is known to fit
}

// ShortBatch is the largest number of statements of a batch that the reader executes.
const ShortBatch = 100

// ID is the id of a prepared statement or of result columns: an MD5.
type ID = [md5.Size]byte

// idOf is the id of a prepared statement. It depends on nothing else: drivers expect the same id when they prepare
// again.
func idOf(text, keyspace string) ID { return md5.Sum([]byte(keyspace + text)) }

// describe fills in the parts of the answer to PREPARE.
func (st *Statement) describe() {
	st.ID = idOf(st.Text, st.Keyspace)
	if st.Plan.Qualified {
		st.ID = idOf(st.Text, "")
	}
	markers := make([]protocol.ColumnSpec, len(st.Plan.Markers))
	for i, m := range st.Plan.Markers {
		markers[i] = protocol.ColumnSpec{Keyspace: m.Keyspace, Table: m.Table, Name: m.Name, Type: m.Type}
	}
	st.Markers = protocol.NewColumnSpecs(markers)
	for _, i := range st.Plan.KeyMarkers {
		st.PKIndexes = append(st.PKIndexes, uint16(i))
	}
	st.ResultID = protocol.ResultMetadataID(st.Columns.Columns())
}

// estimatedSize is an upper bound of the memory that keeping a statement takes: its text, its plan and the parts of
// its answers. The plan grows with the words of the text, which may be as short as two bytes.
func estimatedSize(text, markers, columns int) int64 {
	return int64(2<<10 + 32*text + 288*(markers+columns))
}

// Specs are result columns as the protocol describes them.
func Specs(columns []planner.ResultColumn) *protocol.ColumnSpecs {
	specs := make([]protocol.ColumnSpec, len(columns))
	for i, c := range columns {
		specs[i] = protocol.ColumnSpec{Keyspace: c.Keyspace, Table: c.Table, Name: c.Name, Type: c.Type, Desc: c.Desc}
	}
	return protocol.NewColumnSpecs(specs)
}

// AppliedSpecs is Specs for a conditional write that was applied: [applied] is its only column.
func (st *Statement) AppliedSpecs(columns []planner.ResultColumn) *protocol.ColumnSpecs {
	specs := st.applied.Load()
	if specs == nil {
		specs = Specs(columns)
		st.applied.Store(specs)
	}
	return specs
}

// BatchLatency returns the histogram of BATCH messages that consist of statements on the table of st alone.
func (st *Statement) BatchLatency(l *observe.Latencies) *observe.Histogram {
	h := st.batchLatency.Load()
	if h == nil {
		h = l.OfBatches(st.ModifiedTable())
		st.batchLatency.Store(h)
	}
	return h
}

// ModifiedTable returns the table of an INSERT, UPDATE or DELETE, and nil for other statements.
func (st *Statement) ModifiedTable() *schema.Table {
	if m, ok := st.Plan.Plan.(*planner.Modification); ok {
		return m.Table
	}
	return nil
}

// check reports whether the plan fits the current catalog. It does not look again at a catalog that the plan is known
// to fit.
func (st *Statement) check(current *schema.Catalog) planner.Validity {
	if st.seen.Load() == current {
		return planner.Valid
	}
	v := st.Plan.Validity(current)
	if v == planner.Valid {
		st.seen.Store(current)
	}
	return v
}

// Needs are the permissions that a statement requires as of a catalog.
type Needs struct {
	WritesRoles bool // the statement writes to the tables of roles and permissions

	plan    planner.Plan
	catalog *schema.Catalog
	all     []auth.Need
	allowed atomic.Pointer[auth.User] // the last user who had all of them
}

// Needs returns the needs of a statement, and keeps them as long as the catalog is the same.
func (st *Statement) Needs(c *schema.Catalog) *Needs {
	if n := st.needs.Load(); n != nil && n.catalog == c {
		return n
	}
	p := st.Plan.Plan
	n := &Needs{plan: p, catalog: c, all: planner.Needs(st.Plan, c), WritesRoles: writesRoles(p)}
	st.needs.Store(n)
	return n
}

// Check refuses a user who lacks one of the permissions.
func (n *Needs) Check(u *auth.User) error {
	if n.allowed.Load() == u {
		return nil
	}
	if err := u.CheckAll(n.all); err != nil {
		return err
	}
	if err := planner.CheckMasked(n.plan, u); err != nil {
		return err
	}
	n.allowed.Store(u)
	return nil
}

// rolesKeyspace has the tables of roles and permissions.
const rolesKeyspace = "system_auth"

func writesRoles(p planner.Plan) bool {
	switch p := p.(type) {
	case *planner.Modification:
		return p.Table.Keyspace == rolesKeyspace
	case *planner.Batch:
		for _, m := range p.Statements {
			if m.Table.Keyspace == rolesKeyspace {
				return true
			}
		}
	case *define.Truncate:
		return p.Keyspace == rolesKeyspace
	}
	return false
}
