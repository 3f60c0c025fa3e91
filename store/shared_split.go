package store

import (
	"slices"

	"github.com/cqld/cqld/store/index"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// A new table has no rows, and an engine on several machines has it all on one. So the node that defines a table tells
// such an engine where to split it: by token, as its rows are spread. The entries of an index are sorted by their
// values, of which nothing is known before, so an index is only split from what comes before it.

// splitNew has the engine split the tables and indexes that a definition has added.
func (s *definer) splitNew(old, next *state) {
	e, ok := s.engine.(engine.Splitter)
	if !ok || e.Parts() < 2 {
		return
	}
	for _, id := range next.ids {
		if !old.live[id] {
			e.Split(rows.SplitKeys(id, e.Parts()))
		}
	}
	for _, all := range next.indexes {
		for _, x := range all {
			known := slices.ContainsFunc(old.indexes[x.TableID], func(o *index.Index) bool { return o.ID == x.ID })
			if !known && x.View == nil {
				e.Split(rows.SplitKeys(x.ID, 1))
			}
		}
	}
}
