package exec

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/expr"
)

// maxIndexed is how many bytes are too many for a value in an index of the first kind.
const maxIndexed = 65535

// checkIndexed notes the first value, or part of one, that an index cannot have. It is complained of when all statements
// of a write are evaluated.
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
			if n := indexedSize(c, x.Part(), name, value); n >= maxIndexed {
				w.unindexed = cqlerr.Invalidf("Cannot index value of size %d for index %s on %s.%s(%s) (maximum allowed size=%d)",
					n, x.Name, schema.QuoteName(t.Keyspace), schema.QuoteName(t.Name), c.Name, maxIndexed)
			}
		case schema.SAI:
			if isVector && value != nil && x.Similarity() == "COSINE" && isZero(value, c.Type) {
				w.unindexed = errZeroVector()
			}
		}
	}
}

// entryOverhead is what an entry of a map in an index has beside its key and its value.
const entryOverhead = 6

// indexedSize is how many bytes of a cell go into an index. What stands for a deleted one goes into it, too.
func indexedSize(c *schema.Column, part schema.IndexPart, name, value []byte) int {
	_, isSet := c.Type.(*types.Set)
	switch {
	case part == schema.IndexKeys || isSet && types.IsMultiCell(c.Type):
		return len(name)
	case part == schema.IndexEntries:
		return len(name) + len(value) + entryOverhead
	}
	return len(value)
}

// legacyCondition is a filter that an index of the first kind serves: it compares like any other, but not values of any
// size.
func legacyCondition(x *expr.Context, f *planner.Filter) (condition, error) {
	plain := *f
	plain.Index = nil
	test, err := filterCondition(x, &plain)
	if err != nil {
		return nil, err
	}
	n := 0
	if f.Contains != nil {
		value, key, err := containsValues(x, f.Contains)
		if err != nil {
			return nil, err
		}
		n = len(value)
		if key != nil {
			n += len(key) + entryOverhead
		}
	} else {
		ps, err := filterPoints(x, f.Choice)
		if err != nil {
			return nil, err
		}
		n = len(ps[0][0])
	}
	if n > maxIndexed {
		return nil, cqlerr.Invalidf("Index expression values may not be larger than 64K")
	}
	return test, nil
}
