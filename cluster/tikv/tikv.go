// Package tikv is a storage engine whose data is in a TiKV cluster. Any number of servers may have the same data open.
// It implements the contract of store/engine with transactions of client-go. The module cluster has it, so that cqld
// does not depend on client-go.
//
// # Keys
//
// All keys begin with the prefix of the data, except the record of the garbage collection (collect.go). An encoded key
// is followed by the deltas of its value (rows.go):
//
//	prefix 00 | d | encoded key |                 a value
//	prefix 00 | d | encoded key | timestamp : 8   a delta: with the start timestamp of its Commit, or the timestamp
//	                                              at which its Update reads
//	prefix 00 | g | guard                         locked by an Update; has no value
//	prefix 00 | m | name                          records of the engine
//
// # Writes
//
// A Merge writes a delta under a key of its own. So it reads nothing and conflicts with nothing. Readers fold the
// deltas of a key into its value. A reader that finds many deltas schedules a compaction, which writes the folded
// value (background.go).
//
// A Put in a Commit reads nothing either. It writes the value with the start timestamp of its transaction; deltas with
// earlier timestamps no longer count. A Delete reads the deltas and deletes them with the value. A delta that commits
// at the same time is ordered before or after the Put or Delete.
//
// A region commits a few transactions at a time. Further commits for it wait and share the next transaction
// (commit.go).
//
// An Update first reads without a lock. Its commit locks the guards and the keys that it puts and deletes, and fails
// if one of them has changed since its read timestamp (update.go). After repeated conflicts it locks its guards first,
// and reads at a timestamp after that. Deltas that others commit meanwhile stay. Updates of one process with the same
// guard share a transaction (group.go).
//
// # Reads
//
// A View reads at one timestamp of the cluster. A Get outside of a View needs no timestamp: it is one request, whose
// response is consistent (latest.go). Long views delay the garbage collection of old versions (collect.go).
//
// # Regions and the clock
//
// A new table is split into several regions (background.go). All engines of a cluster use PD's time, because stores
// that share the cluster need the same clock.
package tikv

import (
	"context"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"github.com/tikv/client-go/v2/oracle"
	"github.com/tikv/client-go/v2/tikv"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine"
)

// Options of an engine.
type Options struct {
	// Prefix names the data in the cluster. It has letters, digits, - and _.
	Prefix string

	// MaxKey is the maximum length of a key. An encoded key must fit into TiKV's setting storage.max-key-size. 0 means
	// 5000, which fits the default of 8 KiB.
	MaxKey int

	// Split is the number of regions of a new table. With 0 or 1 the cluster splits the table when it has grown.
	Split int

	// Patience is how long a commit is retried while the cluster does not answer. 0 means 40 seconds: a cluster that
	// loses a store needs up to 20 to recover.
	Patience time.Duration

	// KeepVersions leaves the garbage collection of old versions to others, such as a TiDB in the same cluster.
	KeepVersions bool

	Log zerolog.Logger
}

// Limits of the engine. A value must fit into an entry of the Raft log, by default 8 MiB.
const (
	defaultMaxKey   = 5000
	defaultPatience = 40 * time.Second
	maxValue        = 6 << 20
	maxCommit       = 16 << 20
	maxOps          = 1 << 17
)

// maxCommits is the maximum number of running and waiting commits.
const maxCommits = 1024

// Engine is an engine of a cluster. Engines of other processes may have the same data open.
type Engine struct {
	cluster *tikv.KVStore
	id      string // unique among all engines
	options Options
	fold    engine.Fold
	prefix  []byte

	commits chan struct{} // has an element for each commit
	lanes   lanes
	guards  guards
	views   views
	compact *compaction
	splits  chan [][]byte // keys at which to split regions

	safePoint safePoint

	stop    context.CancelFunc // ends background work
	working sync.WaitGroup     // background work

	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup
}

var (
	_ engine.Remote   = (*Engine)(nil)
	_ engine.Splitter = (*Engine)(nil)
)

var prefixes = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Open opens an engine. Closing it closes the connection to the cluster too.
func Open(cluster *tikv.KVStore, o Options, fold engine.Fold) (*Engine, error) {
	if !prefixes.MatchString(o.Prefix) {
		return nil, fmt.Errorf("the prefix %q is not 1 to 64 letters, digits, - and _", o.Prefix)
	}
	if o.MaxKey == 0 {
		o.MaxKey = defaultMaxKey
	}
	if o.Patience == 0 {
		o.Patience = defaultPatience
	}
	ctx, stop := context.WithCancel(context.Background())
	e := &Engine{
		cluster: cluster, id: uuid.NewString(), options: o, fold: fold.Recovering(), prefix: append([]byte(o.Prefix), 0), stop: stop,
		commits: make(chan struct{}, maxCommits), lanes: lanes{of: map[uint64]*lane{}}, guards: newGuards(), compact: newCompaction(),
		splits: make(chan [][]byte, splitQueue),
	}
	e.keep(ctx, e.runCompaction)
	e.keep(ctx, e.runSplits)
	e.keep(ctx, func(ctx context.Context) { reconnect(ctx, cluster) })
	e.keep(ctx, e.holdVersions)
	e.keep(ctx, e.collectVersions)
	return e, nil
}

// keep runs work in the background until ctx ends. Work that panics begins again.
func (e *Engine) keep(ctx context.Context, run func(context.Context)) {
	e.working.Go(func() {
		for {
			err := panics.Call(func() error { run(ctx); return nil })
			if err == nil {
				return
			}
			panics.Log(&e.options.Log, err).Msg("background work panicked: it begins again")
			sleep(ctx, time.Second)
		}
	})
}

// area appends the prefix of an area to dst.
func (e *Engine) area(dst []byte, area byte) []byte { return append(append(dst, e.prefix...), area) }

// valueKey returns the encoded key of a value. Its deltas follow.
func (e *Engine) valueKey(key []byte) []byte {
	dst := make([]byte, 0, len(e.prefix)+1+len(key)/group*(group+1)+group+1+stampBytes)
	return appendKey(e.area(dst, areaData), key)
}

// bounds encodes the bounds of a range.
func (e *Engine) bounds(start, end []byte) (from, to []byte) {
	if from = e.area(nil, areaData); len(start) > 0 {
		from = appendKey(from, start)
	}
	if to = e.area(nil, areaData); len(end) > 0 {
		return from, appendKey(to, end)
	}
	return from, after(to)
}

// enter begins a call, which ends with calls.Done.
func (e *Engine) enter() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return engine.ErrClosed
	}
	e.calls.Add(1)
	return nil
}

// now asks the cluster for a timestamp.
func (e *Engine) now() (uint64, error) {
	ts, err := e.cluster.CurrentTimestamp(oracle.GlobalTxnScope)
	if err != nil {
		return 0, fmt.Errorf("ask the cluster for a timestamp: %w", err)
	}
	return ts, nil
}

// Limits returns the limits of a commit.
func (e *Engine) Limits() engine.Limits {
	return engine.Limits{Key: e.options.MaxKey, Value: maxValue, CommitBytes: maxCommit, CommitOps: maxOps}
}

// Refusing returns nil: only a commit shows whether the cluster accepts it.
func (*Engine) Refusing() error { return nil }

// Sync does nothing: acknowledged commits are durable.
func (e *Engine) Sync() error {
	if err := e.enter(); err != nil {
		return err
	}
	e.calls.Done()
	return nil
}

// Remote returns true: reads wait for the network.
func (*Engine) Remote() bool { return true }

// Close waits for running calls and closes the connection to the cluster.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return engine.ErrClosed
	}
	e.closed = true
	e.mu.Unlock()
	e.calls.Wait()
	e.stop()
	e.working.Wait()
	return e.cluster.Close()
}

// clockBackoff limits the retries of Timestamp, in milliseconds. The store asks again.
const clockBackoff = 2000

var _ engine.Clock = (*Engine)(nil)

// Timestamp takes timestamps of PD. PD's client sends those that are asked for at the same time with one request.
func (e *Engine) Timestamp(ctx context.Context, count int) (engine.Timestamp, error) {
	if err := e.enter(); err != nil {
		return engine.Timestamp{}, err
	}
	defer e.calls.Done()
	scope := &oracle.Option{TxnScope: oracle.GlobalTxnScope}
	for range count - 1 {
		e.cluster.GetOracle().GetTimestampAsync(ctx, scope) // an error is that of the last one
	}
	ts, err := e.cluster.GetTimestampWithRetry(tikv.NewBackofferWithVars(ctx, clockBackoff, nil), oracle.GlobalTxnScope)
	if err != nil {
		return engine.Timestamp{}, fmt.Errorf("ask the cluster for a timestamp: %w", err)
	}
	return timestamp(ts), nil
}

// Seen is the latest timestamp of PD that this process has got: client-go keeps it.
func (e *Engine) Seen() engine.Timestamp {
	ts, err := e.cluster.GetOracle().GetLowResolutionTimestamp(context.Background(), &oracle.Option{TxnScope: oracle.GlobalTxnScope})
	if err != nil {
		return engine.Timestamp{} // there was none yet
	}
	return timestamp(ts)
}

func timestamp(ts uint64) engine.Timestamp {
	return engine.Timestamp{Milliseconds: oracle.ExtractPhysical(ts), Count: oracle.ExtractLogical(ts)}
}
