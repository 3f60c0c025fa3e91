package exec

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec/paging"
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
	Work              *Work      // is filled in before done is called; nil: nobody counts
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
