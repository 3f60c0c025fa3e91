package main

// query reads rows.
func (g *gen) query() *step {
	distinct := g.percent(6)
	where := list(" WHERE ", " AND ", "")
	nodes, one := g.partitions()
	where.kids = nodes
	clusterings := g.table.of(clustering)
	if len(clusterings) > 0 && (one && g.percent(70) || g.percent(15)) && (!distinct || g.percent(20)) {
		where.kids = append(where.kids, g.clusterings(clusterings)...)
	}
	filters := g.percent(12)
	if filters {
		for range 1 + g.IntN(2) {
			where.kids = append(where.kids, g.filter())
		}
	}
	root := seq(words("SELECT "), g.selection(distinct), words(" FROM "+tableName), where)
	if len(clusterings) > 0 && (one && g.percent(40) || g.percent(4)) {
		root.kids = append(root.kids, g.orderBy(clusterings))
	}
	if g.percent(12) {
		root.kids = append(root.kids, g.opt(seq(words(" PER PARTITION LIMIT "), g.integer(1+g.IntN(3)))))
	}
	if g.percent(25) {
		root.kids = append(root.kids, g.opt(seq(words(" LIMIT "), g.integer(g.limit()))))
	}
	if filters && g.percent(90) || g.percent(15) {
		root.kids = append(root.kids, g.opt(words(" ALLOW FILTERING")))
	}
	return &step{kind: read, root: root}
}

// limit is a LIMIT, mostly one that cuts off rows.
func (g *gen) limit() int {
	if g.percent(3) {
		return g.IntN(3) - 2
	}
	return 1 + g.IntN(8)
}

// orderBy is the order of the table, the reverse, or now and then another.
func (g *gen) orderBy(columns []*column) *node {
	order := list(" ORDER BY ", ", ", "")
	reverse := g.percent(60)
	for _, c := range columns[:1+g.IntN(len(columns))] {
		if g.percent(3) {
			c = pick(g, g.table.columns)
		}
		text := c.name + " ASC"
		if c.desc != (reverse != g.percent(3)) {
			text = c.name + " DESC"
		}
		order.kids = append(order.kids, g.opt(of(c.name, words(text))))
	}
	return g.opt(order)
}

// truncate removes all rows.
func (g *gen) truncate() *step { return &step{kind: write, root: words("TRUNCATE " + tableName)} }
