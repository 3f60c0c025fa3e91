package exec

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/store"
)

// commandText is the command as Cassandra prints it: a SELECT of the columns it reads, of what is left to read.
func (r *reading) commandText() string {
	t := r.plan.Table
	text := "SELECT " + r.columnsText() + " FROM " + schema.QuoteName(t.Keyspace) + "." + schema.QuoteName(t.Name)
	where := r.slicesText()
	if r.read.Keys != nil {
		where = append(r.keyText(), where...)
	} else {
		where = append(r.tokensText(), where...)
	}
	if where = append(where, r.filtersText()...); len(where) > 0 {
		text += " WHERE " + strings.Join(where, " AND ")
	}
	if r.plan.Reverse {
		text += " ORDER BY " + each(t.Clustering, func(c *schema.Column) string {
			return schema.QuoteName(c.Name) + map[bool]string{true: " ASC", false: " DESC"}[c.Desc]
		})
	}
	return text + r.limits() + " ALLOW FILTERING"
}

// each joins texts of columns.
func each(columns []*schema.Column, text func(*schema.Column) string) string {
	texts := make([]string, len(columns))
	for i, c := range columns {
		texts[i] = text(c)
	}
	return strings.Join(texts, ", ")
}

func relation(c *schema.Column, operator string, value []byte) string {
	return schema.QuoteName(c.Name) + " " + operator + " " + c.Type.Format(value)
}

// keyText has the partition that is being read.
func (r *reading) keyText() (where []string) {
	t := r.plan.Table
	for i, v := range r.keyValues(r.passed.Partition) {
		where = append(where, relation(t.PartitionKey[i], "=", v))
	}
	return where
}

// keyValues are the values of a serialized partition key.
func (r *reading) keyValues(key []byte) [][]byte {
	n := len(r.plan.Table.PartitionKey)
	if n == 1 {
		return [][]byte{key}
	}
	values, err := types.SplitCompositeKey(key, n)
	if err != nil {
		return nil // it is not of the store
	}
	return values
}

// tokensText has the range of tokens that is left to read.
func (r *reading) tokensText() (where []string) {
	t := r.plan.Table
	token := "token(" + each(t.PartitionKey, func(c *schema.Column) string { return schema.QuoteName(c.Name) }) + ") "
	var given planner.Range
	if r.plan.Where.Token != nil {
		given = *r.plan.Where.Token
	}
	bound := func(b *planner.Bound, operator string) {
		if b == nil {
			return
		}
		at, err := tokenBound(&r.x, b)
		if err != nil || at == math.MinInt64 {
			return
		}
		if b.Inclusive {
			operator += "="
		}
		where = append(where, fmt.Sprintf("%s%s %d", token, operator, at))
	}
	if from := r.command.from; from.Partition == nil {
		bound(given.Lower, ">")
	} else {
		operator := ">="
		if from.Whole || len(t.Clustering) == 0 {
			operator = ">"
		}
		values := r.keyValues(from.Partition)
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = t.PartitionKey[i].Type.Format(v)
		}
		where = append(where, token+operator+" token("+strings.Join(texts, ", ")+")")
	}
	bound(given.Upper, "<")
	return where
}

// filtersText has what rows are compared with: columns of the key first, static ones last.
func (r *reading) filtersText() (where []string) {
	filters := slices.Clone(r.plan.Where.Filters)
	rank := func(f *planner.Filter) int {
		c := f.Columns()[0]
		switch {
		case c.Kind == schema.PartitionKey:
			return 0
		case c.Kind == schema.Clustering:
			return 1
		}
		rank := 2
		if c.Kind == schema.Static {
			rank = 6
		}
		if types.IsMultiCell(c.Type) {
			rank += 2
		}
		if k := f.Contains; k != nil && k.Key != nil {
			rank++
		}
		return rank
	}
	slices.SortStableFunc(filters, func(a, b *planner.Filter) int { return rank(a) - rank(b) })
	for _, f := range filters {
		switch {
		case f.Choice != nil:
			where = append(where, r.choiceText(f.Choice)...)
		case f.Range != nil:
			where = append(where, r.rangeText(f.Range)...)
		default:
			where = append(where, r.containsText(f.Contains))
		}
	}
	return where
}

// choiceText is = of each column, or IN of one.
func (r *reading) choiceText(c *planner.Choice) (where []string) {
	ps, err := filterPoints(&r.x, c)
	if err != nil {
		return nil
	}
	if c.In || c.List != nil {
		values := make([][]byte, len(ps))
		for i, p := range ps {
			values[i] = p[0]
		}
		list := &types.List{Elem: c.Columns[0].Type}
		return []string{schema.QuoteName(c.Columns[0].Name) + " IN " + list.Format(types.NewList(values))}
	}
	for i, col := range c.Columns {
		where = append(where, relation(col, "=", ps[0][i]))
	}
	return where
}

func (r *reading) rangeText(f *planner.Range) (where []string) {
	bound := func(b *planner.Bound, operator string) {
		values, err := filterBound(&r.x, b)
		if err != nil || values == nil {
			return
		}
		if b.Inclusive {
			operator += "="
		}
		for i, c := range b.Columns {
			where = append(where, relation(c, operator, values[i]))
		}
	}
	bound(f.Lower, ">")
	bound(f.Upper, "<")
	return where
}

func (r *reading) containsText(c *planner.Contains) string {
	value, name := r.valueText(c.Value), schema.QuoteName(c.Column.Name)
	switch {
	case c.Key != nil:
		return name + "[" + r.valueText(c.Key) + "] = " + value
	case c.Keys:
		return name + " CONTAINS KEY " + value
	}
	return name + " CONTAINS " + value
}

// valueText is the value of an expression that has been evaluated before without an error.
func (r *reading) valueText(e expr.Expr) string {
	v, err := e.Eval(&r.x)
	if err != nil || v.Bytes == nil {
		return "null"
	}
	return e.Type().Format(v.Bytes)
}

// remaining are the slices that are left of the partition being read; nil: all rows.
func (r *reading) remaining() []store.Slice {
	from := r.command.from
	if from.Clustering == nil || r.read.Keys == nil || !bytes.Equal(from.Partition, r.passed.Partition) {
		return r.read.Slices
	}
	all := r.read.Slices
	if all == nil {
		all = []store.Slice{{}}
	}
	t := r.plan.Table
	var left []store.Slice
	for _, s := range all {
		near, far := &s.Start, s.End
		if r.plan.Reverse {
			near, far = &s.End, s.Start
		}
		order := compareClustering(t, far, from.Clustering)
		if r.plan.Reverse {
			order = -order
		}
		if order < 0 || order == 0 && len(far) == len(from.Clustering) {
			continue
		}
		order = compareClustering(t, *near, from.Clustering)
		if r.plan.Reverse {
			order = -order
		}
		if order <= 0 {
			*near = from.Clustering
			if r.plan.Reverse {
				s.EndInclusive = false
			} else {
				s.StartInclusive = false
			}
		}
		left = append(left, s)
	}
	return left
}

// compareClustering orders two clusterings as far as both have values.
func compareClustering(t *schema.Table, a, b [][]byte) int {
	for i := range min(len(a), len(b)) {
		c := t.Clustering[i]
		order := c.Type.Compare(a[i], b[i])
		if c.Desc {
			order = -order
		}
		if order != 0 {
			return order
		}
	}
	return 0
}

// slicesText has the restrictions of clustering columns as the slices show them.
func (r *reading) slicesText() (where []string) {
	t, left := r.plan.Table, r.remaining()
	if len(left) == 0 {
		return nil
	}
	if names := r.namesText(left); names != "" {
		return []string{names}
	}
	for i, c := range t.Clustering {
		at := slices.IndexFunc(left, func(s store.Slice) bool { return i < len(s.Start) || i < len(s.End) })
		if at < 0 {
			break
		}
		start, end := component(left[at].Start, i), component(left[at].End, i)
		if start != nil && end != nil && bytes.Equal(start, end) {
			where = append(where, equalsText(c, left, i))
			continue
		}
		lower, upper := ">", "<"
		if c.Desc {
			lower, upper = "<", ">"
		}
		if start != nil {
			where = append(where, relation(c, inclusive(lower, left[at].StartInclusive), start))
		}
		if end != nil {
			where = append(where, relation(c, inclusive(upper, left[at].EndInclusive), end))
		}
	}
	return where
}

func component(bound [][]byte, i int) []byte {
	if i < len(bound) {
		return bound[i]
	}
	return nil
}

func inclusive(operator string, yes bool) string {
	if yes {
		return operator + "="
	}
	return operator
}

// equalsText is = or IN of the values that slices begin with.
func equalsText(c *schema.Column, left []store.Slice, i int) string {
	var texts []string
	for _, s := range left {
		if i < len(s.Start) {
			if text := c.Type.Format(s.Start[i]); !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	if len(texts) == 1 {
		return schema.QuoteName(c.Name) + " = " + texts[0]
	}
	return schema.QuoteName(c.Name) + " IN (" + strings.Join(texts, ", ") + ")"
}

// namesText has the clusterings of rows that are read by their whole keys; "" if they are read otherwise.
func (r *reading) namesText(rows []store.Slice) string {
	t, w := r.plan.Table, r.plan.Where
	given := 0
	for _, c := range w.Clustering {
		given += len(c.Columns)
	}
	if w.Slice != nil || given < len(t.Clustering) || given == 0 {
		return ""
	}
	open, end := "(", ")"
	if len(t.Clustering) == 1 {
		open, end = "", ""
	}
	texts := make([]string, len(rows))
	for i, s := range rows {
		values := make([]string, len(s.Start))
		for j, v := range s.Start {
			values[j] = t.Clustering[j].Type.Format(v)
		}
		texts[i] = open + strings.Join(values, ", ") + end
	}
	names := open + each(t.Clustering, func(c *schema.Column) string { return schema.QuoteName(c.Name) }) + end
	if len(texts) == 1 {
		return names + " = " + texts[0]
	}
	return names + " IN (" + strings.Join(texts, ", ") + ")"
}
