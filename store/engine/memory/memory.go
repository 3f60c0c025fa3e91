// Package memory is the part of an engine that is in memory, and the engine of cqld --memory and of tests, which has
// no other part.
//
// A Front takes commits and serves reads. Its rows are in a Memtable, a copy-on-write B+tree (see tree). A commit is
// applied on the caller's goroutine under the one lock of writers. Readers take no lock: they read the version that
// the last commit has published (publish.go). Nodes are changed in place unless a read is under way, so a write copies
// the path to its row only if a read is under way, or a Snapshot was made since the write before.
//
// An Update runs its function on the published version without the lock. When it commits, it looks whether a key that
// it puts or deletes has changed meanwhile, and runs the function again in that case (optimistic concurrency control).
// Updates run one after the other, whatever their guards are.
//
// Below implements durability: engine/disk appends each commit to a log, freezes memtables and flushes them to Badger.
// A Front reads the memtable, the frozen memtables from the newest to the oldest, and Badger (reader.go). An Engine
// has no layers below its memtable. It has snapshots instead: Snapshot, Restore and Fork take no longer for many rows
// than for few, because they share the tree.
package memory

import (
	"errors"
	"fmt"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/tree"
)

// Engine keeps everything in memory. engine.Engine documents its methods.
type Engine struct{ Front }

var _ engine.Snapshotter = (*Engine)(nil)

// Open makes an empty engine.
func Open(fold engine.Fold) *Engine { return open(fold.Recovering(), tree.New()) }

// noLayers are below the memtable of an Engine.
var noLayers = new(Layers)

// open makes an engine with a tree whose nodes are not changed in place by another engine.
func open(fold engine.Fold, t tree.Tree) *Engine {
	e := new(Engine)
	e.init(fold, nothing{}, t, noLayers)
	return e
}

// maxKey has room for a partition key and clustering columns of 65,535 bytes each, which are up to twice as long as
// stored.
const maxKey = 4*65535 + 1<<14

// Limits returns the limits of a commit.
func (*Engine) Limits() engine.Limits {
	return engine.Limits{Key: maxKey, Value: MaxCommit, CommitBytes: MaxCommit, CommitOps: MaxOps}
}

// Refusing says why commits are refused. The engine takes all of them, until one panics.
func (e *Engine) Refusing() error { return e.Refused() }

// Sync has nothing to do: there is no disk.
func (e *Engine) Sync() error {
	if e.IsClosed() {
		return engine.ErrClosed
	}
	return nil
}

// Snapshot is the immutable state of an engine at one time. It keeps the rows that were overwritten since.
type Snapshot struct{ tree tree.Tree }

// Snapshot returns the engine's state, even of a closed engine.
func (e *Engine) Snapshot() engine.Snapshot { return &Snapshot{e.share()} }

// Open opens an engine with the snapshot's state.
func (s *Snapshot) Open(fold engine.Fold) engine.Engine {
	t := s.tree
	t.Detach()
	return open(fold.Recovering(), t)
}

// Fork opens another engine with the same state. Writes to one of them do not change the other.
func (e *Engine) Fork() *Engine {
	t := e.share()
	t.Detach()
	return open(e.fold, t)
}

// share returns the tree. The engine goes on with a tree that shares its nodes and copies them before it changes them.
func (e *Engine) share() tree.Tree {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	t := e.Memtable.tree
	e.Memtable.tree.Detach()
	return t
}

// Restore replaces the engine's state by that of a snapshot, of this engine or of another one with the same Fold.
// Reads that are under way go on with the state that they began on, and updates run again.
func (e *Engine) Restore(snapshot engine.Snapshot) error {
	s, ok := snapshot.(*Snapshot)
	if !ok {
		return fmt.Errorf("a %T is no snapshot of an engine in memory", snapshot)
	}
	e.Mu.Lock()
	defer e.Mu.Unlock()
	if e.IsClosed() {
		return engine.ErrClosed
	}
	if err := e.Refused(); err != nil {
		return err
	}
	v := e.beginWriting(true)
	e.restored = e.changes
	e.Memtable.tree = s.tree
	e.Memtable.tree.Detach()
	e.publish(v)
	return nil
}

// nothing is the Below of an Engine.
type nothing struct{}

var errEmptyKey = errors.New("engine: a key is empty")

// CheckKey refuses empty and too long keys.
func (nothing) CheckKey(key []byte) error {
	switch {
	case len(key) == 0:
		return errEmptyKey
	case len(key) > maxKey:
		return engine.ErrTooLarge
	}
	return nil
}

// Damage is nil.
func (nothing) Damage() error { return nil }

// Admit admits all commits.
func (nothing) Admit([]engine.Op, int, bool) error { return nil }

// Append has nothing to append to.
func (nothing) Append([]engine.Op) (full bool, _ error) { return false, nil }

// Defer acknowledges at once.
func (nothing) Defer(func(error)) bool { return false }
