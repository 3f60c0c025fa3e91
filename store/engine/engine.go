// Package engine is the contract of an ordered key-value engine: what the store needs from whatever
// keeps its bytes. Badger stands behind it in engine/badger; a distributed engine can later.
//
// Keys compare as unsigned bytes. Values are never empty. Nothing of an engine's own notions of
// versions, expiry or timestamps shows through: cell timestamps, TTLs and tombstones are the store's.
package engine

import (
	"context"
	"errors"
)

// ErrConflict says that an Update lost a race and nothing was applied.
var ErrConflict = errors.New("engine: conflicting update")

// ErrTooLarge says that a commit is over the engine's limits and nothing was applied.
var ErrTooLarge = errors.New("engine: commit too large")

// ErrFull says that there is no room for a commit and nothing was applied. It may work later.
var ErrFull = errors.New("there is no room on the disk")

// ErrUnknown says that a commit may or may not have been applied.
var ErrUnknown = errors.New("engine: outcome unknown")

// ErrClosed says that the engine has been closed.
var ErrClosed = errors.New("engine: closed")

// Fold merges a delta into what a key holds (nil when it holds nothing) and returns the new value. The
// store gives it to the engine at open. It must not keep or change its arguments, and folding deltas in
// any order must give the same value.
type Fold func(key, existing, delta []byte) []byte

// Reader reads one consistent snapshot. Slices given to callbacks are valid only until they return.
type Reader interface {
	// Get calls fn with the value of key, or reports false without calling it.
	Get(key []byte, fn func(value []byte) error) (bool, error)

	// Scan calls fn for the keys in [start, end) in order until fn returns false or an error.
	Scan(start, end []byte, o ScanOptions, fn func(key, value []byte) (bool, error)) error
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

// Txn reads a snapshot plus its own writes.
type Txn interface {
	Reader
	Put(key, value []byte)
	Delete(key []byte)
	Merge(key, delta []byte)
}

// Engine is an ordered key-value engine. All methods may be called concurrently.
type Engine interface {
	Reader

	// View runs fn on one snapshot.
	View(fn func(Reader) error) error

	// Commit applies ops atomically and calls done exactly once when they are as durable as the engine
	// was opened to make them, perhaps from another goroutine. It keeps ops until then, and blocks while
	// its queue is full. A reader that starts after done sees them. done is short and calls neither Commit
	// nor Update: other commits may be waiting for it.
	Commit(ops []Op, done func(error))

	// Update runs fn and commits what it wrote. Updates with the same guard run one after the other;
	// fn may run more than once.
	Update(ctx context.Context, guard []byte, fn func(Txn) error) error

	// DeleteRange removes the keys in [start, end), not atomically; only for keys no reader can reach.
	DeleteRange(start, end []byte) error

	// Sync returns when every commit whose done was called before is safe from a power cut, where the engine
	// can make it so.
	Sync() error

	Limits() Limits
	Close() error
}

// Limits are the most an engine takes.
type Limits struct {
	Key         int // bytes of a key
	Value       int // bytes of a value
	CommitBytes int // bytes of all keys and values of a commit
	CommitOps   int
}
