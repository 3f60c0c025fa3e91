package memory

import (
	"fmt"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/tree"
)

var _ engine.Snapshotter = (*Engine)(nil)

// Snapshot is what an engine held at one time. It never changes, and holds memory for the rows that were changed since.
type Snapshot struct{ tree tree.Tree }

// Snapshot returns what the engine holds.
func (e *Engine) Snapshot() engine.Snapshot { return &Snapshot{e.freeze()} }

// Open opens an engine that holds the same.
func (s *Snapshot) Open(fold engine.Fold) engine.Engine {
	t := s.tree
	t.Detach()
	return open(fold, t)
}

// freeze returns the tree, which the engine does not change from then on: it goes on with a tree that shares its nodes.
func (e *Engine) freeze() tree.Tree {
	e.mu.Lock()
	defer e.mu.Unlock()
	t := e.tree
	e.tree.Detach()
	return t
}

// Restore makes the engine hold what a snapshot has, of this engine or another one with the same Fold. Reads that are
// under way go on with what there was, and updates run again.
func (e *Engine) Restore(snapshot engine.Snapshot) error {
	s, ok := snapshot.(*Snapshot)
	if !ok {
		return fmt.Errorf("a %T is no snapshot of an engine in memory", snapshot)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed.Load() {
		return engine.ErrClosed
	}
	p := e.beginWriting(true)
	e.restored = e.version
	e.tree = s.tree
	e.tree.Detach()
	e.publish(p)
	return nil
}

// Fork opens another engine that holds the same. What is written to one of them is not in the other.
func (e *Engine) Fork() *Engine {
	t := e.freeze()
	t.Detach()
	return open(e.fold, t)
}
