package command

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// engineCalls measures the calls of a remote engine: how long they take and how they fail.
type engineCalls struct {
	mu     sync.Mutex
	took   map[string]*callTimes // by call
	failed map[callError]uint64

	reach *reach
	own   engine.Measured // the engine's own metrics, or nil
}

// callTimes counts calls by how long they took.
type callTimes struct {
	buckets [len(callBounds)]uint64 // calls that took that long or less
	count   uint64
	total   time.Duration
}

// callBounds are powers of two, from half a millisecond to 16 seconds.
var callBounds = func() (bounds [16]time.Duration) {
	for i := range bounds {
		bounds[i] = 500 * time.Microsecond << i
	}
	return bounds
}()

// callError identifies a counter of errors.
type callError struct{ call, kind string }

func newEngineCalls() *engineCalls {
	return &engineCalls{took: make(map[string]*callTimes), failed: make(map[callError]uint64)}
}

// sample takes the metrics of calls, and the engine's gauges, for example cqld_engine_safe_point_stalled.
func (c *engineCalls) sample(s sample) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, call := range slices.Sorted(maps.Keys(c.took)) {
		t := c.took[call]
		buckets := make([]bucket, len(callBounds))
		for i, bound := range callBounds {
			buckets[i] = bucket{bound.Seconds(), t.buckets[i]}
		}
		s.with("call", call).histogram("engine_call_duration_seconds", "How long calls of the engine take, by call.", buckets,
			t.count, t.total.Seconds())
	}
	for e, n := range c.failed {
		s.with("call", e.call, "kind", e.kind).counter("engine_call_errors_total",
			"Calls of the engine that have failed, by call and kind of error.", n)
	}
	if c.own != nil {
		for _, g := range c.own.Gauges() {
			s.take("gauge", "cqld_engine_"+g.Name, "", g.Help, g.Value)
		}
	}
}

// ended counts the duration of a call.
func (c *engineCalls) ended(call string, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.took[call]
	if t == nil {
		t = new(callTimes)
		c.took[call] = t
	}
	for i, bound := range callBounds {
		if took <= bound {
			t.buckets[i]++
		}
	}
	t.count++
	t.total += took
}

// fail counts a failed call.
func (c *engineCalls) fail(call, kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed[callError{call, kind}]++
}

// callLimit is the time after which a short call counts as failed. The engine tries for longer, but clients are about
// to give up.
const callLimit = 2 * time.Second

// engineCall is a running call.
type engineCall struct {
	name  string
	began time.Time
	late  *time.Timer // counts a short call as failed; nil for other calls
}

// beginLong begins a call that may take any time.
func (c *engineCalls) beginLong(name string) engineCall {
	return engineCall{name: name, began: time.Now()}
}

// beginShort begins a call of one or two round trips.
func (c *engineCalls) beginShort(name string) engineCall {
	k := c.beginLong(name)
	k.late = time.AfterFunc(callLimit, func() { c.fail(name, kindTimeout) })
	return k
}

// end counts a call. failure is the engine's error, if it failed.
func (c *engineCalls) end(k engineCall, failure error) {
	c.ended(k.name, time.Since(k.began))
	counted := k.late != nil && !k.late.Stop()
	if failure != nil && !counted {
		c.fail(k.name, errorKind(failure))
	}
	c.reach.ended(k.name, failure)
}

// The kinds of errors that reach needs. errorKind has more.
const (
	kindConflict = "conflict"
	kindUnknown  = "unknown"
	kindRefused  = "refused"
	kindOther    = "other"
	kindTimeout  = "timeout"
)

// errorKind returns the kind of an engine's error, as a label of metrics.
func errorKind(err error) string {
	switch {
	case errors.Is(err, engine.ErrConflict):
		return kindConflict
	case errors.Is(err, engine.ErrUnknown):
		return kindUnknown
	case errors.Is(err, engine.ErrRefused):
		return kindRefused
	case errors.Is(err, engine.ErrTooLarge):
		return "too_large"
	case errors.Is(err, engine.ErrClosed):
		return "closed"
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled):
		return kindTimeout // of the caller
	}
	return kindOther
}

// wrap returns an engine that measures each call of e.
func (c *engineCalls) wrap(e engine.Engine) engine.Engine {
	c.reach = &reach{engine: e, calls: c}
	c.own, _ = e.(engine.Measured)
	counted := countedEngine{e, c}
	if clock, ok := e.(engine.Clock); ok {
		return countedClock{counted, clock}
	}
	return counted
}

// countedEngine measures calls of an engine.
type countedEngine struct {
	engine.Engine
	calls *engineCalls
}

// Remote reports whether the engine is remote.
func (e countedEngine) Remote() bool {
	r, ok := e.Engine.(engine.Remote)
	return ok && r.Remote()
}

// Parts returns into how many ranges the engine wants a table split; 1 if it has no ranges.
func (e countedEngine) Parts() int {
	if s, ok := e.Engine.(engine.Splitter); ok {
		return s.Parts()
	}
	return 1
}

// Split splits the ranges of the engine at keys.
func (e countedEngine) Split(keys [][]byte) {
	if s, ok := e.Engine.(engine.Splitter); ok {
		s.Split(keys)
	}
}

// Get counts as get.
func (e countedEngine) Get(key []byte, fn func(value []byte) error) (bool, error) {
	k := e.calls.beginShort("get")
	r := watchedReader{Reader: e.Engine}
	found, err := r.Get(key, fn)
	e.calls.end(k, r.failure())
	return found, err
}

// Scan counts as scan.
func (e countedEngine) Scan(
	start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error),
) error {
	k := e.calls.beginLong("scan")
	r := watchedReader{Reader: e.Engine}
	err := r.Scan(start, end, o, fn)
	e.calls.end(k, r.failure())
	return err
}

// View counts as view, together with its reads.
func (e countedEngine) View(fn func(engine.Reader) error) error {
	k := e.calls.beginLong("view")
	var r watchedReader
	var own error // of fn: its own, or passed on from a read
	err := e.Engine.View(func(src engine.Reader) error {
		r.Reader = src
		own = fn(&r)
		return own
	})
	e.calls.end(k, failure(err, own, &r))
	return err
}

// Update counts as update, together with its reads and writes.
func (e countedEngine) Update(ctx context.Context, guards [][]byte, fn func(engine.Txn) error, done func(error)) {
	k := e.calls.beginLong("update")
	t := new(watchedTxn)
	var own error
	e.Engine.Update(ctx, guards, func(txn engine.Txn) error {
		*t = watchedTxn{Txn: txn, reader: &watchedReader{Reader: txn}} // the engine may repeat it
		own = fn(t)
		return own
	}, func(err error) {
		e.calls.end(k, failure(err, own, t.reader))
		done(err)
	})
}

// failure returns the engine's error of a call that has returned err. own is the error of the caller's function: the
// engine has failed only if one of the function's reads through r has.
func failure(err, own error, r *watchedReader) error {
	if own == nil {
		return err
	}
	return r.failure()
}

// watchedReader remembers the engine's error, but not errors that callbacks return.
type watchedReader struct {
	engine.Reader
	mu     sync.Mutex
	failed error
}

func (r *watchedReader) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// watch runs a call, which sets own to its callback's error, and remembers the error unless it is the callback's.
func (r *watchedReader) watch(call func(own *error) error) error {
	var own error
	err := call(&own)
	if err != nil && own == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.failed = err
	}
	return err
}

// Get reads a key.
func (r *watchedReader) Get(key []byte, fn func(value []byte) error) (found bool, err error) {
	err = r.watch(func(own *error) (err error) {
		found, err = r.Reader.Get(key, func(value []byte) error {
			*own = fn(value)
			return *own
		})
		return err
	})
	return found, err
}

// GetMany reads keys.
func (r *watchedReader) GetMany(keys [][]byte, fn func(i int, value []byte) (bool, error)) error {
	return r.watch(func(own *error) error {
		call := func(i int, value []byte) (more bool, err error) {
			more, *own = fn(i, value)
			return more, *own
		}
		if many, ok := r.Reader.(engine.ManyGetter); ok {
			return many.GetMany(keys, call)
		}
		return engine.GetEach(r.Reader, keys, call)
	})
}

// Scan reads a range.
func (r *watchedReader) Scan(
	start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error),
) error {
	return r.watch(func(own *error) error {
		return r.Reader.Scan(start, end, o, func(key, value []byte) (more bool, err error) {
			more, *own = fn(key, value)
			return more, *own
		})
	})
}

// watchedTxn is a transaction whose reads are watched.
type watchedTxn struct {
	engine.Txn
	reader *watchedReader
}

// Get reads a key.
func (t *watchedTxn) Get(key []byte, fn func(value []byte) error) (bool, error) {
	return t.reader.Get(key, fn)
}

// Scan reads a range.
func (t *watchedTxn) Scan(
	start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error),
) error {
	return t.reader.Scan(start, end, o, fn)
}

// Commit counts as commit.
func (e countedEngine) Commit(ops []engine.Op, done func(error)) {
	k := e.calls.beginShort("commit")
	e.Engine.Commit(ops, func(err error) {
		e.calls.end(k, err)
		done(err)
	})
}

// DeleteRange counts as delete_range.
func (e countedEngine) DeleteRange(start, end []byte) error {
	k := e.calls.beginLong("delete_range")
	err := e.Engine.DeleteRange(start, end)
	e.calls.end(k, err)
	return err
}

// countedClock is a counted engine with a clock.
type countedClock struct {
	countedEngine
	clock engine.Clock
}

// Timestamp counts as time.
func (e countedClock) Timestamp(ctx context.Context, count int) (engine.Timestamp, error) {
	k := e.calls.beginShort("time")
	t, err := e.clock.Timestamp(ctx, count)
	e.calls.end(k, err)
	return t, err
}

// Seen is the latest timestamp.
func (e countedClock) Seen() engine.Timestamp { return e.clock.Seen() }
