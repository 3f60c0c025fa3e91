package main

import "github.com/cqld/cqld/cql/types"

// expressionsFamily evaluates expressions over columns of every type, in SELECT lists, in relations and in written
// values.
var expressionsFamily = &family{
	name: "expressions", statements: 500,
	shape: func(g *gen) *table {
		t := &table{columns: []*column{{name: "p0", typ: types.Int, kind: partition}, {name: "c0", typ: types.Int, kind: clustering}}}
		t.columns[1].desc = g.percent(30)
		for i, typ := range append([]types.Type{types.Duration}, scalars...) {
			t.columns = append(t.columns, &column{name: "v" + itoa(i), typ: typ, kind: regular})
		}
		for i, typ := range g.collections() {
			t.columns = append(t.columns, &column{name: "w" + itoa(i), typ: typ, kind: regular})
		}
		return t
	},
	productions: []production{
		{"insert", 5, (*gen).insert},
		{"compute", 60, (*gen).compute},
		{"aggregate", 10, (*gen).aggregate},
		{"write", 15, (*gen).writeComputed},
		{"filter", 15, (*gen).filterComputed},
	},
}

// collections are types of collections, tuples and vectors, one of each kind at least.
func (g *gen) collections() []types.Type {
	return []types.Type{
		&types.List{Elem: pick(g, numbers), Frozen: true},
		&types.Set{Elem: pick(g, numbers), Frozen: true},
		&types.Map{Key: types.Text, Value: pick(g, scalars), Frozen: true},
		&types.Map{Key: pick(g, scalars), Value: types.Int, Frozen: true},
		&types.Tuple{Elems: []types.Type{types.Int, pick(g, scalars)}},
		&types.Vector{Elem: types.Float, Dim: 2},
		&types.List{Elem: &types.Set{Elem: types.Int, Frozen: true}, Frozen: true},
		g.typ(3, false),
	}
}

// compute selects expressions.
func (g *gen) compute() *step {
	items := list("", ", ", "")
	for range 1 + g.IntN(2) {
		e := expression{gen: g, columns: true}
		items.kids = append(items.kids, g.opt(e.of(g.anyColumn().typ, 1+g.IntN(3))))
	}
	root := seq(words("SELECT "), items, words(" FROM "+tableName))
	if g.percent(60) {
		root.kids = append(root.kids, g.opt(seq(words(" WHERE p0 = "), g.integer(g.IntN(3)))))
	}
	return &step{kind: read, root: root}
}

// aggregate selects an aggregate of an expression, or an expression of aggregates.
func (g *gen) aggregate() *step {
	e := expression{gen: g, columns: true}
	call := func() *node {
		return seq(words(pick(g, []string{"count", "min", "max", "sum", "avg"})+"("), e.of(g.anyColumn().typ, g.IntN(2)), words(")"))
	}
	item := call()
	switch g.IntN(5) {
	case 0:
		item = seq(call(), words(pick(g, operators)), call())
	case 1:
		item = seq(words("CAST("), call(), words(" AS "+pick(g, scalars).String()+")"))
	case 2:
		item = seq(call(), words(", "), e.of(g.anyColumn().typ, 1))
	}
	return &step{kind: read, root: seq(words("SELECT "), item, words(" FROM "+tableName))}
}

// writeComputed writes an expression to a column.
func (g *gen) writeComputed() *step {
	c := pick(g, g.table.of(regular))
	e := expression{gen: g}
	value := e.of(c.typ, 1+g.IntN(3))
	if g.percent(50) {
		return &step{kind: write, root: seq(words("UPDATE "+tableName), g.using(false), words(" SET "), of(c.name, words(c.name)),
			words(" = "), value, words(" WHERE p0 = "), e.of(types.Int, g.IntN(2)), words(" AND c0 = "), g.integer(g.IntN(4)))}
	}
	return &step{kind: write, root: seq(words("INSERT INTO "+tableName+" (p0, c0, "), of(c.name, words(c.name)), words(") VALUES ("),
		g.integer(g.IntN(3)), words(", "), e.of(types.Int, g.IntN(2)), words(", "), value, words(")"), g.using(false))}
}

// filterComputed looks for rows by an expression.
func (g *gen) filterComputed() *step {
	c := g.anyColumn()
	e := expression{gen: g}
	root := seq(words("SELECT p0, c0 FROM "+tableName+" WHERE "), of(c.name, words(c.name)), words(" "+pick(g, comparisons)+" "),
		e.of(c.typ, 1+g.IntN(2)), g.opt(words(" ALLOW FILTERING")))
	return &step{kind: read, root: root}
}

// anyColumn is any column of the table.
func (g *gen) anyColumn() *column { return pick(g, g.table.columns) }
