package main

import (
	"slices"

	"github.com/cqld/cqld/cql/types"
)

// groupsFamily reads groups of rows. Nothing deletes ranges: Cassandra fails where a page or a limit ends inside one.
var groupsFamily = &family{
	name: "groups", statements: 700,
	shape: func(g *gen) *table {
		for t, texts := range groupedTimes {
			for _, text := range texts {
				g.pools[t.String()] = append(g.pools[t.String()], literal(t, text))
			}
		}
		t := g.makeTable(shape{2, 3, 1, 3, groupedType, addedType})
		for len(t.of(clustering)) == 0 {
			t = g.makeTable(shape{2, 3, 1, 3, groupedType, addedType})
		}
		return t
	},
	productions: []production{
		{"insert", 30, (*gen).insert},
		{"update", 6, (*gen).update},
		{"delete", 4, (*gen).removeOne},
		{"select", 70, (*gen).groups},
	},
}

// groupedType is a type of key columns; one in three is a type of time.
func groupedType(g *gen) types.Type {
	if g.percent(35) {
		return pick(g, []types.Type{types.Timestamp, types.Date, types.Time, types.TimeUUID})
	}
	return simpleType(g)
}

// groupedTimes are values of keys near each other. Most edges in literals are before 1970, where floor fails.
var groupedTimes = map[types.Type][]string{
	types.Timestamp: {
		`'2020-02-28'`, `'2020-02-28 12:00:00.123'`, `'2020-02-28 12:00:00.5'`, `'2020-02-29'`, `'2020-03-01 00:10'`, `0`, `1`,
	},
	types.Date: {`'2020-02-28'`, `'2020-02-29'`, `'2020-03-01'`, `'2021-01-01'`, `'1970-01-01'`},
	types.Time: {`'00:00:01'`, `'00:00:01.5'`, `'00:10:00'`, `'12:30:00.5'`, `'12:30:00.500000001'`, `'23:59:59.999999999'`, `0`},
	types.TimeUUID: {
		`50554d6e-29bb-11e5-b345-feff819cdc9f`, `50554d6f-29bb-11e5-b345-feff819cdc9f`, `60554d6e-29bb-11e5-b345-feff819cdc9f`,
		`50554d6e-29bc-11e5-b345-feff819cdc9f`, `50554d6e-2abb-11e5-8080-808080808080`,
	},
}

// addedType is a type of columns that aggregates accept.
func addedType(g *gen) types.Type {
	return pick(g, []types.Type{types.Int, types.Int, types.BigInt, types.Text, types.SmallInt, types.VarInt, types.Boolean})
}

// removeOne deletes a row or cells of it.
func (g *gen) removeOne() *step {
	targets := list(" ", ", ", "")
	if cells := g.table.of(regular); len(cells) > 0 && g.percent(50) {
		for _, c := range some(g, cells) {
			targets.kids = append(targets.kids, g.opt(of(c.name, words(c.name))))
		}
	}
	where := list(" WHERE ", " AND ", "")
	for _, c := range g.table.of(partition, clustering) {
		where.kids = append(where.kids, of(c.name, seq(words(c.name+" = "), g.key(c.typ))))
	}
	using := list(" USING ", " AND ", "", g.usingItems(false)...)
	return &step{kind: write, root: seq(words("DELETE"), targets, words(" FROM "+tableName), using, where)}
}

// groups reads with GROUP BY.
func (g *gen) groups() *step {
	s := g.query()
	by := list(" GROUP BY ", ", ", "", g.groupColumns()...)
	for at, kid := range s.root.kids { // it follows the WHERE clause
		if kid.prefix == " WHERE " {
			s.root.kids = slices.Insert(s.root.kids, at+1, g.opt(by))
			break
		}
	}
	if !g.percent(25) {
		s.root.kids[1] = g.groupSelection()
	}
	return s
}

// groupSelection has columns and aggregates, or JSON of them. JSON has no TTLs: texts must be equal, and the servers'
// TTLs may differ by a second.
func (g *gen) groupSelection() *node {
	items, json := list("", ", ", ""), g.percent(8)
	if json {
		items.prefix = "JSON "
	}
	for range 1 + g.IntN(4) {
		item := g.selector(json || g.percent(60))
		if json && g.percent(50) {
			c := pick(g, g.table.columns)
			item = of(c.name, words(c.name))
		}
		items.kids = append(items.kids, g.opt(item))
	}
	return items
}

// groupColumns are a prefix of the key columns, perhaps without some, the last one perhaps rounded down.
func (g *gen) groupColumns() []*node {
	columns := g.table.of(partition, clustering)
	columns = columns[:1+g.IntN(len(columns))]
	if least := len(g.table.of(partition)); len(columns) < least && g.percent(90) {
		columns = g.table.of(partition)
	}
	var nodes []*node
	for i, c := range columns {
		switch {
		case g.percent(6):
			continue
		case g.percent(1):
			c = pick(g, g.table.columns)
		}
		n := words(c.name)
		if i == len(columns)-1 && c.kind == clustering && slices.Contains(floored, c.typ) && g.percent(60) || g.percent(1) {
			n = g.floor(c)
		}
		nodes = append(nodes, g.opt(of(c.name, n)))
	}
	if len(nodes) == 0 {
		return append(nodes, words(columns[0].name))
	}
	return nodes
}

// floored are the types that floor takes.
var floored = []types.Type{types.Timestamp, types.Date, types.Time, types.TimeUUID}

// floor rounds a time down, mostly to a duration that its type has.
func (g *gen) floor(c *column) *node {
	durations := []string{"1h", "2h", "5m", "1s", "250ms", "1d", "1mo", "2y"}
	switch {
	case g.percent(5):
		durations = []string{"-1d", "0s", "1ns", "1mo1d", "1d1h", "1us"}
	case c.typ == types.Date:
		durations = []string{"1d", "3d", "1w", "1mo", "1y"}
	case c.typ == types.Time:
		durations = []string{"1h", "90m", "1s", "1ms", "7ns"}
	}
	start := ""
	if g.percent(20) && c.typ != types.Time {
		start = pick(g, []string{", '1970-01-01'", ", '1969-12-30'"})
	}
	return words("floor(" + c.name + ", " + pick(g, durations) + start + ")")
}
