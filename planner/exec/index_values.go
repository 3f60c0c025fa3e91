package exec

import (
	"bytes"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
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
			if isVector && value != nil {
				w.unindexed = checkVector(x, value, c.Type)
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

// legacyCondition is a filter that an index of the first kind serves: one that finds the rows compares bytes, others compare
// like any filter. Neither takes values of any size.
func legacyCondition(x *expr.Context, f *where.Filter) (condition, error) {
	plain := *f
	plain.Index = nil
	test, err := filterCondition(x, &plain)
	if err != nil {
		return nil, err
	}
	n := 0
	column := f.Columns()[0].Index
	var equal condition
	if f.Contains != nil {
		value, key, err := containsValues(x, f.Contains)
		if err != nil {
			return nil, err
		}
		n = len(value)
		if key != nil {
			n += len(key) + entryOverhead
		}
		_, isMap := f.Contains.Column.Type.(*types.Map)
		equal = func(row [][]byte) (bool, error) {
			if isMap {
				return hasEntryBytes(row[column], f.Contains.Keys, key, value), nil
			}
			return hasElementBytes(row[column], value), nil
		}
	} else {
		ps, err := filterPoints(x, f.Choice)
		if err != nil {
			return nil, err
		}
		want := ps[0][0]
		n = len(want)
		equal = func(row [][]byte) (bool, error) { return row[column] != nil && bytes.Equal(row[column], want), nil }
	}
	if n > maxIndexed {
		return nil, cqlerr.Invalidf("Index expression values may not be larger than 64K")
	}
	if f.Bytes {
		return equal, nil
	}
	return test, nil
}

// hasElementBytes is hasElement for an element of just these bytes.
func hasElementBytes(collection, value []byte) bool {
	if collection == nil {
		return false
	}
	for e := range types.Elements(collection) {
		if e != nil && bytes.Equal(e, value) {
			return true
		}
	}
	return false
}

// hasEntryBytes is hasEntry for a key or value of just these bytes.
func hasEntryBytes(collection []byte, byKey bool, key, value []byte) bool {
	if collection == nil {
		return false
	}
	for k, v := range types.Entries(collection) {
		found := v
		if byKey {
			found = k
		}
		if (key == nil || bytes.Equal(k, key)) && bytes.Equal(found, value) {
			return true
		}
	}
	return false
}
