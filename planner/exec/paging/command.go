package paging

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec/filter"
	"github.com/cqld/cqld/planner/exec/restriction"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
	"github.com/cqld/cqld/store"
)

// Command is the part of a SELECT that Cassandra reads by itself, as its warnings show it.
type Command struct {
	Plan      *planner.Select
	X         *expr.Context
	From      store.Position // the command begins behind it; without a partition: at the beginning
	Partition []byte         // the partition that it reads; nil: it reads a range of tokens
	Slices    []store.Slice  // the rows that it reads of each partition; nil: all, or Ranges
	Ranges    store.Ranges
	Limits    string
	MaxLength int // the text is not shown beyond so many characters
}

// Text is the command as Cassandra prints it: a SELECT of the columns and the rows that it reads.
func (c *Command) Text() string {
	t := c.Plan.Table
	text := "SELECT " + c.columnsText() + " FROM " + quote.Name(t.Keyspace) + "." + quote.Name(t.Name)
	relations := c.slicesText()
	if c.Partition != nil {
		relations = append(c.keyText(), relations...)
	} else {
		relations = append(c.tokensText(), relations...)
	}
	if relations = append(relations, c.filtersText()...); len(relations) > 0 {
		text += " WHERE " + strings.Join(relations, " AND ")
	}
	if c.Plan.Reverse {
		text += " ORDER BY " + each(t.Clustering, func(column *schema.Column) string {
			return quote.Name(column.Name) + map[bool]string{true: " ASC", false: " DESC"}[column.Desc]
		})
	}
	return text + c.Limits + " ALLOW FILTERING"
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
	return quote.Name(c.Name) + " " + operator + " " + c.Type.Format(value)
}

// keyText has the restrictions of the partition key.
func (c *Command) keyText() (relations []string) {
	t := c.Plan.Table
	for i, v := range c.keyValues(c.Partition) {
		relations = append(relations, relation(t.PartitionKey[i], "=", v))
	}
	return relations
}

// keyValues are the values of a serialized partition key.
func (c *Command) keyValues(key []byte) [][]byte {
	n := len(c.Plan.Table.PartitionKey)
	if n == 1 {
		return [][]byte{key}
	}
	values, err := types.SplitCompositeKey(key, n)
	if err != nil {
		return nil // it does not come from the store
	}
	return values
}

// tokensText has the restrictions of the token.
func (c *Command) tokensText() (relations []string) {
	t := c.Plan.Table
	token := "token(" + each(t.PartitionKey, func(c *schema.Column) string { return quote.Name(c.Name) }) + ") "
	var given where.Range
	if c.Plan.Where.Token != nil {
		given = *c.Plan.Where.Token
	}
	bound := func(b *where.Bound, operator string) {
		if b == nil {
			return
		}
		at, err := restriction.TokenBound(c.X, b)
		if err != nil || at == math.MinInt64 {
			return
		}
		if b.Inclusive {
			operator += "="
		}
		relations = append(relations, fmt.Sprintf("%s%s %d", token, operator, at))
	}
	if from := c.From; from.Partition == nil {
		bound(given.Lower, ">")
	} else {
		operator := ">="
		if from.Whole || len(t.Clustering) == 0 {
			operator = ">"
		}
		values := c.keyValues(from.Partition)
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = t.PartitionKey[i].Type.Format(v)
		}
		relations = append(relations, token+operator+" token("+strings.Join(texts, ", ")+")")
	}
	bound(given.Upper, "<")
	return relations
}

// filtersText has the filters: those of key columns first, those of static columns last.
func (c *Command) filtersText() (relations []string) {
	filters := slices.Clone(c.Plan.Where.Filters)
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
			relations = append(relations, c.choiceText(f.Choice)...)
		case f.Range != nil:
			relations = append(relations, c.rangeText(f.Range)...)
		default:
			relations = append(relations, c.containsText(f.Contains))
		}
	}
	return relations
}

// choiceText is = of each column, or IN of one.
func (c *Command) choiceText(f *where.Choice) (relations []string) {
	l, err := filter.Listing(c.X, f)
	if err != nil {
		return nil
	}
	if f.In || f.List != nil {
		var values [][]byte
		for i := range min(l.Len(), c.MaxLength) { // more of the text is not shown
			values = append(values, l.Append(nil, i)[0])
		}
		list := &types.List{Elem: f.Columns[0].Type}
		return []string{quote.Name(f.Columns[0].Name) + " IN " + list.Format(types.NewList(values))}
	}
	values := l.Append(nil, 0)
	for i, column := range f.Columns {
		relations = append(relations, relation(column, "=", values[i]))
	}
	return relations
}

func (c *Command) rangeText(f *where.Range) (relations []string) {
	bound := func(b *where.Bound, operator string) {
		values, err := filter.Bound(c.X, b)
		if err != nil || values == nil {
			return
		}
		if b.Inclusive {
			operator += "="
		}
		for i, column := range b.Columns {
			relations = append(relations, relation(column, operator, values[i]))
		}
	}
	bound(f.Lower, ">")
	bound(f.Upper, "<")
	return relations
}

func (c *Command) containsText(f *where.Contains) string {
	value, name := c.valueText(f.Value), quote.Name(f.Column.Name)
	switch {
	case f.Key != nil:
		return name + "[" + c.valueText(f.Key) + "] = " + value
	case f.Keys:
		return name + " CONTAINS KEY " + value
	}
	return name + " CONTAINS " + value
}

// valueText is the value of an expression as a literal. It was evaluated without an error before.
func (c *Command) valueText(e expr.Expr) string {
	v, err := e.Eval(c.X)
	if err != nil || v.Bytes == nil {
		return "null"
	}
	return e.Type().Format(v.Bytes)
}
