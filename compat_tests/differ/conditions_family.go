package main

import "github.com/cqld/cqld/cql/types"

// conditionsFamily sends conditional and plain writes. Plain ones have old timestamps: with the current time, which
// Cassandra reads in milliseconds, they could be ordered before or after a conditional one.
var conditionsFamily = &family{
	name: "conditions", statements: 500, shape: conditionalTable,
	productions: []production{
		{"insert if not exists", 20, (*gen).insertIf},
		{"update if", 45, (*gen).updateIf},
		{"delete if", 15, (*gen).removeIf},
		{"insert", 4, (*gen).insert},
		{"update", 4, (*gen).updateParts},
		{"delete", 2, (*gen).remove},
		{"select", 10, (*gen).readAll},
	},
}

// conditionalBatchesFamily sends batches of conditional writes, some of them with plain writes. Most write to one
// partition.
var conditionalBatchesFamily = &family{
	name: "conditional batches", statements: 400, shape: conditionalTable,
	productions: []production{
		{"batch", 60, func(g *gen) *step {
			plain := func(make func() *step) func() *step { return func() *step { return g.untimed(make) } }
			return g.batchOf(g.insertIf, g.insertIf, g.updateIf, g.updateIf, g.removeIf,
				plain(g.insert), plain(g.updateParts), plain(g.remove))
		}},
		{"batch of conditions", 40, func(g *gen) *step { return g.batchOf(g.insertIf, g.updateIf, g.removeIf) }},
		{"insert", 8, (*gen).insert},
		{"select", 10, (*gen).readAll},
	},
}

// conditionalTable has few keys, so that most conditional writes find a row.
func conditionalTable(g *gen) *table {
	boolean := func(*gen) types.Type { return types.Boolean }
	t := g.makeTable(shape{1, 2, 2, 4, boolean, conditionalType})
	for len(t.of(regular)) == 0 {
		t = g.makeTable(shape{1, 2, 2, 4, boolean, conditionalType})
	}
	t.expires = false
	return t
}

// untimed makes a write without USING TIMESTAMP.
func (g *gen) untimed(make func() *step) *step {
	g.table.untimed = true
	defer func() { g.table.untimed = false }()
	return make()
}

// conditionalType is a type of columns in conditions. Lists are frozen: in Cassandra a conditional write orders the
// elements that it appends by its ballot, other writes by the clock.
func conditionalType(g *gen) types.Type {
	if g.percent(50) {
		return simpleType(g)
	}
	t := partsType(g)
	if l, ok := t.(*types.List); ok {
		return &types.List{Elem: l.Elem, Frozen: true}
	}
	return t
}

// insertIf writes a row if there is none.
func (g *gen) insertIf() *step {
	s := g.untimed(g.insert)
	last := len(s.root.kids) - 1
	using := s.root.kids[last]
	s.root.kids = append(s.root.kids[:last:last], g.opt(words(" IF NOT EXISTS")), using)
	return s
}

// updateIf writes cells if conditions hold.
func (g *gen) updateIf() *step {
	s := g.untimed(g.updateParts)
	s.root.kids = append(s.root.kids, g.conditions())
	return s
}

// removeIf deletes a row or cells of it if conditions hold.
func (g *gen) removeIf() *step {
	targets := list(" ", ", ", "")
	if g.percent(40) {
		for _, c := range some(g, g.table.of(static, regular)) {
			targets.kids = append(targets.kids, g.opt(of(c.name, words(c.name))))
		}
	}
	key := g.whereKey(g.table.of(partition, clustering))
	return &step{kind: write, root: seq(words("DELETE"), targets, words(" FROM "+tableName), key, g.conditions())}
}

// readAll reads a table or a partition without write times, which differ.
func (g *gen) readAll() *step {
	where := g.opt(g.whereKey(g.table.of(partition)))
	return &step{kind: read, root: seq(words("SELECT * FROM "+tableName), where)}
}

// conditions are an IF clause.
func (g *gen) conditions() *node {
	if g.percent(15) {
		return g.opt(words(" IF EXISTS"))
	}
	columns := g.table.of(static, regular)
	if g.percent(1) {
		columns = g.table.columns
	}
	clause := list(" IF ", " AND ", "")
	for range 1 + g.IntN(5)/3 {
		c := pick(g, columns)
		clause.kids = append(clause.kids, g.opt(of(c.name, g.condition(c))))
	}
	return clause
}

// condition compares a column or a part of it.
func (g *gen) condition(c *column) *node {
	if g.percent(25) {
		if n := g.partCondition(c); n != nil {
			return n
		}
	}
	switch n := g.IntN(100); {
	case n < 15:
		in := list("(", ", ", ")")
		for range g.IntN(4) {
			in.kids = append(in.kids, g.any(c.typ))
		}
		if len(in.kids) == 0 {
			return seq(words(c.name + " IN ()"))
		}
		return seq(words(c.name+" IN "), in)
	case n < 35:
		return words(c.name + pick(g, []string{" = null", " != null"}))
	}
	return seq(words(c.name+" "+pick(g, []string{"=", "!=", "<", "<=", ">", ">="})+" "), g.any(c.typ))
}

// partCondition compares a part of a collection; nil: the column has no parts. Cassandra compares a value of a map as
// if it were a key, so key and value have the same type.
func (g *gen) partCondition(c *column) *node {
	contains := words(c.name + " CONTAINS ")
	switch t := c.typ.(type) {
	case *types.Set:
		return seq(contains, g.any(t.Elem))
	case *types.List:
		if g.percent(50) {
			return seq(contains, g.any(t.Elem))
		}
		return seq(words(c.name+"["), g.integer(g.IntN(4)), words("] "+pick(g, []string{"=", "!=", "<", ">="})+" "), g.any(t.Elem))
	case *types.Map:
		switch n := g.IntN(3); {
		case n == 0:
			return seq(contains, g.any(t.Value))
		case n == 1 || t.Key != t.Value:
			return seq(words(c.name+" CONTAINS KEY "), g.any(t.Key))
		}
		return seq(words(c.name+"["), g.any(t.Key), words("] "+pick(g, []string{"=", "!=", "<", ">="})+" "), g.any(t.Value))
	}
	return nil
}
