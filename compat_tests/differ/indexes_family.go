package main

import (
	"slices"

	"github.com/cqld/cqld/cql/types"
)

// indexesFamily writes to a table with indexes in every way, and reads through them.
var indexesFamily = &family{
	name: "indexes", statements: 500,
	shape: func(g *gen) *table {
		t := g.makeDerivedFrom()
		t.indexed = some(g, slices.DeleteFunc(slices.Clone(t.columns), func(c *column) bool {
			return c.kind == partition && len(t.of(partition)) == 1 ||
				c.kind == static && types.IsMultiCell(c.typ) || // docs/differences.md, 337 and 339
				c.desc && (c.typ == types.Text || c.typ == types.ASCII || c.typ == types.Blob) // 338
		}))
		return t
	},
	productions: append(derivedFrom, production{"select", 70, (*gen).queryIndexed}),
}

// createIndexes are the CREATE INDEX statements of a table: all of one kind, because Cassandra chooses among indexes
// of two kinds in its own way. Columns whose legacy index loses rows in Cassandra get none. If the table has indexes,
// the fields that restrict its writes are set, to avoid other known differences.
func (g *gen) createIndexes(t *table) (steps []*step) {
	if len(t.indexed) == 0 {
		return nil
	}
	using := pick(g, []string{"", " USING 'sai'"})
	if using == "" {
		t.indexed = slices.DeleteFunc(t.indexed, func(c *column) bool { // docs/differences.md, 341, 342 and 344
			_, isSet := c.typ.(*types.Set)
			return types.IsMultiCell(c.typ) && !isSet || c.kind == static || c.kind == partition && len(t.of(static)) > 0
		})
	}
	ofKeys := slices.ContainsFunc(t.indexed, func(c *column) bool { return c.kind == partition || c.kind == clustering })
	t.rising = using == "" && ofKeys // 343, like the next one
	t.untied = using == "" && !ofKeys
	t.filled = using != "" // 345
	for _, c := range t.indexed {
		root := words("CREATE INDEX ON " + tableName + " (" + c.name + ")" + using)
		steps = append(steps, &step{production: "table", kind: definition, root: root})
	}
	return steps
}

// queryIndexed reads by indexed columns, perhaps with restrictions of others.
func (g *gen) queryIndexed() *step {
	s := g.query()
	if len(g.table.indexed) == 0 {
		return s
	}
	where := list(" WHERE ", " AND ", "")
	if g.percent(25) {
		where.kids, _ = g.partitions()
	}
	for range 1 + g.IntN(2) {
		c := pick(g, g.table.indexed)
		where.kids = append(where.kids, g.filterOf(c))
	}
	for i, kid := range s.root.kids {
		if kid.prefix == " WHERE " {
			s.root.kids[i] = where
		}
	}
	s.root.kids = slices.DeleteFunc(s.root.kids, func(n *node) bool { return n.prefix == " ORDER BY " })
	if g.percent(40) && s.root.kids[len(s.root.kids)-1].text != " ALLOW FILTERING" {
		s.root.kids = append(s.root.kids, g.opt(words(" ALLOW FILTERING")))
	}
	return s
}
