package exec

import (
	"encoding/binary"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec/filter"
	"github.com/cqld/cqld/planner/exec/restriction"
	"github.com/cqld/cqld/planner/expr"
)

// rowConditions are the conditions on one row, or on the static columns of a partition.
type rowConditions struct {
	clustering        [][]byte
	exists, notExists bool
	tests             []rowTest // where neither is set
}

// cleared is a value without conditions that reuses the buffers of r.
func (r *rowConditions) cleared() rowConditions {
	for i := range r.tests {
		r.tests[i] = rowTest{values: r.tests[i].emptied()}
	}
	return rowConditions{tests: r.tests[:0]}
}

// rowTest is a condition with its values. Of IN, one has to be equal.
type rowTest struct {
	*planner.Condition
	part   types.Value
	values []types.Value
}

// maxKeptValues is the largest number of values of a test whose buffer is worth keeping.
const maxKeptValues = 64

// emptied is the buffer of the values of a test.
func (t *rowTest) emptied() []types.Value {
	if cap(t.values) > maxKeptValues {
		return nil
	}
	clear(t.values)
	return t.values[:0]
}

// addConditions adds the conditions of a modification on a row; nil: it has conditions on static columns only.
func (c *conditional) addConditions(m *planner.Modification, row [][]byte) error {
	if m.If.Exists || m.If.NotExists {
		return c.addExistence(m, row)
	}
	if len(m.If.Rows) > 0 {
		if err := c.addTests(c.conditionsOf(row), m.If.Rows); err != nil {
			return err
		}
	}
	if len(m.If.Statics) > 0 {
		return c.addTests(c.conditionsOf(nil), m.If.Statics)
	}
	return nil
}

// conditionsOf returns the conditions of a row that were added so far; nil: those of the static columns.
func (c *conditional) conditionsOf(row [][]byte) *rowConditions {
	if row == nil {
		c.hasStatic = true
		return &c.static
	}
	i, found := c.find(row)
	if !found {
		r := &c.first
		if len(c.rows) > 0 {
			r = new(rowConditions)
		}
		r.clustering = row
		c.rows = slices.Insert(c.rows, i, r)
	}
	return c.rows[i]
}

// addExistence adds IF EXISTS or IF NOT EXISTS. Several modifications of a row may have the same.
func (c *conditional) addExistence(m *planner.Modification, row [][]byte) error {
	r := c.conditionsOf(row)
	switch {
	case len(r.tests) > 0 && m.If.NotExists:
		return cqlerr.Invalidf("Cannot mix IF conditions and IF NOT EXISTS for the same row")
	case len(r.tests) > 0:
		return cqlerr.Invalidf("Cannot mix IF conditions and IF EXISTS for the same row")
	case r.exists && m.If.NotExists || r.notExists && m.If.Exists:
		return cqlerr.Invalidf("Cannot mix IF EXISTS and IF NOT EXISTS conditions for the same row")
	}
	r.exists, r.notExists = m.If.Exists, m.If.NotExists
	return nil
}

// addTests adds conditions on columns.
func (c *conditional) addTests(r *rowConditions, conditions []*planner.Condition) error {
	if r.exists || r.notExists {
		return cqlerr.Invalidf("Cannot mix IF conditions and IF NOT EXISTS for the same row")
	}
	for _, condition := range conditions {
		n := len(r.tests)
		r.tests = slices.Grow(r.tests, 1)[:n+1] // with the buffer that a test had there
		t := &r.tests[n]
		t.Condition = condition
		if err := t.bind(&c.x); err != nil {
			return err
		}
		c.unsetCells = c.unsetCells || t.isOfCells() && slices.ContainsFunc(t.values, func(v types.Value) bool { return v.Unset })
	}
	return nil
}

// bind evaluates the values, which are valid as long as those of the request.
func (t *rowTest) bind(x *expr.Context) (err error) {
	if t.Part != nil {
		if t.part, err = t.Part.Eval(x); err != nil {
			return err
		}
	}
	if t.List != nil {
		list, err := t.List.Eval(x)
		switch {
		case err != nil:
			return err
		case list.Unset:
			return errUnsetCondition()
		case list.Bytes == nil:
			return cqlerr.Invalidf("Invalid null list in IN condition")
		}
		for e := range types.Elements(list.Bytes) {
			t.values = append(t.values, types.Value{Bytes: e})
		}
		return nil
	}
	for _, e := range t.Values {
		v, err := e.Eval(x)
		if err != nil {
			return err
		}
		if v.Unset && t.Op == planner.OpIn {
			continue
		}
		t.values = append(t.values, v)
	}
	return nil
}

// isOfCells reports whether the condition compares a whole set or map whose elements are cells.
func (t *rowTest) isOfCells() bool {
	if t.Part != nil || t.Op == planner.OpContains || t.Op == planner.OpContainsKey {
		return false
	}
	switch t.Column.Type.(type) {
	case *types.Set, *types.Map:
		return types.IsMultiCell(t.Column.Type)
	}
	return false
}

func errUnsetCondition() error { return cqlerr.Invalidf("Invalid 'unset' value in condition") }

// hold reports whether a row meets all conditions; nil: the row does not exist.
func (r *rowConditions) hold(x *expr.Context, row [][]byte) (bool, error) {
	switch {
	case r.notExists:
		return row == nil, nil
	case r.exists:
		return row != nil, nil
	}
	for i := range r.tests {
		if i > 0 {
			if err := restriction.Step(x); err != nil {
				return false, err
			}
		}
		t := &r.tests[i]
		var value []byte
		if row != nil {
			value = row[t.Column.Index]
		}
		if holds, err := t.holds(value); !holds || err != nil {
			return false, err
		}
	}
	return true, nil
}

// holds reports whether the value of the column meets the condition.
func (t *rowTest) holds(value []byte) (bool, error) {
	var err error
	switch {
	case t.Part != nil:
		value, err = t.element(value)
	case t.Field >= 0:
		value = field(t.Column, value, t.Field)
	}
	if err != nil {
		return false, err
	}
	for _, v := range t.values {
		if holds, err := t.compare(value, v); holds || err != nil {
			return holds, err
		}
	}
	return false, nil
}

// element is the element of a collection that the condition is about; nil: there is none.
func (t *rowTest) element(collection []byte) ([]byte, error) {
	m, isMap := t.Column.Type.(*types.Map)
	if isMap {
		key := t.part.Bytes
		switch {
		case t.part.Unset:
			key = []byte{} // as Cassandra has it
		case key == nil:
			return nil, cqlerr.Invalidf("Invalid null value for map element access")
		}
		if collection == nil {
			return nil, nil
		}
		for k, v := range types.Entries(collection) {
			if m.Key.Compare(k, key) == 0 {
				return v, nil
			}
		}
		return nil, nil
	}
	if len(t.part.Bytes) != 4 {
		return nil, cqlerr.Invalidf("Invalid null value for list element access")
	}
	if collection == nil && !types.IsMultiCell(t.Column.Type) {
		return nil, nil
	}
	i := int32(binary.BigEndian.Uint32(t.part.Bytes))
	if i < 0 {
		return nil, cqlerr.Invalidf("Invalid negative list index %d", i)
	}
	if collection == nil {
		return nil, nil
	}
	for e := range types.Elements(collection) {
		if i == 0 {
			return e, nil
		}
		i--
	}
	return nil, nil
}

// field is a field of a value of a user type.
func field(c *schema.Column, value []byte, at int) []byte {
	if value == nil {
		return nil
	}
	return types.TupleFields(value, len(c.Type.(*types.UserType).Fields))[at]
}

// compare compares the stored value with one value of the condition.
func (t *rowTest) compare(stored []byte, v types.Value) (bool, error) {
	op := t.Op
	if op == planner.OpIn {
		op = planner.OpEq
	}
	contains := op == planner.OpContains || op == planner.OpContainsKey
	value := v.Bytes
	switch {
	case v.Unset && contains:
		value = []byte{} // as Cassandra has it
	case v.Unset:
		return false, errUnsetCondition()
	}
	whole := t.Part == nil && t.Field < 0
	if value != nil && whole && !contains && isEmptyCollection(t.Column.Type, value) {
		if op != planner.OpEq && op != planner.OpNotEq {
			return false, cqlerr.Invalidf("Invalid comparison with an empty %s for operator \"%s\"", collectionKind(t.Column.Type), op)
		}
		value = nil // that is what an empty one is stored as
	}
	switch {
	case value == nil && op == planner.OpEq:
		return stored == nil, nil
	case value == nil && op == planner.OpNotEq:
		return stored != nil, nil
	case value == nil:
		return false, cqlerr.Invalidf("Invalid comparison with null for operator \"%s\"", op)
	case stored == nil:
		return op == planner.OpNotEq, nil
	case contains:
		return t.contains(stored, value), nil
	}
	o := t.Of.Compare(stored, value)
	switch op {
	case planner.OpEq:
		return o == 0, nil
	case planner.OpNotEq:
		return o != 0, nil
	case planner.OpLess:
		return o < 0, nil
	case planner.OpLessEq:
		return o <= 0, nil
	case planner.OpGreater:
		return o > 0, nil
	}
	return o >= 0, nil
}

// contains reports whether a collection has a value, for CONTAINS, or a key, for CONTAINS KEY.
func (t *rowTest) contains(collection, value []byte) bool {
	if m, isMap := t.Column.Type.(*types.Map); isMap {
		return filter.HasEntry(collection, m, t.Op == planner.OpContainsKey, nil, value)
	}
	return filter.HasElement(collection, t.Of, value)
}

// isEmptyCollection reports whether a value is an empty collection of a type whose elements are cells.
func isEmptyCollection(t types.Type, value []byte) bool {
	return collectionKind(t) != "" && types.IsMultiCell(t) && len(value) >= 4 && binary.BigEndian.Uint32(value) == 0
}

// collectionKind is the name of a type of collections in errors; "" for other types.
func collectionKind(t types.Type) string {
	switch t.(type) {
	case *types.List:
		return "list"
	case *types.Set:
		return "set"
	case *types.Map:
		return "map"
	}
	return ""
}
