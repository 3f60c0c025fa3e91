// Package engine is the contract between the store and the ordered key-value engine that keeps its bytes: engine/disk
// in a folder, engine/memory in memory, and cluster/tikv on other machines.
//
// An Engine is a Reader with commits. Commit applies operations (Op) atomically; Update is a transaction (Txn) that
// reads before it writes. Deltas are merged into values by the store's Fold function. Optional interfaces are for
// engines with more to offer: ManyGetter, Freeing, Dropper, Snapshotter, Remote, Splitter, Clock and Keeper. Package
// enginetest tests the contract.
//
// Keys compare as unsigned bytes. Values are never empty. An engine's versions, expiry and timestamps do not show:
// cell timestamps, TTLs and tombstones are the store's.
package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/cqld/cqld/internal/panics"
)

// ErrConflict is returned by an Update that lost a race and applied nothing. It may be retried.
var ErrConflict = errors.New("engine: conflicting update")

// ErrTooLarge is returned for a commit that exceeds the engine's limits. Nothing was applied.
var ErrTooLarge = errors.New("engine: commit too large")

// ErrFull is returned when there is no room for a commit. Nothing was applied. It may work later.
var ErrFull = errors.New("there is no room on the disk")

// ErrRefused is returned when the engine takes no commits at the moment, for the reason wrapped with it. Nothing was
// applied.
var ErrRefused = errors.New("writes are refused")

// ErrBehind is an ErrRefused of a commit that has waited too long for earlier ones. It may work at once.
var ErrBehind = fmt.Errorf("%w", ErrRefused)

// ErrUnknown is returned when a commit may or may not have been applied, as a whole.
var ErrUnknown = errors.New("engine: outcome unknown")

// ErrDamaged is wrapped by the errors for stored data that is not what was written.
var ErrDamaged = errors.New("the data is damaged")

// ErrClosed is returned when the engine has been closed, or is about to be.
var ErrClosed = errors.New("engine: closed")

// Fold merges a delta into a key's existing value, nil if there is none, and appends the new value to dst, which
// shares no memory with the other arguments. The store gives it to the engine at open. It must not keep, change or
// return the other arguments. It is commutative and associative: the order of deltas does not matter, and they may be
// folded into each other first. Folding a delta into nothing gives the delta, so an engine may omit that call.
//
// Fold fails if the store has not written the value or the delta, or if it panics. Then the commit with the delta fails
// with the error and changes nothing, or reads of the key return the error. An engine that folds later drops the delta
// and logs that. After a panic it keeps the delta, and takes no more commits.
type Fold func(dst, key, existing, delta []byte) ([]byte, error)

// Recovering returns a fold whose panics are its errors, so that one commit or one read fails.
func (f Fold) Recovering() Fold {
	return func(dst, key, existing, delta []byte) (value []byte, err error) {
		defer panics.Into(&err)
		return f(dst, key, existing, delta)
	}
}

// Reader reads one consistent snapshot, whatever is committed meanwhile, even by its callbacks. Slices given to
// callbacks are valid only until they return, and must not be changed. Callbacks may read with the same Reader.
type Reader interface {
	// Get calls fn with the value of key, or reports false without calling it.
	Get(key []byte, fn func(value []byte) error) (bool, error)

	// Scan calls fn for the keys in [start, end) in order until fn returns false or an error. A start without bytes is
	// the first key, and an end without bytes is after the last one. The caller must not change them until Scan returns.
	Scan(start, end []byte, o ScanOptions, fn func(key, value []byte) (bool, error)) error
}

// ManyGetter is a Reader that gets many keys in less time than one after the other.
type ManyGetter interface {
	// GetMany calls fn for each key, in their order, with its value, or nil if it has none, until fn returns false or an
	// error.
	GetMany(keys [][]byte, fn func(i int, value []byte) (bool, error)) error
}

// GetEach does what GetMany does with any Reader, one key after the other.
func GetEach(r Reader, keys [][]byte, fn func(i int, value []byte) (bool, error)) error {
	for i, key := range keys {
		more := true
		call := func(value []byte) (err error) {
			more, err = fn(i, value)
			return err
		}
		found, err := r.Get(key, call)
		if !found && err == nil {
			err = call(nil)
		}
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// ScanOptions shape a Scan.
type ScanOptions struct {
	Reverse  bool // from the last key before end down to start
	KeysOnly bool // value is nil
}

// OpKind is the kind of an Op.
type OpKind uint8

// The kinds of operations: Put replaces, Delete removes, Merge folds a delta in without reading.
const (
	Put OpKind = iota
	Delete
	Merge
)

// Op is one operation of a commit.
type Op struct {
	Kind       OpKind
	Key, Value []byte
}

// Txn reads a snapshot and its own writes. A Scan may or may not show writes made while it is under way. A Txn keeps
// no reference to its arguments, except to those of Lend. If it refuses a write, the Update fails with the reason.
type Txn interface {
	Reader
	// Put sets the value of a key.
	Put(key, value []byte)

	// Delete removes a key.
	Delete(key []byte)

	// Merge folds a delta into the value of a key.
	Merge(key, delta []byte)
}

// Lender is a Txn that needs no copies of keys and values.
type Lender interface {
	// Lend writes an operation, see Lend.
	Lend(op Op)
}

// Lend writes operations in a transaction. The caller must not change their keys and values until the Update is done
// or runs its function again, so the transaction need not copy them.
func Lend(txn Txn, ops []Op) {
	lender, ok := txn.(Lender)
	for i := range ops {
		if ok {
			lender.Lend(ops[i])
		} else {
			ops[i].WriteTo(txn)
		}
	}
}

// WriteTo writes the operation in a transaction.
func (op *Op) WriteTo(txn Txn) {
	switch op.Kind {
	case Put:
		txn.Put(op.Key, op.Value)
	case Delete:
		txn.Delete(op.Key)
	case Merge:
		txn.Merge(op.Key, op.Value)
	}
}

// Engine is an ordered key-value engine. All methods may be called concurrently.
type Engine interface {
	Reader

	// View runs fn on one snapshot, for as long as it takes.
	View(fn func(Reader) error) error

	// Commit applies ops atomically, operations on one key in their order, and calls done exactly once when they are as
	// durable as the engine was opened to make them: before it returns, or at any time later from another goroutine. It
	// keeps ops until then, and blocks while its queue is full (backpressure). A reader that starts after done sees all
	// of them; others see all or none. Concurrent commits are applied in any order. done is short and calls neither
	// Commit nor Update: other commits may be waiting for it.
	Commit(ops []Op, done func(error))

	// Update runs fn and commits its writes, or fails with fn's error, its panic or another and changes nothing. It calls
	// done exactly once with the outcome, as Commit does, and blocks while the queue is full. Updates that share a guard
	// run one after the other. A put or delete of fn never overwrites a commit that fn did not see: the Update fails with
	// ErrConflict instead, or runs fn again. So fn may run more than once, and only its last run counts. It calls
	// neither Commit nor Update. ctx ends only the waiting for fn to run. The caller must not change guards until done
	// is called.
	Update(ctx context.Context, guards [][]byte, fn func(Txn) error, done func(error))

	// DeleteRange removes the keys that Scan would give, not atomically; only for keys that are not written any more and
	// that no later reader asks for. Views under way see them until they end.
	DeleteRange(start, end []byte) error

	// Sync returns when every commit whose done was called before is safe from a power cut, where the engine can make it
	// so.
	Sync() error

	// Refusing returns the reason why commits are refused at the moment, or nil.
	Refusing() error

	// Limits returns the engine's limits.
	Limits() Limits

	// Close waits until the commits and updates that were accepted are answered and readers have ended. All other calls
	// return ErrClosed from then on.
	Close() error
}

// Dropper is an Engine that can remove many keys without deleting each.
type Dropper interface {
	// Drop removes keys with any of some prefixes, if that is cheaper than DeleteRange, for which the same rules hold.
	// It may leave any of the keys, for DeleteRange. It waits for views under way. ctx ends only the waiting.
	Drop(ctx context.Context, prefixes [][]byte) error
}

// Drop removes keys with any of some prefixes, if the engine can.
func Drop(ctx context.Context, e Engine, prefixes [][]byte) error {
	if d, ok := e.(Dropper); ok {
		return d.Drop(ctx, prefixes)
	}
	return nil
}

// Freeing is an Engine that keeps a part of its disk for commits that lead to space being freed.
type Freeing interface {
	// CommitFreeing is Commit of such operations.
	CommitFreeing(ops []Op, done func(error))
}

// CommitFreeing commits operations that lead to space being freed.
func CommitFreeing(e Engine, ops []Op, done func(error)) {
	if f, ok := e.(Freeing); ok {
		f.CommitFreeing(ops, done)
		return
	}
	e.Commit(ops, done)
}

// freeing is the key of WithFreeing.
type freeing struct{}

// WithFreeing marks the context of an Update that leads to space being freed.
func WithFreeing(ctx context.Context) context.Context { return context.WithValue(ctx, freeing{}, true) }

// IsFreeing reports whether a context is marked so.
func IsFreeing(ctx context.Context) bool { return ctx.Value(freeing{}) != nil }

// Snapshotter is an Engine that can go back to an earlier state. Neither method takes longer for many keys than for
// few.
type Snapshotter interface {
	Engine

	// Snapshot returns the engine's state.
	Snapshot() Snapshot

	// Restore replaces the engine's state by that of a snapshot of this engine, or of another one of its kind with the
	// same Fold. Views under way go on with the old state, and Updates under way run their functions again.
	Restore(Snapshot) error
}

// Snapshot is the immutable state of an engine at one time.
type Snapshot interface {
	// Open opens another engine with that state. Writes to one of them do not change the other. It takes no longer for
	// many keys than for few.
	Open(Fold) Engine
}

// Clock is an Engine that is shared by processes and orders what they do, whatever their own clocks show. An engine
// that is shared must be one.
type Clock interface {
	Engine

	// Timestamp takes count timestamps, which are later than all that any process got before the call, and returns the
	// last one. It is about the time, but nothing else is known of it: it may jump forward by seconds, and then stand
	// while only its counter rises.
	Timestamp(ctx context.Context, count int) (Timestamp, error)

	// Seen returns the latest timestamp that this process has got, by Timestamp or for its reads and updates.
	Seen() Timestamp
}

// Timestamp is a timestamp of a Clock. One is later than another if it has more milliseconds, or as many and a greater
// count.
type Timestamp struct {
	Milliseconds int64 // since 1970
	Count        int64 // less than MaxCount
}

// After reports whether a timestamp is later than another one.
func (t Timestamp) After(u Timestamp) bool {
	return t.Milliseconds > u.Milliseconds || t.Milliseconds == u.Milliseconds && t.Count > u.Count
}

// MaxCount bounds the counts of timestamps. PD's have 18 bits.
const MaxCount = 1 << 18

// Remote is an Engine that may have its data on other machines. Its reads and updates wait for the network.
type Remote interface {
	Engine

	// Remote reports whether it has.
	Remote() bool
}

// Measured is an engine with metrics of its own.
type Measured interface {
	Engine

	// Gauges are the present values.
	Gauges() []Gauge
}

// Gauge is a metric of an engine. Its name follows cqld_engine_.
type Gauge struct {
	Name, Help string
	Value      float64
}

// Splitter is an Engine that keeps ranges of keys on different machines.
type Splitter interface {
	Engine

	// Parts is how many ranges a new table gets, so that its first writes are not all on one machine.
	Parts() int

	// Split makes ranges begin at keys. It does not wait. It is best effort.
	Split(keys [][]byte)
}

// Keeper is an Engine of files, which may be damaged. It keeps a second copy of what all other data depends on, in
// another file than the data itself.
type Keeper interface {
	Engine

	// Keep replaces the copy. If it fails there is none.
	Keep(content []byte) error

	// Kept returns the copy, or nil if there is none. It returns ErrDamaged if the copy is not what was written.
	Kept() ([]byte, error)

	// Repaired returns what a repair could not recover, until RepairEnded is called; nil: there was no repair.
	Repaired() (*Repair, error)

	// RepairEnded says that the rest of the data agrees with what a repair has left.
	RepairEnded() error
}

// Repair is what a repair of damaged files could not recover.
type Repair struct{ Losses []Loss }

// Loss is something that a repair could not recover. In the ranges entries are missing; where a deletion is missing, or
// a newer value, the older value is back.
type Loss struct {
	File    string  // that was damaged
	What    string  // the damage
	Ranges  []Range // where entries may be missing; none: anywhere, because the file had commits
	Entries int     // the maximum number of missing entries; -1: it is not known
	Commits uint64  // missing commits of the log
}

// Range is a range of keys. An end without bytes is after the last one.
type Range struct{ Start, End []byte }

// Update runs an update of an engine with one guard and waits for its outcome.
func Update(ctx context.Context, e Engine, guard []byte, fn func(Txn) error) error {
	outcome := make(chan error, 1)
	e.Update(ctx, [][]byte{guard}, fn, func(err error) { outcome <- err })
	return <-outcome
}

// Limits are maxima, beyond which an engine refuses a commit with ErrTooLarge. A value that only folding makes longer
// may be taken or refused.
type Limits struct {
	Key         int // bytes of a key
	Value       int // bytes of a value
	CommitBytes int // bytes of all keys and values of a commit
	CommitOps   int
}

// SharedPrefix is how many bytes two keys have in common at the beginning.
func SharedPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
