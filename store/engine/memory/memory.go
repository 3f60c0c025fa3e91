// Package memory is an engine that keeps everything in memory, for cqld --memory and for tests.
//
// Its rows are in a copy-on-write B+tree (see tree). A commit is applied on the caller's goroutine under the one lock
// of writers, and is answered before Commit returns. Readers take no lock: they read the tree that the last commit
// has published. Only while a short commit is being applied they wait for it. Nodes are changed in place if nobody
// reads them, so a write copies the path to its row only if a read is under way, or a Snapshot was made since the
// write before (see publish).
//
// An Update runs its function on the published tree without the lock. When it commits, it looks whether a key that it
// puts or deletes has changed meanwhile, and runs the function again in that case. Updates run one after the other,
// whatever their guards are.
//
// A merge is folded when it is written; into a long value only now and then (see Engine.merge).
//
// A Snapshot, Restore and a Fork take no longer for many rows than for few: they share the tree.
package memory

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/publish"
	"github.com/cqld/cqld/store/engine/tree"
)

// Engine is the engine; see engine.Engine for what its methods promise.
type Engine struct {
	fold     engine.Fold
	current  publish.Place[version, struct{}]
	updating engine.Turn  // of updates
	under    atomic.Int64 // commits and updates that are not answered
	closed   atomic.Bool  // is set with the lock held

	mu       sync.Mutex // held to write
	tree     tree.Tree
	version  uint64    // counts changes of the tree
	restored uint64    // the version after the last Restore
	path     tree.Path // of the row that is being written
	folded   engine.FoldBuffer
	undo     []undo // of the commit that is being applied
}

var _ engine.Engine = (*Engine)(nil)

// Open makes an empty engine.
func Open(fold engine.Fold) *Engine { return open(fold, tree.New()) }

// open makes an engine with a tree whose number nobody else has.
func open(fold engine.Fold, t tree.Tree) *Engine {
	e := &Engine{fold: fold, tree: t, updating: engine.NewTurn()}
	e.publish(nil)
	return e
}

// Limits of the engine. A write has the length that Cassandra takes. A key has room for a partition key and clustering
// columns of 65,535 bytes each, which are up to twice as long as stored. The number of operations bounds what a
// statement gathers before it is refused.
const (
	maxKey    = 4*65535 + 1<<14
	maxCommit = 16 << 20
	maxOps    = 1 << 17
)

// Limits says what a commit may have at most.
func (*Engine) Limits() engine.Limits {
	return engine.Limits{Key: maxKey, Value: maxCommit, CommitBytes: maxCommit, CommitOps: maxOps}
}

// Refusing is nil: it takes all commits.
func (*Engine) Refusing() error { return nil }

// Sync has nothing to do: there is no disk.
func (e *Engine) Sync() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed.Load() {
		return engine.ErrClosed
	}
	return nil
}

// Close waits for the commits and updates that are not answered and for the reads under way. What the engine holds can
// still be had with Snapshot and Fork.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed.Load() {
		e.mu.Unlock()
		return engine.ErrClosed
	}
	e.closed.Store(true)
	e.current.Close()
	e.mu.Unlock()
	for i := 0; e.busy(); i++ {
		if i < 100 {
			runtime.Gosched()
		} else {
			time.Sleep(time.Millisecond)
		}
	}
	return nil
}

// busy reports whether a closed engine still has to wait for somebody.
func (e *Engine) busy() bool {
	if e.under.Load() != 0 {
		return true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.current.Forget()
}
