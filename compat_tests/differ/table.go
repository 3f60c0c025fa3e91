package main

import (
	"github.com/cqld/cqld/cql/types"
)

// columnKind is the place of a column in its table.
type columnKind int

// The kinds of columns.
const (
	partition columnKind = iota
	clustering
	static
	regular
)

// column is a column of a table.
type column struct {
	name string // quoted if necessary
	typ  types.Type
	kind columnKind
	desc bool
}

// table is the table that statements are about.
type table struct {
	columns []*column
	expires bool // it has a default TTL
	untimed bool // the write that is being made has no USING TIMESTAMP
	rising  bool // each write has a later timestamp than the one before
	untied  bool // all writes have different timestamps, in any order
	filled  bool // no bound value is empty

	view    *table    // of the table; nil: it has none
	indexed []*column // those with an index
}

// of are the columns of some kinds.
func (t *table) of(kinds ...columnKind) []*column {
	var list []*column
	for _, c := range t.columns {
		for _, k := range kinds {
			if c.kind == k {
				list = append(list, c)
			}
		}
	}
	return list
}

// shape describes the tables of a family: the most columns of each kind, and how their types are chosen.
type shape struct {
	partition, clustering, static, regular int
	key                                    func(*gen) types.Type // of key columns
	other                                  func(*gen) types.Type // of the others
}

// makeTable makes a table of a shape.
func (g *gen) makeTable(s shape) *table {
	t := &table{expires: g.percent(8)}
	add := func(prefix string, kind columnKind, n int, typ func(*gen) types.Type) {
		for i := range n {
			c := &column{name: prefix + itoa(i), typ: typ(g), kind: kind}
			c.desc = kind == clustering && g.percent(40)
			if g.percent(5) {
				c.name = `"` + prefix + ` ` + itoa(i) + `"`
			}
			t.columns = append(t.columns, c)
		}
	}
	clusterings := g.IntN(s.clustering + 1)
	add("p", partition, 1+g.IntN(s.partition), s.key)
	add("c", clustering, clusterings, s.key)
	if clusterings > 0 {
		add("s", static, g.IntN(s.static+1), s.other)
	}
	add("v", regular, g.IntN(s.regular+1), s.other)
	return t
}

// create is the CREATE TABLE of a table, under a name.
func (g *gen) create(name string, t *table) *node {
	definitions := list("", ", ", "")
	for _, c := range t.columns {
		text := c.name + " " + c.typ.String()
		if c.kind == static {
			text += " STATIC"
		}
		definitions.kids = append(definitions.kids, of(c.name, words(text)))
	}
	definitions.kids = append(definitions.kids, t.primaryKey())
	return seq(words("CREATE TABLE "+name+" ("), definitions, words(")"), g.tableOptions(t))
}

// primaryKey is the PRIMARY KEY clause.
func (t *table) primaryKey() *node {
	key := list("(", ", ", ")")
	for _, c := range t.of(partition) {
		key.kids = append(key.kids, of(c.name, words(c.name)))
	}
	all := list("PRIMARY KEY (", ", ", ")", key)
	for _, c := range t.of(clustering) {
		all.kids = append(all.kids, of(c.name, words(c.name)))
	}
	return all
}

// tableOptions are the order of clustering columns and some options that affect answers.
func (g *gen) tableOptions(t *table) *node {
	order := list("CLUSTERING ORDER BY (", ", ", ")")
	descends := false
	for _, c := range t.of(clustering) {
		text := c.name + " ASC"
		if c.desc {
			text, descends = c.name+" DESC", true
		}
		order.kids = append(order.kids, of(c.name, words(text)))
	}
	options := list(" WITH ", " AND ", "")
	if descends {
		options.kids = append(options.kids, g.opt(order))
	}
	if t.expires {
		options.kids = append(options.kids, g.opt(words("default_time_to_live = 1000000")))
	}
	return options
}

// simple types are used for slices and orders.
func simpleType(g *gen) types.Type {
	return pick(g, []types.Type{types.Int, types.Int, types.Int, types.Text})
}

// keyType is a type that a key may have, mostly a common one.
func keyType(g *gen) types.Type {
	if g.percent(40) {
		return simpleType(g)
	}
	return g.typ(1, true)
}

// anyType is any type.
func anyType(g *gen) types.Type { return g.typ(2, false) }
