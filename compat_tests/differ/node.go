package main

import "strings"

// node is a piece of a statement. A node without text and value consists of its kids, with the separator between kids
// that are not empty and the prefix and suffix around them; if all kids are empty, so is the node.
type node struct {
	text                      string
	value                     *value
	kids                      []*node
	prefix, separator, suffix string
	part                      int    // optional nodes have a number; nodes with the same number are left out together
	column                    string // the column that the node needs
}

// words is fixed text.
func words(text string) *node { return &node{text: text} }

// seq puts nodes one after another.
func seq(kids ...*node) *node { return &node{kids: kids} }

// list puts a separator between nodes, and a prefix and suffix around them.
func list(prefix, separator, suffix string, kids ...*node) *node {
	return &node{prefix: prefix, separator: separator, suffix: suffix, kids: kids}
}

// of sets the column that a node needs.
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

// rewrite copies a tree and replaces each node by change's result for its copy; nil leaves the node out.
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
