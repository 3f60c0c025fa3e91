package main

import (
	"strings"

	"github.com/cqld/cqld/cql/types"
)

// guardrailsFamily sends statements near the guardrails: long values, collections of many items, products of IN, large
// pages, batches over many partitions, and tables that grow. The Makefile has settings with thresholds for warnings and
// refusals.
var guardrailsFamily = &family{
	name: "guardrails", statements: 600, guarded: true,
	shape: func(g *gen) *table {
		for t, values := range guardedValues() {
			g.pools[t.String()] = append(g.pools[t.String()], values...)
		}
		t := g.makeTable(shape{2, 3, 2, 5, guardedKey, guardedType})
		for len(t.of(regular, static)) == 0 || len(t.of(clustering)) == 0 {
			t = g.makeTable(shape{2, 3, 2, 5, guardedKey, guardedType})
		}
		return t
	},
	productions: []production{
		{"insert", 25, (*gen).insert},
		{"update", 25, (*gen).updateParts},
		{"assign", 10, (*gen).update},
		{"delete", 6, (*gen).removeParts},
		{"remove", 5, (*gen).remove},
		{"batch", 12, func(g *gen) *step { return g.batchOf(g.updateParts, g.insert, g.insert, g.remove) }},
		{"select", 60, (*gen).query},
		{"groups", 10, (*gen).groups},
		{"add", 1, (*gen).addColumn},
	},
}

// guardedKey is a type of key columns, with few values for INs.
func guardedKey(g *gen) types.Type {
	return pick(g, []types.Type{types.Int, types.Int, types.Text, types.Blob})
}

// guardedType is a type of other columns: a scalar whose values may be long, or a collection.
func guardedType(g *gen) types.Type {
	if g.percent(45) {
		return pick(g, []types.Type{types.Text, types.Blob, types.ASCII, types.VarInt, types.Int})
	}
	return partsType(g)
}

// guardedValues are values around the limits of column_value_size in the Makefile's settings, 20 and 60 bytes.
func guardedValues() map[types.Type][]*value {
	values := map[types.Type][]*value{}
	for _, n := range []int{1, 2, 3, 19, 20, 21, 59, 60, 61, 200} {
		text := "'" + strings.Repeat("x", n) + "'"
		values[types.Text] = append(values[types.Text], literal(types.Text, text))
		values[types.ASCII] = append(values[types.ASCII], literal(types.ASCII, text))
		values[types.Blob] = append(values[types.Blob], literal(types.Blob, "0x"+strings.Repeat("ab", n)))
		values[types.VarInt] = append(values[types.VarInt], literal(types.VarInt, strings.Repeat("7", 2*n)))
	}
	return values
}

// addColumn makes the table grow by a column that is never written.
func (g *gen) addColumn() *step {
	g.parts++
	return &step{kind: definition, root: words("ALTER TABLE " + tableName + " ADD added" + itoa(g.parts) + " int")}
}
