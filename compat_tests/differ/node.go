package main

import "strings"

// node is a piece of a statement. A node without text and value is its kids, with the separator between those that
// are there and the prefix and suffix around them; without kids nothing is left of it.
type node struct {
	text                      string
	value                     *value
	kids                      []*node
	prefix, separator, suffix string
	part                      int    // what can be left out has a number; what goes together has the same
	column                    string // the column without which the node makes no sense
}

// words is text that stays as it is.
func words(text string) *node { return &node{text: text} }

// seq puts nodes one after another.
func seq(kids ...*node) *node { return &node{kids: kids} }

// list puts a separator between nodes, and a prefix and suffix around them.
func list(prefix, separator, suffix string, kids ...*node) *node {
	return &node{prefix: prefix, separator: separator, suffix: suffix, kids: kids}
}

// of says which column a node is about.
func of(column string, n *node) *node {
	n.column = column
	return n
}

// leaf is a value as a node.
func leaf(v *value) *node { return &node{value: v} }

// render is the text of a node, with the values that are bound to its markers.
func (n *node) render(bound *[]*value) string {
	switch {
	case n.value != nil && n.value.bound:
		*bound = append(*bound, n.value)
		return "?"
	case n.value != nil:
		return n.value.text
	case len(n.kids) == 0:
		return n.text
	}
	var parts []string
	for _, kid := range n.kids {
		if text := kid.render(bound); text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return n.prefix + strings.Join(parts, n.separator) + n.suffix
}

// walk visits a node and all in it.
func (n *node) walk(visit func(*node)) {
	visit(n)
	for _, kid := range n.kids {
		kid.walk(visit)
	}
}

// rewrite is a copy in which each node is what change makes of its copy; nil leaves it out.
func (n *node) rewrite(change func(*node) *node) *node {
	c := *n
	c.kids = nil
	for _, kid := range n.kids {
		if k := kid.rewrite(change); k != nil {
			c.kids = append(c.kids, k)
		}
	}
	if len(n.kids) > 0 && len(c.kids) == 0 {
		c = node{part: n.part, column: n.column}
	}
	return change(&c)
}
