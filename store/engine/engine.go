// Package engine is the contract of an ordered key-value engine: what the store needs from whatever
// keeps its bytes: engine/disk in a folder, engine/memory in memory, and cluster/tikv on other machines.
//
// Keys compare as unsigned bytes. Values are never empty. Nothing of an engine's own notions of
// versions, expiry or timestamps shows through: cell timestamps, TTLs and tombstones are the store's.
package engine

import (
	"context"
	"errors"
	"time"
)

// ErrConflict says that an Update lost a race and nothing was applied. It may be tried again.
var ErrConflict = errors.New("engine: conflicting update")

// ErrTooLarge says that a commit is over the engine's limits and nothing was applied.
var ErrTooLarge = errors.New("engine: commit too large")

// ErrFull says that there is no room for a commit and nothing was applied. It may work later.
var ErrFull = errors.New("there is no room on the disk")

// ErrRefused says that the engine takes no commits at the moment, for the reason wrapped with it, and nothing was
// applied.
var ErrRefused = errors.New("writes are refused")

// ErrUnknown says that a commit may or may not have been applied, as a whole.
var ErrUnknown = errors.New("engine: outcome unknown")

// ErrClosed says that the engine has been closed, or is about to be.
var ErrClosed = errors.New("engine: closed")

// Fold merges a delta into what a key holds (nil when it holds nothing) and appends the new value to dst, which has no
// memory in common with the others. The store gives it to the engine at open. It must not keep or change its other
// arguments, or return them. Folding deltas in any order must give the same value, and so must folding them into each
// other first. Folding a delta into nothing gives the delta, so an engine may do without.
//
// An error says that what the key holds, or the delta, is not of the store's making. The commit with the delta then
// fails with it and changes nothing, or whoever reads the key gets it. An engine that folds later leaves the delta out
// and logs that.
type Fold func(dst, key, existing, delta []byte) ([]byte, error)

// Reader reads one consistent snapshot, whatever is committed meanwhile, by its callbacks too. Slices given to
// callbacks are valid only until they return, and are not to be changed. Callbacks may read with the same Reader.
type Reader interface {
	// Get calls fn with the value of key, or reports false without calling it.
	Get(key []byte, fn func(value []byte) error) (bool, error)

	// Scan calls fn for the keys in [start, end) in order until fn returns false or an error. A start without bytes is
	// the first key, and an end without bytes is behind the last one. The caller leaves both as they are until it returns.
	Scan(start, end []byte, o ScanOptions, fn func(key, value []byte) (bool, error)) error
}

// ManyGetter is a Reader that looks for several keys at the same time, in less time than for one after the other.
type ManyGetter interface {
	// GetMany calls fn for each of some keys, in their order, with its value, or with nil if it has none, until fn returns
	// false or an error.
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
// nothing of its arguments, but for those of Lend. If it refuses a write the Update fails with the reason.
type Txn interface {
	Reader
	// Put sets the value of a key.
	Put(key, value []byte)

	// Delete removes a key.
	Delete(key []byte)

	// Merge folds a delta into the value of a key.
	Merge(key, delta []byte)
}

// Lender is a Txn that can do without copies of keys and values.
type Lender interface {
	// Lend writes an operation, see Lend.
	Lend(op Op)
}

// Lend has a transaction write operations. Their keys and values stay as they are until the Update is done or runs its
// function again, so the transaction need not copy them.
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

// WriteTo has a transaction write the operation.
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

	// Commit applies ops atomically, those on one key in their order, and calls done exactly once when they are as
	// durable as the engine was opened to make them: before it returns, or at any time later from another goroutine. It
	// keeps ops until then, and blocks while its queue is full. A reader that starts after done sees them; others may
	// see them or not, but all or nothing. Commits that are under way at the same time are applied in any order. done is
	// short and calls neither Commit nor Update: other commits may be waiting for it.
	Commit(ops []Op, done func(error))

	// Update runs fn and commits what it wrote, or fails with fn's error or another and changes nothing. It calls done
	// exactly once with the outcome, as Commit does, and blocks while the queue is full. Updates that
	// share a guard run one after the other. What fn puts or deletes does not undo a commit that fn did not see: the
	// Update fails with ErrConflict then, or runs fn again. So fn may run more than once, and only what it did the last
	// time counts. It calls neither Commit nor Update. ctx ends the waiting for fn to run, not more. The
	// caller leaves guards as they are until done is called.
	Update(ctx context.Context, guards [][]byte, fn func(Txn) error, done func(error))

	// DeleteRange removes the keys that Scan would give, not atomically; only for keys that nobody writes any more and
	// no reader that begins later asks for. Views under way see them to their end.
	DeleteRange(start, end []byte) error

	// Sync returns when every commit whose done was called before is safe from a power cut, where the engine
	// can make it so.
	Sync() error

	// Refusing says why commits are refused at the moment, or is nil.
	Refusing() error

	// Limits returns the most that the engine takes.
	Limits() Limits

	// Close waits until what was taken is answered and readers have ended. All else answers ErrClosed from then on.
	Close() error
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

// Snapshotter is an Engine that can go back to what it held. Neither method takes longer for many keys than for few.
type Snapshotter interface {
	Engine

	// Snapshot returns what the engine holds.
	Snapshot() Snapshot

	// Restore makes the engine hold what a snapshot has: of this engine, or of another one of its kind with the same
	// Fold. Views under way go on with what there was, and Updates under way run their functions again.
	Restore(Snapshot) error
}

// Snapshot is what an engine held at one time. It never changes.
type Snapshot interface {
	// Open opens another engine, which holds the same. What is written to one of them is not in the other. It takes no
	// longer for many keys than for few.
	Open(Fold) Engine
}

// Clock is an Engine that several processes share and that tells all of them the same time, whatever their own clocks
// say. An engine that is shared has to be one.
type Clock interface {
	Engine

	// Now returns the time of the shared clock at some moment of the call. The clock never goes back.
	Now(ctx context.Context) (time.Time, error)

	// Step is how much the clock may be behind: what Now returns is rounded down to steps of this size at most.
	Step() time.Duration
}

// Remote is an Engine that may have its data on other machines. Its reads and updates wait for the network.
type Remote interface {
	Engine

	// Remote reports whether it has.
	Remote() bool
}

// Splitter is an Engine that has ranges of keys on different machines.
type Splitter interface {
	Engine

	// Parts is how many ranges a table is to have from the beginning, so that what is written to it at first is not all on
	// one machine.
	Parts() int

	// Split has ranges begin at keys. It does not wait, and nothing depends on whether it can be done.
	Split(keys [][]byte)
}

// Update runs an update of an engine with one guard and waits for its outcome.
func Update(ctx context.Context, e Engine, guard []byte, fn func(Txn) error) error {
	outcome := make(chan error, 1)
	e.Update(ctx, [][]byte{guard}, fn, func(err error) { outcome <- err })
	return <-outcome
}

// Limits are the most that an engine takes. It refuses more with ErrTooLarge. A value that only folding makes longer
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
