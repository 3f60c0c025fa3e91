package where

import (
	"fmt"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
)

// Lines are the clause in words, one to a part: golden files compare them.
func (w *Clause) Lines() (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, c := range w.Partition {
		add("partition %s", c)
	}
	if w.Token != nil {
		add("token %s", w.Token)
	}
	for _, c := range w.Clustering {
		add("clustering %s", c)
	}
	if w.Slice != nil {
		add("slice %s", w.Slice)
	}
	for _, f := range w.Filters {
		if f.Index != nil {
			add("filter %s as index %s does", f, f.Index.Name)
			continue
		}
		add("filter %s", f)
	}
	return lines
}

// String returns the choice in words.
func (c *Choice) String() string {
	if c.List != nil {
		return columnNames(c.Columns) + " in " + c.List.String()
	}
	points := make([]string, len(c.Points))
	for i, p := range c.Points {
		points[i] = p.String()
	}
	if len(points) == 1 {
		return columnNames(c.Columns) + " = " + points[0]
	}
	return columnNames(c.Columns) + " in (" + strings.Join(points, ", ") + ")"
}

// String returns the point in words.
func (p Point) String() string {
	if p.Tuple != nil {
		return p.Tuple.String()
	}
	parts := make([]string, len(p.Parts))
	for i, e := range p.Parts {
		parts[i] = e.String()
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// String returns the range in words.
func (r *Range) String() string {
	var parts []string
	if b := r.Lower; b != nil {
		parts = append(parts, columnNames(b.Columns)+bound(" >", b))
	}
	if b := r.Upper; b != nil {
		parts = append(parts, columnNames(b.Columns)+bound(" <", b))
	}
	return strings.Join(parts, " and ")
}

func bound(op string, b *Bound) string {
	if b.Inclusive {
		op += "="
	}
	return op + " " + b.Point.String()
}

// String returns the condition in words.
func (f *Filter) String() string {
	switch {
	case f.Choice != nil:
		return f.Choice.String()
	case f.Range != nil:
		return f.Range.String()
	case f.Like != nil:
		return f.Like.Column.Name + " like " + f.Like.Value.String()
	}
	c := f.Contains
	switch {
	case c.Keys:
		return c.Column.Name + " contains key " + c.Value.String()
	case c.Key == nil:
		return c.Column.Name + " contains " + c.Value.String()
	}
	return c.Column.Name + "[" + c.Key.String() + "] = " + c.Value.String()
}

func columnNames(cols []*schema.Column) string {
	if len(cols) == 1 {
		return cols[0].Name
	}
	return "(" + names(cols, ", ") + ")"
}

// relationText is a relation as error texts show it: its columns are in quotes where they need them, its values are
// as expr.Text has them.
func relationText(rel *cql.Relation) string {
	columns := make([]string, len(rel.Columns))
	for i, c := range rel.Columns {
		columns[i] = c.String()
	}
	text := strings.Join(columns, ", ")
	switch {
	case rel.Token:
		text = "token(" + text + ")"
	case rel.Tuple:
		text = "(" + text + ")"
	case rel.Key != nil:
		text += "[" + expr.Text(rel.Key) + "]"
	}
	return text + " " + RelationRest(nil, rel)
}

// RelationRest is the part of a relation's text that follows its columns. Something may be known of its values.
func RelationRest(known *expr.Info, rel *cql.Relation) string {
	text := rel.Op.String()
	switch {
	case rel.Values.Parts != nil:
		return text + " (" + known.Texts(rel.Values) + ")"
	case rel.Value != nil:
		return text + " " + known.Text(rel.Value)
	}
	return text
}
