package main

import (
	"strings"

	"github.com/cqld/cqld/cql/types"
)

// selection is the selection after SELECT.
func (g *gen) selection(distinct bool) *node {
	if distinct {
		names := list("DISTINCT ", ", ", "")
		columns := g.table.of(partition)
		if g.percent(30) {
			columns = append(columns, g.table.of(static)...)
		}
		if g.percent(3) {
			columns = some(g, g.table.columns)
		}
		for _, c := range columns {
			names.kids = append(names.kids, g.opt(of(c.name, words(c.name))))
		}
		return names
	}
	if g.percent(45) {
		return words("*")
	}
	items := list("", ", ", "")
	aggregates := g.percent(20)
	for range 1 + g.IntN(4) {
		item := g.selector(aggregates)
		if g.percent(12) && !strings.HasPrefix(item.render(new([]*value)), "ttl(") { // TTLs are found by name
			item = seq(item, g.opt(words(" AS "+pick(g, []string{"a", `"A b"`, "count", "x1"}))))
		}
		items.kids = append(items.kids, g.opt(item))
	}
	return items
}

// selector is a column or a function of columns.
func (g *gen) selector(aggregates bool) *node {
	c := pick(g, g.table.columns)
	column := of(c.name, words(c.name))
	if aggregates {
		name := pick(g, []string{"count", "min", "max", "sum", "avg", "count(*)", "count(1)"})
		if strings.HasSuffix(name, ")") {
			return words(name)
		}
		return of(c.name, seq(words(name+"("), g.argument(c), words(")")))
	}
	switch k := g.IntN(100); {
	case k < 50:
		return column
	case k < 65:
		name := pick(g, []string{"writetime(", "ttl(", "WRITETIME(", "maxwritetime("})
		others := g.table.of(static, regular)
		if len(others) > 0 && g.percent(95) {
			c = pick(g, others)
		}
		if c.typ == types.Counter {
			name = "ttl(" // the server chooses the write times of counters
		}
		return of(c.name, words(name+c.name+")"))
	case k < 72:
		return g.tokenOf()
	}
	return of(c.name, seq(g.call(c)))
}

// argument is a column, or a function of one.
func (g *gen) argument(c *column) *node {
	if g.percent(80) {
		return words(c.name)
	}
	return g.call(c)
}

// tokenOf is the token of the partition key.
func (g *gen) tokenOf() *node {
	names := list("token(", ", ", ")")
	for _, c := range g.table.of(partition) {
		names.kids = append(names.kids, of(c.name, words(c.name)))
	}
	return names
}

// calls are functions of one argument, with the types that they accept.
var calls = map[types.Type][]string{
	types.TimeUUID:  {"to_date", "to_timestamp", "toUnixTimestamp", "to_unix_timestamp", "toDate"},
	types.Timestamp: {"to_date", "to_unix_timestamp", "min_timeuuid", "maxTimeuuid", "toUnixTimestamp"},
	types.Date:      {"to_timestamp", "to_unix_timestamp", "toTimestamp"},
	types.Blob:      {"blob_as_int", "blobAsText", "blob_as_uuid", "blob_as_bigint", "blob_as_boolean", "blob_as_double", "blob_as_date"},
}

// call is a function of a column, mostly one that accepts its type.
func (g *gen) call(c *column) *node {
	if names := calls[c.typ]; names != nil && g.percent(60) {
		return words(pick(g, names) + "(" + c.name + ")")
	}
	if g.percent(4) {
		return words(pick(g, []string{"nope", "system.to_date", "to_date", "blob_as_int", "min"}) + "(" + c.name + ")")
	}
	name := c.typ.String()
	if _, native := types.Native(name); !native {
		return words(c.name)
	}
	return words(pick(g, []string{name + "_as_blob", name + "AsBlob"}) + "(" + c.name + ")")
}
