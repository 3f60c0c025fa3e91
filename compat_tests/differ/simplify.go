package main

import (
	"context"
	"slices"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol"
)

// simplify makes the statements simpler: how they are sent, then columns, parts and values.
func (h *shrinker) simplify(ctx context.Context) {
	if h.best.version != protocol.V5 {
		h.try(ctx, &scenario{version: protocol.V5, steps: h.best.steps})
	}
	h.try(ctx, h.best.each(func(st *step) { st.mode, st.page = plain, 0 }, inline))
	for _, change := range []func(*step){
		func(st *step) { st.mode = plain },
		func(st *step) { st.page = 0 },
	} {
		h.try(ctx, h.best.each(change, nil))
	}
	h.try(ctx, h.best.each(func(*step) {}, inline))
	without(h.columns(), func(_, left []string) bool {
		return h.try(ctx, h.best.each(func(*step) {}, func(n *node) *node {
			if slices.Contains(left, n.column) {
				return nil
			}
			return n
		}))
	})
	for i := len(h.best.steps) - 1; i >= 0; i-- {
		h.parts(ctx, i)
	}
	h.values(ctx)
}

// each copies a scenario, with every step changed and every node rewritten.
func (s *scenario) each(change func(*step), node func(*node) *node) *scenario {
	c := &scenario{version: s.version}
	for _, st := range s.steps {
		c.steps = append(c.steps, st.changed(change, node))
	}
	return c
}

// changed copies a step, changes it and may rewrite every node.
func (s *step) changed(change func(*step), rewrite func(*node) *node) *step {
	c := *s
	change(&c)
	if rewrite == nil {
		return &c
	}
	if c.root = s.root.rewrite(rewrite); c.root == nil {
		c.root = words("")
	}
	c.children = nil
	for _, child := range s.children {
		if k := child.rewrite(rewrite); k != nil {
			c.children = append(c.children, k)
		}
	}
	if s.children != nil && c.children == nil {
		c.children = []*node{}
	}
	return &c
}

// inline writes a bound value as a literal, if there is one.
func inline(n *node) *node {
	if n.value != nil && n.value.bound && n.value.text != "" {
		v := *n.value
		v.bound = false
		n.value = &v
	}
	return n
}

// walk visits the nodes of a step.
func (s *step) walk(visit func(*node)) {
	s.root.walk(visit)
	for _, c := range s.children {
		c.walk(visit)
	}
}

// columns are the names of all columns, the last first.
func (h *shrinker) columns() []string {
	var names []string
	for _, st := range h.best.steps {
		st.walk(func(n *node) {
			if n.column != "" && !slices.Contains(names, n.column) {
				names = append(names, n.column)
			}
		})
	}
	slices.Reverse(names)
	return names
}

// parts leaves out parts of a step.
func (h *shrinker) parts(ctx context.Context, i int) {
	var parts []int
	h.best.steps[i].walk(func(n *node) {
		if n.part != 0 && !slices.Contains(parts, n.part) {
			parts = append(parts, n.part)
		}
	})
	without(parts, func(_, left []int) bool {
		c := h.best.with(slices.Clone(h.best.steps))
		c.steps[i] = c.steps[i].changed(func(*step) {}, func(n *node) *node {
			if slices.Contains(left, n.part) {
				return nil
			}
			return n
		})
		return h.try(ctx, c)
	})
}

// values replaces each value by a simple one of its type.
func (h *shrinker) values(ctx context.Context) {
	seen := map[string]bool{}
	var all []*value
	for _, st := range h.best.steps {
		st.walk(func(n *node) {
			if n.value != nil && !seen[n.value.key()] {
				seen[n.value.key()] = true
				all = append(all, n.value)
			}
		})
	}
	for _, v := range all {
		for _, text := range simplest(v) {
			simple := literal(v.typ, text)
			simple.bound = v.bound
			if h.try(ctx, h.best.each(func(*step) {}, func(n *node) *node {
				if n.value != nil && n.value.key() == v.key() {
					n.value = simple
				}
				return n
			})) {
				break
			}
		}
	}
}

// simplest are the simple literals to try instead of a value. There are none if it is one of them already, is null or
// has no literal.
func simplest(v *value) []string {
	all := literals[v.typ]
	if v.kept || len(all) < 2 || v.typ == types.Boolean || slices.Contains(all[:2], v.text) || v.bytes == nil || v.text == "" {
		return nil
	}
	return all[:2]
}
