package main

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/types"
)

// viewsFamily writes to a table in every way and reads a view of it. Timestamps rise: otherwise Cassandra's views may
// lack rows (docs/differences.md).
var viewsFamily = &family{
	name: "views", statements: 500,
	shape: func(g *gen) *table {
		t := g.makeDerivedFrom()
		t.rising = true
		t.view = g.makeView(t)
		return t
	},
	productions: append(derivedFrom, production{"select", 70, (*gen).queryView}),
}

// derivedFrom are the statements on a table with indexes or a view.
var derivedFrom = slices.Clip([]production{
	{"insert", 35, (*gen).insert},
	{"update", 25, (*gen).updateParts},
	{"delete parts", 5, (*gen).removeParts},
	{"delete", 12, (*gen).remove},
	{"batch", 8, func(g *gen) *step { return g.batchOf(g.updateParts, g.removeParts, g.insert, g.remove) }},
	{"truncate", 1, (*gen).truncate},
	{"select all", 10, (*gen).query},
})

// makeDerivedFrom makes a table for indexes or a view.
func (g *gen) makeDerivedFrom() *table {
	t := g.makeTable(shape{2, 2, 1, 3, simpleType, viewedType})
	for len(t.of(regular)) == 0 {
		t = g.makeTable(shape{2, 2, 1, 3, simpleType, viewedType})
	}
	t.expires = false
	return t
}

// viewedType is a type of other columns than keys: simple, so that it can be in a view's key, or a collection.
func viewedType(g *gen) types.Type {
	if g.percent(65) {
		return simpleType(g)
	}
	return partsType(g)
}

// viewName is the name of the view of a scenario's table.
const viewName = "m_" + tableName

// makeView makes a view of a table: its key has the table's, in another order, and mostly one more column.
func (g *gen) makeView(base *table) *table {
	key := base.of(partition, clustering)
	isCollection := func(c *column) bool { return c.typ != types.Int && c.typ != types.Text }
	if scalars := slices.DeleteFunc(base.of(regular), isCollection); len(scalars) > 0 && g.percent(75) {
		key = append(key, pick(g, scalars))
	}
	g.Shuffle(len(key), func(i, j int) { key[i], key[j] = key[j], key[i] })
	partitions := 1 + g.IntN(min(2, len(key)))
	v := &table{}
	for i, c := range key {
		c := &column{name: c.name, typ: c.typ, kind: partition}
		if i >= partitions {
			c.kind, c.desc = clustering, g.percent(40)
		}
		v.columns = append(v.columns, c)
	}
	all := g.percent(50)
	for _, c := range base.of(regular) {
		inKey := slices.ContainsFunc(key, func(k *column) bool { return k.name == c.name })
		if !inKey && (all || g.percent(50)) {
			v.columns = append(v.columns, &column{name: c.name, typ: c.typ, kind: regular})
		}
	}
	return v
}

// createView is the CREATE MATERIALIZED VIEW of a table's view.
func (g *gen) createView(t *table) *step {
	names, where := list("", ", ", ""), list(" WHERE ", " AND ", "")
	for _, c := range t.view.columns {
		names.kids = append(names.kids, of(c.name, words(c.name)))
		switch {
		case c.kind == regular:
		case g.percent(8):
			where.kids = append(where.kids, of(c.name, seq(words(c.name+" "+pick(g, comparisons)+" "), g.key(c.typ))))
			if !t.isKey(c.name) { // other columns allow only IS NOT NULL
				where.kids[len(where.kids)-1] = of(c.name, words(c.name+" IS NOT NULL"))
			}
		default:
			where.kids = append(where.kids, of(c.name, words(c.name+" IS NOT NULL")))
		}
	}
	root := seq(words("CREATE MATERIALIZED VIEW "+viewName+" AS SELECT "), names, words(" FROM "+tableName), where, words(" "),
		t.view.primaryKey(), g.tableOptions(t.view))
	return &step{production: "table", kind: definition, root: root}
}

// isKey reports whether a column is in the table's key.
func (t *table) isKey(name string) bool {
	return slices.ContainsFunc(t.of(partition, clustering), func(c *column) bool { return c.name == name })
}

// queryView reads the view.
func (g *gen) queryView() *step {
	base := g.table
	g.table = base.view
	defer func() { g.table = base }()
	s := g.query()
	s.root = s.root.rewrite(func(n *node) *node {
		n.text = strings.ReplaceAll(n.text, " FROM "+tableName, " FROM "+viewName)
		return n
	})
	return s
}
