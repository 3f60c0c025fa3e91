package exec

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
)

// commandText is the command as Cassandra prints it: a SELECT of the columns it reads, of what is left to read.
func (r *reading) commandText() string {
	t := r.plan.Table
	text := "SELECT " + r.columnsText() + " FROM " + schema.QuoteName(t.Keyspace) + "." + schema.QuoteName(t.Name)
	relations := r.slicesText()
	if r.read.Keys != nil {
		relations = append(r.keyText(), relations...)
	} else {
		relations = append(r.tokensText(), relations...)
	}
	if relations = append(relations, r.filtersText()...); len(relations) > 0 {
		text += " WHERE " + strings.Join(relations, " AND ")
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
func (r *reading) keyText() (relations []string) {
	t := r.plan.Table
	for i, v := range r.keyValues(r.command.read.Partition) {
		relations = append(relations, relation(t.PartitionKey[i], "=", v))
	}
	return relations
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
func (r *reading) tokensText() (relations []string) {
	t := r.plan.Table
	token := "token(" + each(t.PartitionKey, func(c *schema.Column) string { return schema.QuoteName(c.Name) }) + ") "
	var given where.Range
	if r.plan.Where.Token != nil {
		given = *r.plan.Where.Token
	}
	bound := func(b *where.Bound, operator string) {
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
		relations = append(relations, fmt.Sprintf("%s%s %d", token, operator, at))
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
		relations = append(relations, token+operator+" token("+strings.Join(texts, ", ")+")")
	}
	bound(given.Upper, "<")
	return relations
}

// filtersText has what rows are compared with: columns of the key first, static ones last.
func (r *reading) filtersText() (relations []string) {
	filters := slices.Clone(r.plan.Where.Filters)
	rank := func(f *where.Filter) int {
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
	slices.SortStableFunc(filters, func(a, b *where.Filter) int { return rank(a) - rank(b) })
	for _, f := range filters {
		switch {
		case f.Choice != nil:
			relations = append(relations, r.choiceText(f.Choice)...)
		case f.Range != nil:
			relations = append(relations, r.rangeText(f.Range)...)
		default:
			relations = append(relations, r.containsText(f.Contains))
		}
	}
	return relations
}

// choiceText is = of each column, or IN of one.
func (r *reading) choiceText(c *where.Choice) (relations []string) {
	l, err := filterListing(&r.x, c)
	if err != nil {
		return nil
	}
	if c.In || c.List != nil {
		var values [][]byte
		for i := range min(l.len(), maxCommandText) { // more of the text is not shown
			values = append(values, l.append(nil, i)[0])
		}
		list := &types.List{Elem: c.Columns[0].Type}
		return []string{schema.QuoteName(c.Columns[0].Name) + " IN " + list.Format(types.NewList(values))}
	}
	for i, col := range c.Columns {
		relations = append(relations, relation(col, "=", l.points[0][i]))
	}
	return relations
}

func (r *reading) rangeText(f *where.Range) (relations []string) {
	bound := func(b *where.Bound, operator string) {
		values, err := filterBound(&r.x, b)
		if err != nil || values == nil {
			return
		}
		if b.Inclusive {
			operator += "="
		}
		for i, c := range b.Columns {
			relations = append(relations, relation(c, operator, values[i]))
		}
	}
	bound(f.Lower, ">")
	bound(f.Upper, "<")
	return relations
}

func (r *reading) containsText(c *where.Contains) string {
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
