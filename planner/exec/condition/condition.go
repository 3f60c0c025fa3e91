// Package condition compares rows with the conditions of conditional writes (IF).
//
// A Set has the conditions of all modifications of one execution, by the rows that they name. Set.Add evaluates their
// values; Set.Hold compares stored rows with them. It reads no rows itself.
package condition

import (
	"cmp"
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

// Set has the conditions on the rows of one partition. It may be reused after Clear.
type Set struct {
	hasStatic  bool
	static     row    // if hasStatic is set
	rows       []*row // in the order of rows
	first      row    // is one of rows, if there are any
	unsetCells bool
}

// Clear removes all conditions, and keeps the buffers.
func (s *Set) Clear() {
	clear(s.rows)
	*s = Set{rows: s.rows[:0], first: s.first.cleared(), static: s.static.cleared()}
}

// Len is the number of rows that have conditions.
func (s *Set) Len() int { return len(s.rows) }

// Clustering is the clustering of the i-th row.
func (s *Set) Clustering(i int) [][]byte { return s.rows[i].clustering }

// Find returns the index of the row with a clustering, or the index at which it would be inserted.
func (s *Set) Find(t *schema.Table, clustering [][]byte) (at int, found bool) {
	return slices.BinarySearchFunc(s.rows, clustering, func(r *row, clustering [][]byte) int {
		return Compare(t, r.clustering, clustering)
	})
}

// Compare orders clusterings. Their last values may be null in a table WITH COMPACT STORAGE.
func Compare(t *schema.Table, a, b [][]byte) int {
	for i, column := range t.Clustering {
		switch {
		case a[i] == nil && b[i] == nil:
			return 0
		case a[i] == nil:
			return -1
		case b[i] == nil:
			return 1
		}
		if o := restriction.ByClustering(column, a[i], b[i]); o != 0 {
			return o
		}
	}
	return 0
}

// Add adds the conditions of a modification on the row with a clustering; nil: they are on static columns only. Their
// values are valid as long as the values of the context.
func (s *Set) Add(x *expr.Context, m *planner.Modification, clustering [][]byte) error {
	if m.If.Exists || m.If.NotExists {
		return s.of(m.Table, clustering).addExistence(m.If)
	}
	if len(m.If.Rows) > 0 {
		if err := s.addTests(x, s.of(m.Table, clustering), m.If.Rows); err != nil {
			return err
		}
	}
	if len(m.If.Statics) > 0 {
		return s.addTests(x, s.of(m.Table, nil), m.If.Statics)
	}
	return nil
}

// of returns the conditions of a row that were added so far; nil: the conditions of the static columns.
func (s *Set) of(t *schema.Table, clustering [][]byte) *row {
	if clustering == nil {
		s.hasStatic = true
		return &s.static
	}
	i, found := s.Find(t, clustering)
	if !found {
		r := &s.first
		if len(s.rows) > 0 {
			r = new(row)
		}
		r.clustering = clustering
		s.rows = slices.Insert(s.rows, i, r)
	}
	return s.rows[i]
}

// addTests adds conditions on columns.
func (s *Set) addTests(x *expr.Context, r *row, conditions []*planner.Condition) error {
	if r.exists || r.notExists {
		return cqlerr.Invalidf("Cannot mix IF conditions and IF NOT EXISTS for the same row")
	}
	for _, condition := range conditions {
		n := len(r.tests)
		r.tests = slices.Grow(r.tests, 1)[:n+1] // with the buffer of an earlier test
		t := &r.tests[n]
		t.Condition = condition
		if err := t.bind(x); err != nil {
			return err
		}
		s.unsetCells = s.unsetCells || t.isOfCells() && slices.ContainsFunc(t.values, func(v types.Value) bool { return v.Unset })
	}
	return nil
}

// Check refuses to compare a set or map of cells with an unset value. Cassandra fails before it compares anything.
func (s *Set) Check() error {
	if s.unsetCells {
		return errUnset()
	}
	return nil
}

func errUnset() error { return cqlerr.Invalidf("Invalid 'unset' value in condition") }

// Hold reports whether all conditions hold. rows has the values of each row by column index, nil if there is no such
// row, and static has the values of the static row.
func (s *Set) Hold(x *expr.Context, rows [][][]byte, static [][]byte) (bool, error) {
	if s.hasStatic {
		if holds, err := s.static.hold(x, static); !holds || err != nil {
			return false, err
		}
	}
	for i, r := range s.rows {
		if i > 0 {
			if err := restriction.Step(x); err != nil {
				return false, err
			}
		}
		if holds, err := r.hold(x, rows[i]); !holds || err != nil {
			return false, err
		}
	}
	return true, nil
}

// row has the conditions on one row, or on the static columns of a partition.
type row struct {
	clustering        [][]byte
	exists, notExists bool
	tests             []test // if neither is set
}

// cleared is a row without conditions that reuses the buffers of r.
func (r *row) cleared() row {
	for i := range r.tests {
		r.tests[i] = test{values: r.tests[i].buffer()}
	}
	return row{tests: r.tests[:0]}
}

// addExistence adds IF EXISTS or IF NOT EXISTS. Several modifications of a row may have the same.
func (r *row) addExistence(c *planner.Conditions) error {
	switch {
	case len(r.tests) > 0 && c.NotExists:
		return cqlerr.Invalidf("Cannot mix IF conditions and IF NOT EXISTS for the same row")
	case len(r.tests) > 0:
		return cqlerr.Invalidf("Cannot mix IF conditions and IF EXISTS for the same row")
	case r.exists && c.NotExists || r.notExists && c.Exists:
		return cqlerr.Invalidf("Cannot mix IF EXISTS and IF NOT EXISTS conditions for the same row")
	}
	r.exists, r.notExists = c.Exists, c.NotExists
	return nil
}

// hold reports whether a row meets all conditions; nil: the row does not exist. It does not if one condition is false,
// even where another cannot be compared: Cassandra stops at the one that is first in a hash map.
func (r *row) hold(x *expr.Context, values [][]byte) (bool, error) {
	switch {
	case r.notExists:
		return values == nil, nil
	case r.exists:
		return values != nil, nil
	}
	var failed error
	for i := range r.tests {
		if i > 0 {
			if err := restriction.Step(x); err != nil {
				return false, err
			}
		}
		t := &r.tests[i]
		var value []byte
		if values != nil {
			value = values[t.Column.Index]
		}
		switch holds, err := t.holds(value); {
		case err != nil:
			failed = cmp.Or(failed, err)
		case !holds:
			return false, nil
		}
	}
	return failed == nil, failed
}

// test is a condition with its values. One value of IN has to be equal.
type test struct {
	*planner.Condition
	part   types.Value
	values []types.Value
}

// maxKeptValues is the largest number of values of a test whose buffer is kept.
const maxKeptValues = 64

// buffer is the empty buffer of the values of a test.
func (t *test) buffer() []types.Value {
	if cap(t.values) > maxKeptValues {
		return nil
	}
	clear(t.values)
	return t.values[:0]
}

// bind evaluates the values, which are valid as long as the request's values.
func (t *test) bind(x *expr.Context) (err error) {
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
			return errUnset()
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
func (t *test) isOfCells() bool {
	if t.Part != nil || t.Op == planner.OpContains || t.Op == planner.OpContainsKey {
		return false
	}
	switch t.Column.Type.(type) {
	case *types.Set, *types.Map:
		return types.IsMultiCell(t.Column.Type)
	}
	return false
}

// holds reports whether the value of the column meets the condition.
func (t *test) holds(value []byte) (bool, error) {
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
func (t *test) element(collection []byte) ([]byte, error) {
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
func (t *test) compare(stored []byte, v types.Value) (bool, error) {
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
		return false, errUnset()
	}
	whole := t.Part == nil && t.Field < 0
	if value != nil && whole && !contains && isEmptyCollection(t.Column.Type, value) {
		if op != planner.OpEq && op != planner.OpNotEq {
			return false, cqlerr.Invalidf("Invalid comparison with an empty %s for operator \"%s\"", collectionKind(t.Column.Type), op)
		}
		value = nil // an empty one is stored as null
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
func (t *test) contains(collection, value []byte) bool {
	if m, isMap := t.Column.Type.(*types.Map); isMap {
		byKey, compare := t.Op == planner.OpContainsKey, m.Value.Compare
		if byKey {
			compare = m.Key.Compare
		}
		return filter.HasEntry(collection, byKey, nil, value, compare)
	}
	return filter.HasElement(collection, value, t.Of.Compare)
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
