package memory

import "github.com/cqld/cqld/store/engine"

// Snapshot is what an engine held at one time. It never changes, and holds memory for the rows that were changed since.
type Snapshot struct{ tree tree }

// Snapshot returns what the engine holds.
func (e *Engine) Snapshot() *Snapshot { return &Snapshot{e.freeze()} }

// freeze returns the tree, which the engine does not change from then on: it goes on with a tree that shares its nodes.
func (e *Engine) freeze() tree {
	e.mu.Lock()
	defer e.mu.Unlock()
	t := e.tree
	e.tree.edit = newEdit()
	return t
}

// Restore makes the engine hold what a snapshot has, of this engine or another one with the same Fold. Reads that are
// under way go on with what there was.
func (e *Engine) Restore(s *Snapshot) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed.Load() {
		return engine.ErrClosed
	}
	p := e.beginWriting(true)
	e.tree.root, e.tree.level = s.tree.root, s.tree.level
	e.publish(p)
	return nil
}

// Fork opens another engine that holds the same. What is written to one of them is not in the other.
func (e *Engine) Fork() *Engine {
	t := e.freeze()
	t.edit = newEdit()
	return open(e.fold, t)
}
