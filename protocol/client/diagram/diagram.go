// Package diagram draws schemas as Chebotko diagrams: a box for each table with its columns, and an arrow for each
// access pattern, which is a query that the table serves.
//
// Read makes a Diagram of a server's schema, and New one of tables and patterns that the caller has. patterns.go finds
// access patterns: named in the comments of tables, named in a file of statements, and seen in traffic. SVG, Text and
// Markdown write a diagram; layout.go places the boxes and arrows for SVG.
//
// The notation has marks after a column, and signs around its name that show its type:
//
//	K       partition key           [name]  list
//	C↑ C↓   clustering, its order   {name}  set
//	S       static                  <name>  map
//	IDX     indexed                 *name*  user-defined type
//	++      counter                 (name)  tuple
//
// A logical diagram has the names only. A physical one has the types too, a frame around each keyspace and a box for
// each user-defined type.
package diagram

import (
	"context"
	"slices"
	"strings"

	"github.com/cqld/cqld/protocol/client/model"
)

// Options are the options of a diagram.
type Options struct {
	// Logical diagrams have no types and no frames.
	Logical bool

	// Keyspaces are drawn as frames even if they have no table. The keyspaces of tables are always drawn.
	Keyspaces []string

	// Types are the user-defined types that physical diagrams show.
	Types []*model.Type
}

// Diagram is a schema with its access patterns. It is not safe for concurrent use.
type Diagram struct {
	logical  bool
	frames   []*frame
	patterns []Pattern // in the order of their names
}

// frame is a keyspace.
type frame struct {
	keyspace string
	boxes    []*box
}

// box is a table or a user-defined type.
type box struct {
	key   string // keyspace.table; "" for a type
	title string
	note  string // after the title, or ""
	lines []line
	into  []Pattern // arrows that do not come from another table

	place
}

// line is a column or field.
type line struct {
	name, typ, mark string
	sign            string // the signs around the name
	index           string // its name, or ""
}

// New makes a diagram. Patterns of tables that are not among the given ones are listed but not drawn.
func New(tables []*model.Table, patterns []Pattern, o Options) *Diagram {
	d := &Diagram{logical: o.Logical}
	byKeyspace := map[string]*frame{}
	in := func(keyspace string) *frame {
		f := byKeyspace[keyspace]
		if f == nil {
			f = &frame{keyspace: keyspace}
			byKeyspace[keyspace], d.frames = f, append(d.frames, f)
		}
		return f
	}
	for _, keyspace := range o.Keyspaces {
		in(keyspace)
	}
	sameName := map[string]int{}
	for _, t := range tables {
		sameName[t.Name]++
	}
	byKey := map[string]*box{}
	for _, t := range tables {
		b := tableBox(t, o.Logical)
		if o.Logical && sameName[t.Name] > 1 {
			b.title = clean(b.key)
		}
		f := in(t.Keyspace)
		f.boxes, byKey[b.key] = append(f.boxes, b), b
	}
	for _, t := range o.Types {
		if f := in(t.Keyspace); !o.Logical {
			f.boxes = append(f.boxes, typeBox(t))
		}
	}
	for _, p := range patterns {
		if p.Table != "" && byKey[p.Table] == nil {
			continue
		}
		p.Name, p.Text = clean(p.Name), clean(p.Text)
		if byKey[p.From] == nil || p.From == p.Table {
			p.From = ""
		}
		d.patterns = append(d.patterns, p)
	}
	slices.SortStableFunc(d.patterns, func(a, b Pattern) int { return compareNames(a.Name, b.Name) })
	first := map[*box]int{} // pattern, by which tables are ordered
	for i, p := range d.patterns {
		b := byKey[p.Table]
		if b == nil {
			continue
		}
		if first[b] == 0 {
			first[b] = i - len(d.patterns)
		}
		if p.From == "" {
			b.into = append(b.into, p)
		}
	}
	for _, f := range d.frames {
		slices.SortStableFunc(f.boxes, func(a, b *box) int { return first[a] - first[b] })
	}
	return d
}

// Tables returns the number of tables and views.
func (d *Diagram) Tables() (n int) {
	for _, f := range d.frames {
		for _, b := range f.boxes {
			if b.key != "" {
				n++
			}
		}
	}
	return n
}

// Read makes a diagram of keyspaces of a server. No keyspaces means all that do not belong to the server itself. more
// may return patterns in addition to those in the comments of tables. traffic adds the queries that the server has
// recorded.
func Read(
	ctx context.Context, query model.Query, keyspaces []string, more func([]*model.Table) []Pattern, traffic bool,
	o Options,
) (*Diagram, error) {
	all := slices.Clone(keyspaces)
	if len(keyspaces) == 0 || more != nil { // patterns may be of tables that are not drawn
		found, err := model.Keyspaces(ctx, query)
		if err != nil {
			return nil, err
		}
		for _, k := range found {
			if !slices.Contains(keyspaces, k.Name) {
				all = append(all, k.Name)
			}
		}
	}
	if len(keyspaces) == 0 {
		keyspaces = all
	}
	o.Keyspaces = append(o.Keyspaces, keyspaces...)
	var drawn, tables []*model.Table
	for _, keyspace := range all {
		some, err := model.Tables(ctx, query, keyspace, "")
		if err != nil {
			return nil, err
		}
		tables = append(tables, some...)
		if !slices.Contains(keyspaces, keyspace) {
			continue
		}
		types, err := model.Types(ctx, query, keyspace)
		if err != nil {
			return nil, err
		}
		drawn, o.Types = append(drawn, some...), append(o.Types, types...)
	}
	patterns := InComments(tables)
	if more != nil {
		patterns = merge(more(tables), patterns)
	}
	if traffic {
		statements, err := model.Statements(ctx, query)
		if err != nil {
			return nil, err
		}
		patterns = append(patterns, InTraffic(statements, drawn)...)
	}
	return New(drawn, patterns, o), nil
}

// tableBox makes the box of a table or view.
func tableBox(t *model.Table, logical bool) *box {
	b := &box{key: t.Keyspace + "." + t.Name, title: clean(t.Name)}
	if t.Of != "" {
		b.note = "view of " + clean(t.Of)
	}
	for _, c := range t.Columns {
		b.lines = append(b.lines, newLine(c, mark(c), logical))
	}
	return b
}

// typeBox makes the box of a user-defined type.
func typeBox(t *model.Type) *box {
	b := &box{title: clean("*" + t.Name + "*")}
	for _, c := range t.Fields {
		b.lines = append(b.lines, newLine(c, "", false))
	}
	return b
}

// mark returns the marks of a column.
func mark(c model.Column) string {
	var marks []string
	switch {
	case c.Kind == "partition_key":
		marks = append(marks, "K")
	case c.Kind == "clustering" && c.Desc:
		marks = append(marks, "C↓")
	case c.Kind == "clustering":
		marks = append(marks, "C↑")
	case c.Kind == "static":
		marks = append(marks, "S")
	}
	if c.Type == "counter" {
		marks = append(marks, "++")
	}
	if c.Index != "" {
		marks = append(marks, "IDX")
	}
	return strings.Join(marks, " ")
}

// nativeTypes are the types that are neither collections nor user-defined.
var nativeTypes = strings.Fields("ascii bigint blob boolean counter date decimal double duration empty float inet " +
	"int smallint text time timestamp timeuuid tinyint uuid varchar varint vector")

// newLine makes the line of a column or field.
func newLine(c model.Column, mark string, logical bool) line {
	l := line{mark: mark, sign: signs(c.Type), index: clean(c.Index)}
	l.name = clean(c.Name)
	if l.sign != "" {
		l.name = l.sign[:1] + l.name + l.sign[1:]
	}
	if !logical {
		l.typ = clean(c.Type)
	}
	return l
}

// signs returns the signs around the name of a column of a type.
func signs(typ string) string {
	typ = strings.TrimPrefix(typ, "frozen<")
	typ, _, _ = strings.Cut(typ, "<")
	typ = strings.TrimRight(typ, ">")
	switch {
	case typ == "list":
		return "[]"
	case typ == "set":
		return "{}"
	case typ == "map":
		return "<>"
	case typ == "tuple":
		return "()"
	case typ == "" || typ[0] == '\'' || slices.Contains(nativeTypes, typ):
		return ""
	}
	return "**"
}
