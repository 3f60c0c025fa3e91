package exec

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/exec/filter"
)

// checkIndexed notes the first value, or element of a collection, that an index refuses. The write is refused when all
// its statements are evaluated.
func (w *writing) checkIndexed(t *schema.Table, c *schema.Column, name, value []byte) {
	if len(t.Indexes) == 0 || w.unindexed != nil {
		return
	}
	for _, x := range t.Indexes {
		if x.Column() != c.Name {
			continue
		}
		_, isVector := c.Type.(*types.Vector)
		switch x.Kind() {
		case schema.LegacyIndex:
			if n := indexedSize(c, x.Part(), name, value); n >= filter.MaxLegacyValue {
				w.unindexed = cqlerr.Invalidf("Cannot index value of size %d for index %s on %s.%s(%s) (maximum allowed size=%d)",
					n, x.Name, quote.Name(t.Keyspace), quote.Name(t.Name), c.Name, filter.MaxLegacyValue)
			}
		case schema.SAI:
			w.guardIndexed(x, c, name, value)
			if isVector && value != nil {
				w.unindexed = checkVector(x, value, c.Type)
			}
		}
	}
}

// checkTerms refuses values that indexes do not take.
func (w *writing) checkTerms() error {
	if err := w.guardTerms(); err != nil {
		return err
	}
	return w.unindexed
}

// indexedSize is the number of bytes of a cell that go into an index, also those of a deleted element.
func indexedSize(c *schema.Column, part schema.IndexPart, name, value []byte) int {
	_, isSet := c.Type.(*types.Set)
	switch {
	case part == schema.IndexKeys || isSet && types.IsMultiCell(c.Type):
		return len(name)
	case part == schema.IndexEntries:
		return len(name) + len(value) + filter.EntryOverhead
	}
	return len(value)
}
