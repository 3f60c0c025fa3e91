package paging

import (
	"bytes"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/exec/restriction"
	"github.com/cqld/cqld/store"
)

// remaining are the slices that the command reads of its partition; nil: all rows.
func (c *Command) remaining() []store.Slice {
	from := c.From
	if from.Clustering == nil || c.Partition == nil || !bytes.Equal(from.Partition, c.Partition) {
		return c.listed()
	}
	all := c.listed()
	if all == nil {
		all = []store.Slice{{}}
	}
	t := c.Plan.Table
	var left []store.Slice
	for _, s := range all {
		near, far := &s.Start, s.End
		if c.Plan.Reverse {
			near, far = &s.End, s.Start
		}
		order := compareClustering(t, far, from.Clustering)
		if c.Plan.Reverse {
			order = -order
		}
		if order < 0 || order == 0 && len(far) == len(from.Clustering) {
			continue
		}
		order = compareClustering(t, *near, from.Clustering)
		if c.Plan.Reverse {
			order = -order
		}
		if order <= 0 {
			*near = from.Clustering
			if c.Plan.Reverse {
				s.EndInclusive = false
			} else {
				s.StartInclusive = false
			}
		}
		left = append(left, s)
	}
	return left
}

// listed are the ranges of clustering keys that the statement reads. Of many ranges it has the first ones, which are
// more than the text shows.
func (c *Command) listed() []store.Slice {
	many := c.Ranges
	if many == nil {
		return c.Slices
	}
	var all []store.Slice
	for i := range min(many.Len(), restriction.MaxListed) {
		s := many.Range(i)
		s.Start, s.End = slices.Clone(s.Start), slices.Clone(s.End)
		all = append(all, s)
	}
	return all
}

// compareClustering compares the leading clustering columns for which both have values.
func compareClustering(t *schema.Table, a, b [][]byte) int {
	for i := range min(len(a), len(b)) {
		column := t.Clustering[i]
		order := column.Type.Compare(a[i], b[i])
		if column.Desc {
			order = -order
		}
		if order != 0 {
			return order
		}
	}
	return 0
}

// slicesText has the restrictions of clustering columns that the slices come to.
func (c *Command) slicesText() (relations []string) {
	t, left := c.Plan.Table, c.remaining()
	if len(left) == 0 {
		return nil
	}
	if names := c.namesText(left); names != "" {
		return []string{names}
	}
	for i, column := range t.Clustering {
		at := slices.IndexFunc(left, func(s store.Slice) bool { return i < len(s.Start) || i < len(s.End) })
		if at < 0 {
			break
		}
		start, end := component(left[at].Start, i), component(left[at].End, i)
		if start != nil && end != nil && bytes.Equal(start, end) {
			relations = append(relations, equalsText(column, left, i))
			continue
		}
		lower, upper := ">", "<"
		if column.Desc {
			lower, upper = "<", ">"
		}
		if start != nil {
			relations = append(relations, relation(column, inclusive(lower, left[at].StartInclusive), start))
		}
		if end != nil {
			relations = append(relations, relation(column, inclusive(upper, left[at].EndInclusive), end))
		}
	}
	return relations
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

// equalsText is = or IN with the values of one clustering column in all slices.
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
		return quote.Name(c.Name) + " = " + texts[0]
	}
	return quote.Name(c.Name) + " IN (" + strings.Join(texts, ", ") + ")"
}

// namesText has the clusterings of rows that are read by their whole keys; "" if the statement does not name rows.
func (c *Command) namesText(rows []store.Slice) string {
	t, w := c.Plan.Table, c.Plan.Where
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
	names := open + each(t.Clustering, func(c *schema.Column) string { return quote.Name(c.Name) }) + end
	if len(texts) == 1 {
		return names + " = " + texts[0]
	}
	return names + " IN (" + strings.Join(texts, ", ") + ")"
}
