package exec

import (
	"bytes"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
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

// Options are the parts of a message besides its statement.
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
	Decision          *Decision  // of a conditional write; nil: it is never given up
	Keyspace          string     // the session's
	User              *auth.User // nil: clients do not log in
	Touched           *Touched   // records the partitions and rows of the execution; nil: they are not recorded
	Work              *Work      // is filled in before done is called; nil: work is not counted

	// View is how the coordinator sees the ring; nil: there is none. While a node of it is slow, Timeout is how long the
	// request waits for replicas, and Sleep waits so long, or less if the client of a read has gone.
	View    *ring.View
	Timeout time.Duration
	Sleep   func(time.Duration) error

	// Guard has the guardrails that the client is subject to; nil: none.
	Guard *guardrail.Check
}

// Work counts the rows and partitions of an execution.
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

// Result is the answer of a statement: one of the structs below.
type Result interface{ result() }

// Void is the answer of a statement that returns nothing.
type Void struct{ Warnings []string }

// Rows are result rows, encoded as the protocol carries them.
type Rows struct {
	Columns     []planner.ResultColumn
	Count       int
	Before      [][]byte // parts of the cells of a long result, in front of Cells: who gets them may keep them and Cells
	Cells       []byte   // row by row, each cell as a 4 byte length (-1: null) and its bytes
	PagingState []byte   // nil: no more pages
	Conditional bool     // of a lightweight transaction: always sent with full metadata
	Warnings    []string
}

// SetKeyspace is the answer of USE.
type SetKeyspace struct{ Keyspace string }

// SchemaChange is the answer of a definition that changed something: the client's answer, and the events for
// clients that registered, in their order.
type SchemaChange struct {
	Answer   schema.Change
	Events   []schema.Change
	Warnings []string
}

func (*Void) result()         {}
func (*Rows) result()         {}
func (*SetKeyspace) result()  {}
func (*SchemaChange) result() {}

// Decision shows the progress of a conditional write, so that a waiting goroutine can give it up and tell the client
// whether it may have been stored.
type Decision struct {
	// Until is when the time of the write is over; zero: never.
	Until time.Time

	stage   atomic.Int32
	repeats atomic.Int32 // how often it was decided again, because another write came in between
}

// The stages of a decision.
const (
	undecided int32 = iota
	deciding        // rows are read and compared
	decided         // the store has the mutations
	givenUp         // nothing will be written
)

// longestDecision is how long it may take to decide: other writes of the store wait meanwhile.
const longestDecision = time.Second

// begin notes that rows are about to be read, and returns when that has to be over. It fails if the time of the write
// is over.
func (d *Decision) begin() (until time.Time, err error) {
	now := time.Now()
	until = now.Add(longestDecision)
	if d == nil {
		return until, nil
	}
	if !d.Until.IsZero() && d.Until.Before(until) {
		until = d.Until
	}
	if now.After(until) {
		return until, pace.ErrTimeout
	}
	for {
		stage := d.stage.Load()
		if stage == givenUp {
			return until, pace.ErrTimeout
		}
		if d.stage.CompareAndSwap(stage, deciding) {
			if stage != undecided {
				d.repeats.Add(1)
			}
			return until, nil
		}
	}
}

// end notes that the write is decided. It fails if the write was given up meanwhile: then nothing may be written.
func (d *Decision) end() error {
	if d == nil || d.stage.CompareAndSwap(deciding, decided) {
		return nil
	}
	return pace.ErrTimeout
}

// putOff notes that the write will be decided later: it is not decided again then.
func (d *Decision) putOff() {
	if d != nil {
		d.stage.CompareAndSwap(deciding, undecided)
	}
}

// contentions is how often the write was decided again.
func (d *Decision) contentions() int {
	if d == nil {
		return 0
	}
	return int(d.repeats.Load())
}

// GiveUp ends a conditional write whose time is over, unless it is decided, and returns the client's error. level
// is the serial consistency level.
func (d *Decision) GiveUp(level cqlerr.Consistency) *cqlerr.Error {
	if d.stage.CompareAndSwap(undecided, givenUp) || d.stage.CompareAndSwap(deciding, givenUp) ||
		d.stage.Load() == givenUp {
		return cqlerr.CASTimedOut(level, d.contentions())
	}
	return cqlerr.CASUnknown(level)
}

// Touched records the partitions and rows that an execution reads or writes. A nil Touched records nothing.
type Touched struct {
	Keys       []TouchedKey // partitions that are read by their keys or written to, the first ones
	Rows       int          // read, also rows that filters drop
	Tombstones int          // read, as store.TombstonesRead counts them
	Scanned    bool         // partitions were read that no key names
	Indexed    store.IndexRead
}

// TouchedKey is a partition.
type TouchedKey struct {
	Table *schema.Table
	Key   []byte // serialized
}

// maxTouchedKeys is how many keys of an execution are kept.
const maxTouchedKeys = 100

// hit records a partition. A decision may record it more than once.
func (w *Touched) hit(t *schema.Table, key []byte) {
	if w == nil || len(w.Keys) == maxTouchedKeys {
		return
	}
	for _, k := range w.Keys {
		if k.Table == t && bytes.Equal(k.Key, key) {
			return
		}
	}
	w.Keys = append(w.Keys, TouchedKey{t, bytes.Clone(key)})
}

// read records the partitions of the next read.
func (w *Touched) read(r *store.Read) {
	if w == nil {
		return
	}
	w.Scanned = w.Scanned || r.Keys == nil
	for _, key := range r.Keys {
		w.hit(r.Table, key)
	}
}

// counting counts the rows that are given to a function.
func (w *Touched) counting(fn func(*store.Row) (bool, error)) func(*store.Row) (bool, error) {
	return func(row *store.Row) (bool, error) {
		w.Rows++
		return fn(row)
	}
}
