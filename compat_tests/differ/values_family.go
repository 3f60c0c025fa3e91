package main

import "github.com/cqld/cqld/cql/types"

// valuesFamily writes values of every type, right and wrong, and reads each back.
var valuesFamily = &family{
	name: "values", statements: 900,
	shape: func(g *gen) *table {
		t := &table{columns: []*column{{name: "p0", typ: types.Int, kind: partition}}}
		for i, typ := range append([]types.Type{types.Duration}, scalars...) {
			t.columns = append(t.columns, &column{name: "v" + itoa(i), typ: typ, kind: regular})
		}
		for i := range 6 {
			t.columns = append(t.columns, &column{name: "w" + itoa(i), typ: g.typ(3, false), kind: regular})
		}
		return t
	},
	productions: []production{
		{"literal", 40, (*gen).writeOne},
		{"where", 12, (*gen).filterOne},
		{"read", 40, (*gen).readOne},
		{"insert", 2, (*gen).insert},
	},
}

// writeOne writes one column: a right literal, a wrong one, or bytes that may be either.
func (g *gen) writeOne() *step {
	c := pick(g, g.table.of(regular))
	var v *node
	switch k := g.IntN(100); {
	case k < 30:
		v = g.term(g.fresh(c.typ))
	case k < 50:
		v = leaf(&value{typ: c.typ, text: pick(g, wrong)})
	case k < 65: // a literal of another type
		v = leaf(&value{typ: c.typ, text: g.fresh(pick(g, g.table.columns).typ).text})
	case k < 95:
		v = leaf(&value{typ: c.typ, bytes: g.bytesFor(c.typ), bound: true})
	default:
		v = g.any(c.typ)
	}
	name := g.opt(of(c.name, words(c.name)))
	root := seq(words("UPDATE "+tableName), g.using(false), words(" SET "), name, words(" = "), v, words(" WHERE p0 = "), g.integer(g.IntN(3)))
	return &step{kind: write, root: root}
}

// filterOne looks for rows by a value, right or wrong.
func (g *gen) filterOne() *step {
	c := pick(g, g.table.of(regular))
	v := leaf(&value{typ: c.typ, text: pick(g, wrong)})
	switch k := g.IntN(100); {
	case k < 30:
		v = g.key(c.typ)
	case k < 60:
		v = leaf(&value{typ: c.typ, bytes: g.bytesFor(c.typ), bound: true})
	}
	root := seq(words("SELECT p0 FROM "+tableName+" WHERE "), of(c.name, words(c.name)), words(" "+pick(g, comparisons)+" "), v,
		g.opt(words(" ALLOW FILTERING")))
	return &step{kind: read, root: root}
}

// readOne reads a few columns, or functions of them.
func (g *gen) readOne() *step {
	root := seq(words("SELECT "), g.selection(false), words(" FROM "+tableName))
	if g.percent(60) {
		root.kids = append(root.kids, words(" WHERE p0 = "), g.integer(g.IntN(3)))
	}
	return &step{kind: read, root: root}
}
