package filter

import (
	"bytes"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
)

// containsCondition is the condition of CONTAINS, CONTAINS KEY and m[k] = v.
func containsCondition(x *expr.Context, c *where.Contains) (Condition, error) {
	value, key, err := containsValues(x, c)
	if err != nil {
		return nil, err
	}
	i := c.Column.Index
	m, isMap := c.Column.Type.(*types.Map)
	if !isMap {
		elem := c.Value.Type()
		return func(row [][]byte) (bool, error) { return HasElement(row[i], elem, value), nil }, nil
	}
	return func(row [][]byte) (bool, error) { return HasEntry(row[i], m, c.Keys, key, value), nil }, nil
}

// containsValues evaluates what is looked for in a collection: a value, and the key in m[k] = v.
func containsValues(x *expr.Context, c *where.Contains) (value, key []byte, err error) {
	v, err := c.Value.Eval(x)
	if err != nil {
		return nil, nil, err
	}
	if err := CheckValue(v, c.Column); err != nil {
		return nil, nil, err
	}
	if c.Key == nil {
		return v.Bytes, nil, nil
	}
	k, err := c.Key.Eval(x)
	if err != nil {
		return nil, nil, err
	}
	if k.Bytes == nil {
		return nil, nil, cqlerr.Invalidf("Unsupported null map key for column %s", c.Column.Name)
	}
	return v.Bytes, k.Bytes, nil
}

// HasElement reports whether a list or set has an element.
func HasElement(collection []byte, elem types.Type, value []byte) bool {
	if collection == nil {
		return false
	}
	for e := range types.Elements(collection) {
		if e != nil && elem.Compare(e, value) == 0 {
			return true
		}
	}
	return false
}

// HasEntry reports whether a map has the value as a key (byKey), or as the value of any key or of the given one.
func HasEntry(collection []byte, m *types.Map, byKey bool, key, value []byte) bool {
	if collection == nil {
		return false
	}
	for k, v := range types.Entries(collection) {
		switch {
		case key != nil && !bytes.Equal(k, key):
		case byKey && m.Key.Compare(k, value) == 0:
			return true
		case !byKey && m.Value.Compare(v, value) == 0:
			return true
		}
	}
	return false
}
