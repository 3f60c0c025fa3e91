package main

import "github.com/cqld/cqld/cql/types"

// newest is the greatest write time: there are few, so that write times are often equal or out of order.
const newest = 12

// using is a USING clause with a write time and perhaps a TTL. Each TTL is longer than earlier ones, by more than a
// scenario takes, so that of two cells with equal write times the same one expires later on both servers.
func (g *gen) using(ttl bool) *node {
	return list(" USING ", " AND ", "", g.usingItems(ttl)...)
}

// usingItems are the items of a USING clause.
func (g *gen) usingItems(ttl bool) []*node {
	at := g.IntN(newest) + 1
	switch {
	case g.table.untied:
		g.ttls++
		at = g.ttls * 0x9e3779b1 & (1<<32 - 1) // times an odd number: all are different
	case g.table.expires || g.table.rising:
		g.ttls++
		at = g.ttls // between equal write times, the second of expiration would decide
	}
	var items []*node
	if !g.table.untimed {
		v := literal(types.BigInt, itoa(at))
		v.kept = g.table.untied || g.table.rising // equal times could cause another difference
		items = append(items, seq(words("TIMESTAMP "), g.term(v)))
	}
	if ttl && g.percent(20) {
		g.ttls++
		items = append(items, g.opt(seq(words("TTL "), g.integer(1000000+1000*g.ttls))))
	}
	return items
}

// equals is column = value, now and then with a wrong value.
func (g *gen) equals(c *column) *node {
	v := g.key(c.typ)
	if g.percent(1) {
		v = g.any(c.typ)
	}
	return g.opt(of(c.name, seq(words(c.name+" = "), v)))
}

// whereKey selects a row or, with only the partition key, a partition.
func (g *gen) whereKey(columns []*column) *node {
	where := list(" WHERE ", " AND ", "")
	for _, c := range columns {
		if g.percent(99) {
			where.kids = append(where.kids, g.equals(c))
		}
	}
	return where
}

// insert writes a row.
func (g *gen) insert() *step {
	columns, vals := list("(", ", ", ")"), list("(", ", ", ")")
	for _, c := range g.table.columns {
		v := g.any(c.typ)
		switch {
		case c.kind <= clustering && g.percent(99):
			v = g.key(c.typ)
		case c.kind > clustering && g.percent(30):
			continue
		}
		name := g.opt(of(c.name, words(c.name)))
		columns.kids = append(columns.kids, name)
		item := of(c.name, seq(v))
		item.part = name.part
		vals.kids = append(vals.kids, item)
	}
	root := seq(words("INSERT INTO "+tableName+" "), columns, words(" VALUES "), vals, g.using(true))
	return &step{kind: write, root: root}
}

// update writes cells.
func (g *gen) update() *step {
	targets := g.table.of(static, regular)
	if len(targets) == 0 {
		return g.insert()
	}
	set := list(" SET ", ", ", "")
	onlyStatic := true
	for _, c := range some(g, targets) {
		set.kids = append(set.kids, g.opt(of(c.name, seq(words(c.name+" = "), g.any(c.typ)))))
		onlyStatic = onlyStatic && c.kind == static
	}
	key := g.table.of(partition, clustering)
	if onlyStatic && g.percent(90) {
		key = g.table.of(partition)
	}
	root := seq(words("UPDATE "+tableName), g.using(true), set, g.whereKey(key))
	return &step{kind: write, root: root}
}

// remove deletes a partition, a range, rows or cells.
func (g *gen) remove() *step {
	targets := list(" ", ", ", "")
	key := g.table.of(partition, clustering)
	if cells := g.table.of(static, regular); len(cells) > 0 && g.percent(40) {
		for _, c := range some(g, cells) {
			targets.kids = append(targets.kids, g.opt(of(c.name, words(c.name))))
		}
	}
	where := g.whereKey(key)
	if clusterings := g.table.of(clustering); len(targets.kids) == 0 && len(clusterings) > 0 && g.percent(60) {
		where = g.whereKey(g.table.of(partition))
		where.kids = append(where.kids, g.clusterings(clusterings)...)
	} else if g.percent(5) {
		where = g.whereKey(g.table.of(partition))
	}
	using := list(" USING ", " AND ", "", g.usingItems(false)...)
	return &step{kind: write, root: seq(words("DELETE"), targets, words(" FROM "+tableName), using, where)}
}

// batch runs several of them together.
func (g *gen) batch() *step {
	s := &step{kind: write, root: words(pick(g, []string{"BEGIN BATCH", "BEGIN UNLOGGED BATCH"}))}
	for range 1 + g.IntN(4) {
		child := pick(g, []func() *step{g.insert, g.update, g.remove})()
		s.children = append(s.children, g.opt(child.root))
	}
	return s
}
