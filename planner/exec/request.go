package exec

import (
	"time"

	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec/paging"
	"github.com/cqld/cqld/planner/exec/ring"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/pace"
)

// Request is one execution of a planned statement.
type Request struct {
	Prepared *planner.Prepared
	Values   []types.Value // one for each of Prepared.Markers; valid until done is called
	Options
}

// Options are what a message says beside its statement.
type Options struct {
	Consistency       cqlerr.Consistency
	SerialConsistency cqlerr.Consistency // Serial unless the request said otherwise
	PageSize          int                // rows; 0 or less: no paging
	PagingState       *paging.State      // nil: from the beginning
	Timestamp         int64              // microseconds, if HasTimestamp
	HasTimestamp      bool
	Now               int64 // seconds since 1970, if HasNow
	HasNow            bool
	Version           int // of the protocol: paging states differ
	Session           store.Session
	Turn              *pace.Turn // that long work runs on; nil: nothing bounds it
	Decision          *Decision  // of a conditional write; nil: nobody gives it up
	Keyspace          string     // the session's
	User              *auth.User // who has logged in; nil: nobody does
	Touched           *Touched   // takes what the execution touches; nil: nobody wants to know
	Work              *Work      // is filled in before done is called; nil: nobody counts

	// View is how the coordinator sees the ring; nil: there is none. While a node of it is slow, Timeout is how long the
	// request waits for replicas, and Sleep waits so long, or less if nobody waits for a read any more.
	View    *ring.View
	Timeout time.Duration
	Sleep   func(time.Duration) error

	// Guard has the guardrails that the client is subject to; nil: none.
	Guard *guardrail.Check
}

// Work is what an execution has gone over.
type Work struct {
	Read             bool // rows and tombstones of stored tables were counted
	Rows, Tombstones int  // alive, and as TombstonesRead counts them

	Batch      BatchKind
	Partitions int // that a batch without conditions writes to; 0: it was none
}

// BatchRequest is one execution of a protocol batch.
type BatchRequest struct {
	Kind     BatchKind
	Children []Request // their Options are ignored
	Options
}

// BatchKind is how a batch is applied, numbered as the protocol does.
type BatchKind uint8

// The kinds of batches.
const (
	Logged BatchKind = iota
	Unlogged
	Counter
)
