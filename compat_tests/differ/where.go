package main

import "github.com/cqld/cqld/cql/types"

// comparisons are the operators that every column takes.
var comparisons = []string{"=", "<", "<=", ">", ">="}

// relation is column op value.
func (g *gen) relation(c *column, op string) *node {
	return g.opt(of(c.name, seq(words(c.name+" "+op+" "), g.key(c.typ))))
}

// in is column IN (values), or IN a bound list.
func (g *gen) in(c *column) *node {
	if g.bindRate > 0 && g.percent(30) {
		v := g.elements(&types.List{Elem: c.typ, Frozen: true}, c.typ, "(", ")", types.NewList, false)
		return g.opt(of(c.name, seq(words(c.name+" IN "), g.term(v))))
	}
	items := list("", ", ", "")
	for range g.IntN(4) {
		items.kids = append(items.kids, g.opt(g.key(c.typ)))
	}
	return g.opt(of(c.name, seq(words(c.name+" IN ("), items, words(")"))))
}

// clusterings restricts clustering columns: some by =, then perhaps one more, or several together.
func (g *gen) clusterings(columns []*column) []*node {
	var nodes []*node
	n := g.IntN(len(columns) + 1)
	for _, c := range columns[:n] {
		if g.percent(12) {
			nodes = append(nodes, g.in(c))
			continue
		}
		nodes = append(nodes, g.equals(c))
	}
	rest := columns[n:]
	if len(rest) == 0 {
		return nodes
	}
	switch k := g.IntN(100); {
	case k < 25 && len(rest) > 1:
		return append(nodes, g.tuples(rest)...)
	case k < 85:
		return append(nodes, g.slice(rest[0])...)
	case k < 88: // a gap
		return append(nodes, g.slice(rest[len(rest)-1])...)
	}
	return nodes
}

// slice restricts a column from one side or from both.
func (g *gen) slice(c *column) []*node {
	nodes := []*node{g.relation(c, pick(g, comparisons))}
	if g.percent(50) {
		nodes = append(nodes, g.relation(c, pick(g, comparisons)))
	}
	return nodes
}

// tuples restricts several columns as a tuple: (a, b) > (1, 2), or IN ((1, 2), (3, 4)).
func (g *gen) tuples(columns []*column) []*node {
	columns = columns[:1+g.IntN(len(columns))]
	names := list("(", ", ", ")")
	for _, c := range columns {
		names.kids = append(names.kids, of(c.name, words(c.name)))
	}
	tuple := func() *node {
		vals := list("(", ", ", ")")
		for _, c := range columns {
			vals.kids = append(vals.kids, of(c.name, seq(g.key(c.typ))))
		}
		return vals
	}
	var nodes []*node
	for range 1 + g.IntN(2) {
		op := pick(g, []string{">", ">=", "<", "<=", "=", "IN"})
		right := tuple()
		if op == "IN" {
			right = list("(", ", ", ")", g.opt(tuple()), g.opt(tuple()))
		}
		nodes = append(nodes, g.opt(seq(names, words(" "+op+" "), right)))
	}
	return nodes
}

// partitions restricts the partition key: all of it by =, some by IN, a range of tokens, or nothing.
func (g *gen) partitions() (nodes []*node, one bool) {
	columns := g.table.of(partition)
	switch k := g.IntN(100); {
	case k < 60:
		for _, c := range columns {
			nodes = append(nodes, g.equals(c))
		}
		return nodes, true
	case k < 72:
		for _, c := range columns {
			if g.percent(60) {
				nodes = append(nodes, g.in(c))
			} else {
				nodes = append(nodes, g.equals(c))
			}
		}
		return nodes, false
	case k < 82:
		return g.tokens(columns), false
	case k < 86:
		for _, c := range some(g, columns) {
			nodes = append(nodes, g.relation(c, pick(g, comparisons)))
		}
	}
	return nodes, false
}

// tokens restricts the token of the partition key.
func (g *gen) tokens(columns []*column) []*node {
	names := list("token(", ", ", ")")
	for _, c := range columns {
		names.kids = append(names.kids, of(c.name, words(c.name)))
	}
	var nodes []*node
	for range 1 + g.IntN(2) {
		right := g.term(literal(types.BigInt, pick(g, append([]string{itoa(g.Int())}, literals[types.BigInt]...))))
		if g.percent(50) {
			right = list("token(", ", ", ")")
			for _, c := range columns {
				right.kids = append(right.kids, of(c.name, seq(g.key(c.typ))))
			}
		}
		nodes = append(nodes, g.opt(seq(names, words(" "+pick(g, comparisons)+" "), right)))
	}
	return nodes
}

// filter restricts a column that is in no key, or one by an operator that only a filter can.
func (g *gen) filter() *node {
	c := pick(g, g.table.columns)
	for c.kind == static && types.IsMultiCell(c.typ) { // docs/differences.md, 337
		c = pick(g, g.table.columns)
	}
	return g.filterOf(c)
}

// filterOf is filter for one column.
func (g *gen) filterOf(c *column) *node {
	switch t := c.typ.(type) {
	case *types.List:
		if g.percent(70) {
			return g.contains(c, "CONTAINS", t.Elem)
		}
	case *types.Set:
		if g.percent(70) {
			return g.contains(c, "CONTAINS", t.Elem)
		}
	case *types.Map:
		if g.percent(40) {
			return g.contains(c, "CONTAINS KEY", t.Key)
		}
		if g.percent(50) {
			return g.contains(c, "CONTAINS", t.Value)
		}
	}
	switch k := g.IntN(100); {
	case k < 80:
		return g.relation(c, pick(g, comparisons))
	case k < 90:
		return g.in(c)
	case k < 93:
		return g.opt(of(c.name, seq(words(c.name+" = "), g.any(c.typ))))
	}
	return g.relation(c, pick(g, []string{"!=", "LIKE", "CONTAINS", "CONTAINS KEY"}))
}

// contains restricts a collection to those with an element, a key or a value.
func (g *gen) contains(c *column, op string, t types.Type) *node {
	return g.opt(of(c.name, seq(words(c.name+" "+op+" "), g.key(t))))
}
