package planner

import (
	"slices"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/scope"
	"github.com/cqld/cqld/planner/where"
)

// Conditions is the IF clause of a modification, which is written only if all of it holds.
type Conditions struct {
	NotExists, Exists bool
	Rows, Statics     []*Condition // on columns of the row, and on static ones

	// Masked are the masked columns of the table. Restricted lists the ones that a condition or the WHERE clause compares,
	// in the form of error texts: whether the write is applied reveals their values.
	Masked     []*schema.Column
	Restricted string
}

// Condition compares the value of a column, or of a part of it, with other values.
type Condition struct {
	Column *schema.Column
	Part   expr.Expr  // the index or key in column[part]; nil: no such condition
	Field  int        // the position of the field in column.field; -1: no such condition
	Of     types.Type // of the compared value: a column, an element or a field; of CONTAINS an element
	Op     Operator
	Values []expr.Expr // one, or the list of IN
	List   expr.Expr   // of IN ?, instead of Values
}

// Operator compares a condition. It is the operator of the syntax, which package exec does not import.
type Operator = cql.Operator

// The operators of conditions.
const (
	OpEq          = cql.Eq
	OpNotEq       = cql.NotEq
	OpLess        = cql.Less
	OpLessEq      = cql.LessEq
	OpGreater     = cql.Greater
	OpGreaterEq   = cql.GreaterEq
	OpIn          = cql.In
	OpContains    = cql.Contains
	OpContainsKey = cql.ContainsKey
)

// plain reports whether the conditions call no function.
func (c *Conditions) plain() bool {
	for _, list := range [...][]*Condition{c.Rows, c.Statics} {
		for _, cond := range list {
			if cond.Part != nil && !where.IsPlain(cond.Part) || cond.List != nil && !where.IsPlain(cond.List) ||
				slices.ContainsFunc(cond.Values, func(e expr.Expr) bool { return !where.IsPlain(e) }) {
				return false
			}
		}
	}
	return true
}

// costly reports whether computing the values that are compared may take long.
func (c *Conditions) costly() bool {
	return slices.ContainsFunc(slices.Concat(c.Rows, c.Statics), func(c *Condition) bool {
		return expr.Costly(c.Part) || expr.Costly(c.List) || slices.ContainsFunc(c.Values, expr.Costly)
	})
}

// conditions plans an IF clause; nil: there is none.
func (p *planning) conditions(t *schema.Table, c cql.Conditions, u cql.Using) (*Conditions, error) {
	if !c.Any() {
		return nil, nil
	}
	out := &Conditions{NotExists: c.NotExists, Exists: c.Exists}
	if len(c.List) > 0 && u.Timestamp != nil {
		return nil, errConditionalTimestamp()
	}
	for i := range c.List {
		cond, err := p.condition(t, &c.List[i])
		if err != nil {
			return nil, err
		}
		if cond.Column.Kind == schema.Static {
			out.Statics = append(out.Statics, cond)
		} else {
			out.Rows = append(out.Rows, cond)
		}
	}
	return out, nil
}

// errConditionalTimestamp refuses USING TIMESTAMP: conditional writes choose their timestamp themselves.
func errConditionalTimestamp() error {
	return cqlerr.Invalidf("Cannot provide custom timestamp for conditional updates")
}

// condition plans one condition.
func (p *planning) condition(t *schema.Table, c *cql.Condition) (*Condition, error) {
	column, err := scope.Column(t, c.Column)
	if err != nil {
		return nil, err
	}
	if column.Type == types.Counter {
		return nil, cqlerr.Invalidf("Conditions on counters are not supported")
	}
	out := &Condition{Column: column, Field: -1, Of: column.Type, Op: c.Op}
	r := expr.ColumnReceiver(t, column)
	switch {
	case c.Key != nil:
		r, err = elementReceiver(column, r)
	case c.Field != "":
		out.Field, r, err = fieldReceiver(r, c.Field)
	}
	if err != nil {
		return nil, err
	}
	if err := checkConditionType(r.Type, c.Op); err != nil {
		return nil, err
	}
	if c.Key != nil {
		if out.Part, err = p.part(c.Key, expr.ColumnReceiver(t, column)); err != nil {
			return nil, err
		}
	}
	if err := p.conditionValues(out, c, r); err != nil {
		return nil, err
	}
	if column.Kind.IsKey() {
		return nil, cqlerr.Invalidf("PRIMARY KEY column '%s' cannot have IF conditions", column.Name)
	}
	return out, nil
}

// elementReceiver is the receiver of a value that column[element] is compared with.
func elementReceiver(c *schema.Column, r expr.Receiver) (expr.Receiver, error) {
	switch t := c.Type.(type) {
	case *types.List:
		return r.Part("value("+c.Name+")", t.Elem), nil
	case *types.Map:
		return r.Part("value("+c.Name+")", t.Value), nil
	case *types.Set:
		return r, cqlerr.Invalidf("Invalid element access syntax for set column %s", c.Name)
	}
	return r, cqlerr.Invalidf("Invalid element access syntax for non-collection column %s", c.Name)
}

// comparedAs is the type that Cassandra compares the elements of a column as. Values of a map it compares as its keys,
// which shows where these are compared byte by byte and the values are not.
func comparedAs(c *schema.Column, elem types.Type) types.Type {
	if m, isMap := c.Type.(*types.Map); isMap {
		switch m.Key {
		case types.Text, types.ASCII, types.Blob:
			return types.Blob
		}
	}
	return elem
}

// fieldReceiver is the receiver of a value that column.field is compared with.
func fieldReceiver(r expr.Receiver, name string) (int, expr.Receiver, error) {
	t, ok := r.Type.(*types.UserType)
	if !ok {
		return 0, r, cqlerr.Invalidf("Invalid field condition for non-UDT column %s", r.Name)
	}
	for i, f := range t.Fields {
		if f.Name == name {
			return i, r.Part(r.Name+"."+name, f.Type), nil
		}
	}
	return 0, r, cqlerr.Invalidf("Unknown field %s for column %s", name, r.Name)
}

// checkConditionType refuses to order durations.
func checkConditionType(t types.Type, op cql.Operator) error {
	switch op {
	case cql.Less, cql.LessEq, cql.Greater, cql.GreaterEq:
	default:
		return nil
	}
	if !types.HasDuration(t) {
		return nil
	}
	if types.Freeze(t) == types.Duration {
		return cqlerr.Invalidf("Slice conditions ( %s ) are not supported on durations", op)
	}
	return cqlerr.Invalidf("Slice conditions are not supported on %s", where.DurationColumns(t))
}

// conditionValues plans the right side of a condition, and finds the type of the comparison.
func (p *planning) conditionValues(out *Condition, c *cql.Condition, r expr.Receiver) (err error) {
	if out.Of = r.Type; c.Key != nil {
		out.Of = comparedAs(out.Column, r.Type)
	}
	switch c.Op {
	case cql.ContainsKey:
		m, ok := r.Type.(*types.Map)
		if !ok {
			return cqlerr.Invalidf("Cannot use CONTAINS KEY on non-map column %s", r.Name)
		}
		r = r.Part("key("+r.Name+")", m.Key)
		out.Of = m.Key
	case cql.Contains:
		key, value := types.ElementTypes(r.Type)
		if key == nil && value == nil {
			return cqlerr.Invalidf("Cannot use CONTAINS on non-collection column %s", r.Name)
		}
		if value == nil {
			value = key
		}
		r = r.Part("value("+r.Name+")", value)
		out.Of = value
	case cql.In:
		if c.Value != nil {
			list := r.Part("in("+r.Name+")", &types.List{Elem: types.Freeze(r.Type), Frozen: true})
			out.List, err = p.terms.Check(c.Value, list)
			return err
		}
		return p.terms.Each(c.Values, func(t cql.Term) error {
			e, err := p.terms.Check(t, r)
			out.Values = append(out.Values, e)
			return err
		})
	}
	e, err := p.terms.Check(c.Value, r)
	out.Values = []expr.Expr{e}
	return err
}

// onlyStatic reports whether all assignments and conditions are on static columns, so that no row has to be named.
func (m *Modification) onlyStatic() bool {
	conditions := m.If != nil && len(m.If.Rows) > 0
	statics := len(m.Statics) > 0 || m.If != nil && len(m.If.Statics) > 0
	return !m.changesRows() && !conditions && statics
}

// changesRows reports whether columns of rows are assigned, or rows removed.
func (m *Modification) changesRows() bool { return len(m.Sets) > 0 || m.Removes }

// checkConditional refuses clauses that a modification cannot have beside conditions.
func (m *Modification) checkConditional() error {
	switch {
	case m.If == nil:
		return nil
	case m.Table.Counter:
		return cqlerr.Invalidf("Conditional updates are not supported on counter tables")
	case m.Timestamp != nil:
		return errConditionalTimestamp()
	}
	return nil
}

// checkConditionalDelete refuses conditions on a deletion that does not name a row by its whole key.
func (m *Modification) checkConditionalDelete() error {
	if m.If == nil || m.Where.NamesRow(m.Table) {
		return nil
	}
	const text = "DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to "
	switch {
	case m.Removes || len(m.Sets) > 0:
		return cqlerr.Invalidf(text + "delete non static columns")
	case len(m.If.Rows) > 0:
		return cqlerr.Invalidf(text + "use IF condition on non static columns")
	}
	return nil
}

// ChecksRow reports whether a conditional modification names a row, not the static columns of a partition alone.
func (m *Modification) ChecksRow() bool {
	return len(m.Table.Clustering) == 0 || len(m.Where.Clustering) > 0 || m.Where.Slice != nil
}

// conditional is the word for conditional writes of a verb in errors about IN.
func (v Verb) conditional() string {
	if v == Delete {
		return "deletions"
	}
	return "updates"
}

// CheckNoIn refuses IN in the key of a conditional modification.
func (m *Modification) CheckNoIn() error {
	if m.Where.MultiPartition() {
		return cqlerr.Invalidf("IN on the partition key is not supported with conditional %s", m.Verb.conditional())
	}
	return m.CheckNoClusteringIn()
}

// CheckNoClusteringIn refuses IN on the clustering columns of a conditional modification.
func (m *Modification) CheckNoClusteringIn() error {
	if m.Where.ManyRows() {
		return cqlerr.Invalidf("IN on the clustering key columns is not supported with conditional %s", m.Verb.conditional())
	}
	return nil
}
