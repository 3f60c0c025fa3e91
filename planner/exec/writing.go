package exec

import (
	"encoding/binary"
	"math"
	"sync"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec/replicas"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/pace"
)

// writing is one execution of a write: of a statement or of a batch. Each statement becomes mutations (mutate.go),
// which go to the store together. A writing is reused with its buffers as soon as the store has taken the mutations.
type writing struct {
	e           *Executor
	options     *Options
	kind        string      // as errors name it
	stored      *storedRows // that the write depends on; nil: it has no conditions
	wait        replicas.Wait
	began       time.Time
	timestamp   int64 // of all statements without one, if timestamped
	timestamped bool
	placed      int64  // where nodes share the store: the timestamp that orders the elements of lists; 0: none yet
	places      uint64 // that were given

	// The statement and the row that are evaluated.
	x      expr.Context
	keys   [][]byte
	ranges []store.Slice
	row    [][]byte
	target target
	place  []byte          // of an element in a list
	onHold func(int) error // hold, as a value that is made once

	// The mutations so far.
	mutations []*store.Mutation
	virtual   bool // into tables that code makes
	rows      int  // at most
	bytes     int  // of the mutations, without the last one
	elements  int
	size      size

	returned holding // what users' functions returned

	guard   *guardrail.Check // nil: no guardrail of values is on
	terms   []term           // of storage-attached indexes
	refusal error            // of the first value that an index refuses
}

var writings = sync.Pool{New: func() any {
	w := new(writing)
	w.onHold = w.hold
	return w
}}

// startWriting begins a write with the options of its request.
func (e *Executor) startWriting(o *Options) *writing {
	w := writings.Get().(*writing)
	w.e, w.options = e, o
	w.x.Hold = w.onHold
	if turn := o.Turn; turn != nil {
		w.x.Step = func() error { return step(turn) }
	}
	w.began = e.store.Now()
	w.x.Now = o.now(w.began)
	w.timestamped, w.timestamp = o.HasTimestamp, o.Timestamp
	if o.Guard.Values() {
		w.guard = o.Guard
	}
	return w
}

func (w *writing) release() {
	clear(w.mutations)
	clear(w.keys)
	clear(w.ranges)
	clear(w.row)
	*w = writing{
		mutations: w.mutations[:0], keys: w.keys[:0], ranges: w.ranges[:0], row: w.row[:0], place: w.place[:0],
		onHold: w.onHold,
	}
	writings.Put(w)
}

// turn is the turn that the write yields on. It is nil during a decision: other writes wait for it.
func (w *writing) turn() *pace.Turn {
	if w.stored != nil && w.stored.deciding {
		return nil
	}
	return w.options.Turn
}

// using evaluates USING: the timestamp and the expiry of a statement's cells.
func (w *writing) using(m *planner.Modification) (int64, store.Expiry, error) {
	ts, err := w.timestampOf(m.Timestamp)
	if err != nil {
		return 0, store.Expiry{}, err
	}
	ttl, err := w.ttl(m)
	if err != nil || ttl == 0 {
		return ts, store.Expiry{}, err
	}
	return ts, store.Expiry{TTL: ttl, At: w.x.Now + int64(ttl)}, nil
}

// timestampOf is that of USING TIMESTAMP, or of the request. Otherwise all statements of the request share one.
func (w *writing) timestampOf(e expr.Expr) (int64, error) {
	if e != nil && w.stored == nil { // conditions give all statements of a batch one time
		v, err := e.Eval(&w.x)
		switch {
		case err != nil:
			return 0, err
		case v.Unset:
		case len(v.Bytes) != 8:
			return 0, cqlerr.Invalidf("Invalid null value of timestamp")
		default:
			return checkTimestamp(int64(binary.BigEndian.Uint64(v.Bytes)))
		}
	}
	if !w.timestamped {
		ts, err := w.e.store.TimestampAt(w.began)
		if err != nil {
			return 0, err
		}
		w.timestamped, w.timestamp, w.placed = true, ts, ts
	}
	return w.timestamp, nil
}

// checkTimestamp refuses the number that means no time.
func checkTimestamp(ts int64) (int64, error) {
	if ts == math.MinInt64 {
		return 0, cqlerr.Invalidf("Out of bound timestamp, must be in [%d, %d]", int64(math.MinInt64+1), int64(math.MaxInt64))
	}
	return ts, nil
}

const (
	// maxTTL is 20 years of 365 days.
	maxTTL = 20 * 365 * 24 * 60 * 60

	// maxExpiry is the last second that Cassandra can store, in the year 2106.
	maxExpiry = math.MaxUint32 - 2
)

// ttl is that of USING TTL, or else the table's. Null is none.
func (w *writing) ttl(m *planner.Modification) (int32, error) {
	byDefault := int32(m.Table.Options.DefaultTimeToLive)
	if m.Verb == planner.Delete {
		return 0, nil
	}
	if m.TTL == nil {
		return byDefault, w.checkExpiry(m, byDefault, "default ")
	}
	v, ttl, err := intValue(&w.x, m.TTL)
	switch {
	case err != nil:
		return 0, err
	case v.Unset:
		return byDefault, nil
	case ttl < 0:
		return 0, cqlerr.Invalidf("A TTL must be greater or equal to 0, but was %d", ttl)
	case ttl > maxTTL:
		return 0, cqlerr.Invalidf("ttl is too large. requested (%d) maximum (%d)", ttl, maxTTL)
	}
	return ttl, w.checkExpiry(m, ttl, "")
}

// checkExpiry refuses cells that would expire after the last second that can be stored.
func (w *writing) checkExpiry(m *planner.Modification, ttl int32, origin string) error {
	if ttl == 0 || w.began.Unix()+int64(ttl) <= maxExpiry {
		return nil
	}
	return cqlerr.Invalidf("Request on table %s.%s with %sttl of %d seconds exceeds maximum supported expiration date of %s. "+
		"In order to avoid this use a lower TTL, change the expiration date overflow policy or upgrade to a version where this "+
		"limitation is fixed. See CASSANDRA-14092 and CASSANDRA-14227 for more details.", m.Table.Keyspace, m.Table.Name,
		origin, ttl, time.Unix(maxExpiry, 0).UTC().Format("2006-01-02T15:04:05+00:00"))
}
