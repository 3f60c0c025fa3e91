package main

import "github.com/cqld/cqld/cql/types"

// rowsFamily writes and reads rows of tables of every kind.
var rowsFamily = &family{
	name: "rows", statements: 600,
	shape: func(g *gen) *table { return g.makeTable(shape{3, 3, 2, 5, keyType, anyType}) },
	productions: []production{
		{"insert", 30, (*gen).insert},
		{"update", 15, (*gen).update},
		{"delete", 7, (*gen).remove},
		{"batch", 6, (*gen).batch},
		{"select", 45, (*gen).query},
	},
}

// slicesFamily reads ranges of a few partitions with many rows, of which ranges are deleted as well.
var slicesFamily = &family{
	name: "slices", statements: 900,
	shape: func(g *gen) *table {
		t := g.makeTable(shape{1, 3, 1, 2, simpleType, simpleType})
		for len(t.of(clustering)) == 0 {
			t = g.makeTable(shape{1, 3, 1, 2, simpleType, simpleType})
		}
		return t
	},
	productions: []production{
		{"insert", 25, (*gen).insert},
		{"update", 8, (*gen).update},
		{"delete", 6, (*gen).remove},
		{"batch", 3, (*gen).batch},
		{"select", 60, (*gen).query},
	},
}

// keysFamily reads tables by all types of keys: by key, token, in order of the token.
var keysFamily = &family{
	name: "keys", statements: 400,
	shape: func(g *gen) *table {
		key := func(g *gen) types.Type { return g.typ(2, true) }
		return g.makeTable(shape{3, 1, 1, 1, key, simpleType})
	},
	productions: []production{
		{"insert", 35, (*gen).insert},
		{"delete", 4, (*gen).remove},
		{"select", 60, (*gen).query},
		{"truncate", 1, (*gen).truncate},
	},
}
