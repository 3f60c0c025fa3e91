package main

import (
	"regexp"
	"slices"
)

// mutationsFamily sends statements with a token too many, too few or changed.
var mutationsFamily = &family{
	name: "mutations", statements: 900,
	shape: func(g *gen) *table { return g.makeTable(shape{2, 2, 1, 3, keyType, anyType}) },
	productions: []production{
		{"select", 40, func(g *gen) *step { return g.mutate(g.query()) }},
		{"insert", 25, func(g *gen) *step { return g.mutate(g.insert()) }},
		{"update", 15, func(g *gen) *step { return g.mutate(g.update()) }},
		{"delete", 15, func(g *gen) *step { return g.mutate(g.remove()) }},
		{"batch", 5, (*gen).batch},
		{"read", 5, (*gen).query},
		{"other", 6, func(g *gen) *step { return g.mutate(g.other()) }},
	},
}

// token is approximately a token of the language, with the blanks before it.
var token = regexp.MustCompile(`\s*(?:[A-Za-z_][A-Za-z0-9_]*|'(?:[^']|'')*'|"(?:[^"]|"")*"|-?[0-9][-0-9a-zA-Z.+]*|[<>!+-]=|[^\s])`)

// strays are tokens to insert where they do not belong.
var strays = []string{
	"SELECT", "FROM", "where", "AND", "IN", ",", ";", "(", ")", "[", "]", "{", "}", "=", "<", ">=", "!=", "*", "+", "-", "?", ":x", "'a'",
	"1", "-1", "1.5", "0xff", "null", "true", "NOT", "token", "ttl", "count", "x", `"Q"`, "'", `"`, "$$", "/*", "--", "//", ".", "..", "%",
	"#", "@", "ä", "IF", "EXISTS", "AS", "LIMIT", "ORDER", "BY", "USING", "TTL", "DISTINCT", "frozen", "int", "1h", "NaN", "\n",
	"CONTAINS", "KEY", "LIKE", "IS", "OR", "JSON", "CAST", "GROUP", "ALLOW", "FILTERING", "VALUES", "SET", "PER", "PARTITION",
}

// mutate changes up to two tokens of a statement.
func (g *gen) mutate(s *step) *step {
	var none []*value
	text := s.root.rewrite(func(n *node) *node {
		if n.value != nil && n.value.text != "" {
			v := *n.value
			v.bound = false
			n.value = &v
		}
		return n
	}).render(&none)
	tokens := token.FindAllString(text, -1)
	for range 1 + g.IntN(2) {
		at := g.IntN(len(tokens))
		switch g.IntN(5) {
		case 0:
			tokens = slices.Delete(tokens, at, at+1)
		case 1:
			tokens = slices.Insert(tokens, at, tokens[at])
		case 2:
			tokens = slices.Insert(tokens, at, " "+pick(g, strays))
		case 3:
			tokens[at] = " " + pick(g, strays)
		case 4:
			other := g.IntN(len(tokens))
			tokens[at], tokens[other] = tokens[other], tokens[at]
		}
		if len(tokens) == 0 {
			tokens = []string{";"}
		}
	}
	root := seq()
	for _, t := range tokens {
		root.kids = append(root.kids, g.opt(words(t)))
	}
	return &step{kind: s.kind, root: root}
}

// other is a statement that does not read or write rows.
func (g *gen) other() *step {
	return &step{kind: definition, root: words(pick(g, []string{
		"USE nope", "TRUNCATE nope", "TRUNCATE TABLE " + tableName, "DROP TABLE nope", "DROP TABLE IF EXISTS nope", "DROP KEYSPACE IF EXISTS nope",
		"DESCRIBE KEYSPACE nope", "DESCRIBE TABLE nope",
	}))}
}
