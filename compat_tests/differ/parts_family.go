package main

import "github.com/cqld/cqld/cql/types"

// partsFamily writes and reads the parts of collections that are not frozen.
var partsFamily = &family{
	name: "parts", statements: 600,
	shape: func(g *gen) *table {
		t := g.makeTable(shape{1, 2, 2, 4, simpleType, partsType})
		for len(t.of(regular, static)) == 0 {
			t = g.makeTable(shape{1, 2, 2, 4, simpleType, partsType})
		}
		return t
	},
	productions: []production{
		{"insert", 25, (*gen).insert},
		{"update", 40, (*gen).updateParts},
		{"delete", 10, (*gen).removeParts},
		{"remove", 5, (*gen).remove},
		{"batch", 6, func(g *gen) *step { return g.batchOf(g.updateParts, g.removeParts, g.insert) }},
		{"select", 50, (*gen).queryParts},
	},
}

// countersFamily changes and reads counters.
var countersFamily = &family{
	name: "counters", statements: 500,
	shape: func(g *gen) *table {
		counter := func(*gen) types.Type { return types.Counter }
		t := g.makeTable(shape{1, 2, 1, 3, simpleType, counter})
		for len(t.of(regular)) == 0 {
			t = g.makeTable(shape{1, 2, 1, 3, simpleType, counter})
		}
		t.expires = false
		return t
	},
	productions: []production{
		{"count", 50, (*gen).count},
		{"batch", 6, func(g *gen) *step { return g.batchOf(g.count, g.count) }},
		{"insert", 1, (*gen).insert},
		{"update", 2, (*gen).update},
		{"select", 40, (*gen).query},
	},
}

// partsType is a collection that is not frozen or, now and then, another type. It avoids elements with several equal
// representations: Cassandra may keep any of them.
func partsType(g *gen) types.Type {
	elems := []types.Type{types.Int, types.Text, types.TimeUUID, types.Blob, types.Boolean, types.Date}
	elem := pick(g, elems)
	switch g.IntN(10) {
	case 0:
		return simpleType(g)
	case 1:
		return &types.Set{Elem: elem, Frozen: true}
	case 2, 3, 4:
		return &types.Set{Elem: elem}
	case 5, 6:
		return &types.List{Elem: elem}
	}
	return &types.Map{Key: elem, Value: pick(g, elems)}
}

// partOf names a part of a column, mostly one that it can have; nil if the column has none.
func (g *gen) partOf(c *column) *node {
	switch t := c.typ.(type) {
	case *types.Map:
		return g.any(t.Key)
	case *types.Set:
		return g.any(t.Elem)
	case *types.List:
		return g.integer(g.IntN(5) - g.IntN(2))
	}
	return nil
}

// assignment changes a column as a whole or in a part.
func (g *gen) assignment(c *column) *node {
	elem := c.typ
	remove := c.typ
	switch t := c.typ.(type) {
	case *types.Map:
		elem, remove = t.Value, &types.Set{Elem: t.Key, Frozen: true}
	case *types.List:
		elem = t.Elem
	}
	plus, minus := words(c.name+" = "+c.name+" + "), words(c.name+" = "+c.name+" - ")
	if g.percent(20) {
		plus, minus = words(c.name+" += "), words(c.name+" -= ")
	}
	switch n := g.IntN(100); {
	case n < 25:
		return of(c.name, seq(words(c.name+" = "), g.any(c.typ)))
	case n < 50:
		return of(c.name, seq(plus, g.any(c.typ)))
	case n < 65:
		return of(c.name, seq(minus, g.any(remove)))
	case n < 75:
		return of(c.name, seq(words(c.name+" = "), g.any(c.typ), words(" + "+c.name)))
	}
	part := g.partOf(c)
	if part == nil {
		return of(c.name, seq(words(c.name+" = "), g.any(c.typ)))
	}
	return of(c.name, seq(words(c.name+"["), part, words("] = "), g.any(elem)))
}

// updateParts changes some columns, a column perhaps twice.
func (g *gen) updateParts() *step {
	set := list(" SET ", ", ", "")
	onlyStatic := true
	targets := some(g, g.table.of(static, regular))
	if g.percent(10) {
		targets = append(targets, targets[0])
	}
	for _, c := range targets {
		set.kids = append(set.kids, g.opt(g.assignment(c)))
		onlyStatic = onlyStatic && c.kind == static
	}
	key := g.table.of(partition, clustering)
	if onlyStatic {
		key = g.table.of(partition)
	}
	return &step{kind: write, root: seq(words("UPDATE "+tableName), g.using(true), set, g.whereKey(key))}
}

// removeParts deletes parts of columns.
func (g *gen) removeParts() *step {
	targets := list(" ", ", ", "")
	onlyStatic := true
	for _, c := range some(g, g.table.of(static, regular)) {
		target := of(c.name, words(c.name))
		if part := g.partOf(c); part != nil && g.percent(85) {
			target = of(c.name, seq(words(c.name+"["), part, words("]")))
		}
		targets.kids = append(targets.kids, g.opt(target))
		onlyStatic = onlyStatic && c.kind == static
	}
	key := g.table.of(partition, clustering)
	if onlyStatic {
		key = g.table.of(partition)
	}
	using := list(" USING ", " AND ", "", g.usingItems(false)...)
	return &step{kind: write, root: seq(words("DELETE"), targets, words(" FROM "+tableName), using, g.whereKey(key))}
}

// batchOf runs several statements together.
func (g *gen) batchOf(makers ...func() *step) *step {
	kind := "BEGIN BATCH"
	if g.table.of(static, regular)[0].typ == types.Counter {
		kind = pick(g, []string{"BEGIN COUNTER BATCH", "BEGIN COUNTER BATCH", "BEGIN UNLOGGED BATCH", "BEGIN BATCH"})
	}
	s := &step{kind: write, root: words(kind)}
	for range 1 + g.IntN(4) {
		s.children = append(s.children, g.opt(pick(g, makers)().root))
	}
	return s
}

// queryParts reads rows, mostly with selectors of parts.
func (g *gen) queryParts() *step {
	if g.percent(40) {
		return g.query()
	}
	items := list("", ", ", "")
	for _, c := range some(g, g.table.of(static, regular)) { // each once: Cassandra loses values of parts read twice
		item, rate := words(c.name), g.bindRate
		stamp := g.percent(60)
		if stamp {
			g.bindRate = 0 // Cassandra fails on markers there
		}
		if part := g.partOf(c); part != nil && g.percent(60) {
			if item = seq(words(c.name+"["), part, words("]")); g.percent(30) {
				item = seq(words(c.name+"["), part, words(".."), g.opt(g.partOf(c)), words("]"))
			}
		}
		if stamp {
			item = seq(words(pick(g, []string{"writetime(", "maxwritetime(", "ttl("})), item, words(")"))
			g.bindRate = rate
		}
		items.kids = append(items.kids, g.opt(of(c.name, item)))
	}
	root := seq(words("SELECT "), items, words(" FROM "+tableName))
	return &step{kind: read, root: root}
}

// count changes counters.
func (g *gen) count() *step {
	set := list(" SET ", ", ", "")
	onlyStatic := true
	for _, c := range some(g, g.table.of(static, regular)) {
		sign := pick(g, []string{" + ", " - "})
		set.kids = append(set.kids, g.opt(of(c.name, seq(words(c.name+" = "+c.name+sign), g.any(types.BigInt)))))
		onlyStatic = onlyStatic && c.kind == static
	}
	key := g.table.of(partition, clustering)
	if onlyStatic {
		key = g.table.of(partition)
	}
	return &step{kind: write, root: seq(words("UPDATE "+tableName), set, g.whereKey(key))}
}
