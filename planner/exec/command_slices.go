package exec

import (
	"bytes"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store"
)

// remaining are the slices that are left of the partition being read; nil: all rows.
func (r *reading) remaining() []store.Slice {
	from := r.command.from
	if from.Clustering == nil || r.read.Keys == nil || !bytes.Equal(from.Partition, r.command.read.Partition) {
		return r.listed()
	}
	all := r.listed()
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

// listed are the ranges of clustering keys that are read: of many the first ones, more than a text has room for.
func (r *reading) listed() []store.Slice {
	many := r.read.Ranges
	if many == nil {
		return r.read.Slices
	}
	var all []store.Slice
	for i := range min(many.Len(), maxListed) {
		s := many.Range(i)
		s.Start, s.End = slices.Clone(s.Start), slices.Clone(s.End)
		all = append(all, s)
	}
	return all
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
func (r *reading) slicesText() (relations []string) {
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
			relations = append(relations, equalsText(c, left, i))
			continue
		}
		lower, upper := ">", "<"
		if c.Desc {
			lower, upper = "<", ">"
		}
		if start != nil {
			relations = append(relations, relation(c, inclusive(lower, left[at].StartInclusive), start))
		}
		if end != nil {
			relations = append(relations, relation(c, inclusive(upper, left[at].EndInclusive), end))
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
