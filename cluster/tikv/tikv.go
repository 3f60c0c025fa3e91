// Package tikv is the engine of a TiKV cluster, which many servers may have open at the same time. It keeps the
// contract of store/engine over the transactions of client-go. It is in a module of its own, whose folder is cluster,
// so that cqld itself needs neither client-go nor what client-go needs.
//
// # Keys
//
// Everything is below one prefix, but for the record of who collects old versions (collect.go). A key is encoded so
// that the keys of one row of the engine stand together (keys.go):
//
//	prefix 00 | d | encoded key |                 a value
//	prefix 00 | d | encoded key | timestamp : 8   a delta: of a Commit with its start timestamp, else with the one
//	                                              that the Update reads at
//	prefix 00 | g | guard                         what an Update locks; nothing is stored there
//	prefix 00 | m | name                          the engine's own records
//
// # Writes
//
// A Merge writes a delta under a key that nobody else writes. So it reads nothing and conflicts with nothing. Readers
// fold the deltas of a key into its value, and who finds many of them has them written as a value (compact.go).
//
// A Put in a Commit reads nothing either. It writes the value with the start timestamp of its transaction, and deltas
// with earlier timestamps do not count any more. A Delete reads which deltas there are and deletes them with the value.
// A delta that is committed while a Put or a Delete is under way comes before or behind it.
//
// Commits for a region that has enough under way wait, and go together into one transaction (lane.go).
//
// Update first reads without a lock. Its commit locks the guard and the keys that it puts and deletes, and fails if
// another commit has changed one of these since the timestamp that it reads at (update.go). If others come in between
// again it locks its guard first, and reads what was committed when it got the lock. A delta that was committed
// meanwhile stays. Updates of a process with the same guard are run together (group.go).
//
// # Regions
//
// A new table is split into regions (split.go).
//
// # Reads
//
// A View reads at one timestamp of the cluster. Get outside a View needs no timestamp: it is one request, whose answer
// is of one moment (latest.go). Long views hold back the collection of old versions (collect.go).
//
// # The clock
//
// All engines of a cluster have PD's time (clock.go), which stores that share the cluster need.
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

	"github.com/cqld/cqld/store/engine"
)

// Options say what of a cluster an engine uses.
type Options struct {
	// Prefix separates data from that of others in the same cluster: letters, digits, - and _.
	Prefix string

	// MaxKey is the length of the longest key. TiKV refuses keys that are longer than its setting storage.max-key-size
	// when they are encoded. 0 means 5000, which fits the default of 8 KiB.
	MaxKey int

	// Split is how many regions a new table gets. 0 and 1 leave it to the cluster to split it when it has grown.
	Split int

	// Patience is how long a commit is tried while the cluster does not answer. 0 means 40 seconds: a cluster that loses
	// a store needs up to 20.
	Patience time.Duration

	// KeepVersions leaves the collection of old versions to others, such as a TiDB in the same cluster.
	KeepVersions bool

	// ClockInterval is PD's setting tso-update-physical-interval. 0 means 50 ms, which is its default.
	ClockInterval time.Duration

	Log zerolog.Logger
}

// Limits of the engine. A value is one entry of a Raft log, which has 8 MiB at most where it is not configured.
const (
	defaultMaxKey   = 5000
	defaultPatience = 40 * time.Second
	maxValue        = 6 << 20
	maxCommit       = 16 << 20
	maxOps          = 1 << 17
)

// queue is how many commits may be under way.
const queue = 1024

// Engine is an engine of a cluster. Others may be open on the same prefix, also in other processes.
type Engine struct {
	cluster *tikv.KVStore
	id      string // among all engines that are open
	options Options
	fold    engine.Fold
	prefix  []byte

	commits chan struct{} // has an element for each commit under way
	lanes   lanes
	guards  guards
	views   views
	compact *compaction
	splits  chan [][]byte // keys at which regions are to begin

	safePoint safePoint

	stop    context.CancelFunc // ends background work
	working sync.WaitGroup     // background work

	mu     sync.Mutex
	closed bool
	under  sync.WaitGroup // requests
}

var (
	_ engine.Remote   = (*Engine)(nil)
	_ engine.Splitter = (*Engine)(nil)
)

var prefixes = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Open opens an engine of a cluster. Close closes the connection to the cluster too.
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
	if o.ClockInterval == 0 {
		o.ClockInterval = defaultClockInterval
	}
	ctx, stop := context.WithCancel(context.Background())
	e := &Engine{
		cluster: cluster, id: uuid.NewString(), options: o, fold: fold, prefix: append([]byte(o.Prefix), 0), stop: stop,
		commits: make(chan struct{}, queue), lanes: lanes{of: map[uint64]*lane{}}, guards: newGuards(), compact: newCompaction(),
		splits: make(chan [][]byte, splitQueue),
	}
	e.working.Go(func() { e.runCompaction(ctx) })
	e.working.Go(func() { e.runSplits(ctx) })
	e.working.Go(func() { reconnect(ctx, cluster) })
	e.working.Go(func() { e.holdVersions(ctx) })
	e.working.Go(func() { e.collectVersions(ctx) })
	return e, nil
}

// area appends the prefix of an area to dst.
func (e *Engine) area(dst []byte, area byte) []byte { return append(append(dst, e.prefix...), area) }

// valueKey is where the value of a key is. Deltas are behind it.
func (e *Engine) valueKey(key []byte) []byte {
	dst := make([]byte, 0, len(e.prefix)+1+len(key)/group*(group+1)+group+1+stampBytes)
	return appendKey(e.area(dst, areaData), key)
}

// bounds are those of a range as they are in the cluster.
func (e *Engine) bounds(start, end []byte) (from, to []byte) {
	if from = e.area(nil, areaData); len(start) > 0 {
		from = appendKey(from, start)
	}
	if to = e.area(nil, areaData); len(end) > 0 {
		return from, appendKey(to, end)
	}
	return from, behind(to)
}

// enter counts a request in, which then has to call under.Done.
func (e *Engine) enter() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return engine.ErrClosed
	}
	e.under.Add(1)
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

// Limits says what a commit may have at most.
func (e *Engine) Limits() engine.Limits {
	return engine.Limits{Key: e.options.MaxKey, Value: maxValue, CommitBytes: maxCommit, CommitOps: maxOps}
}

// Refusing is nil: whether the cluster takes a commit shows when it is made.
func (*Engine) Refusing() error { return nil }

// Sync has nothing to do: the cluster has made durable what it has acknowledged.
func (e *Engine) Sync() error {
	if err := e.enter(); err != nil {
		return err
	}
	e.under.Done()
	return nil
}

// Remote is true: reads wait for the cluster.
func (*Engine) Remote() bool { return true }

// Close waits until what was taken is answered, and closes the connection to the cluster.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return engine.ErrClosed
	}
	e.closed = true
	e.mu.Unlock()
	e.under.Wait()
	e.stop()
	e.working.Wait()
	return e.cluster.Close()
}
