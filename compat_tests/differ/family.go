package main

import (
	"fmt"
	"strings"

	"github.com/cqld/cqld/protocol"
)

// family is a kind of table, and the statements that are sent on it. Each scenario of a family has one table.
type family struct {
	name        string
	shape       func(*gen) *table // nil: statements make their tables, in a separate keyspace
	statements  int               // in a scenario
	productions []production
	guarded     bool // it is for servers with guardrails, see options.settings
}

// production makes one statement. It comes as often as its weight says.
type production struct {
	name   string
	weight int
	make   func(*gen) *step
}

// families are all there are; they take turns.
var families = []*family{
	rowsFamily, slicesFamily, keysFamily, valuesFamily, expressionsFamily, definitionsFamily, mutationsFamily, partsFamily,
	countersFamily, alterationsFamily, conditionsFamily, conditionalBatchesFamily, groupsFamily, viewsFamily, indexesFamily,
	functionsFamily, guardrailsFamily,
}

// familyNames are the values of -only.
func familyNames() string {
	var names []string
	for _, f := range families {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

// findFamilies returns the families of a run: the named one, or all families for servers with guardrails or for servers
// without.
func findFamilies(only string, guarded bool) ([]*family, error) {
	var found []*family
	for _, f := range families {
		if f.guarded == guarded && (only == "" || f.name == only) {
			found = append(found, f)
		}
	}
	if found == nil {
		return nil, fmt.Errorf("no family %q for servers with these settings; there are %s", only, familyNames())
	}
	return found, nil
}

// tableName is a placeholder for the name of a scenario's table, which has the same length.
const tableName = "t00000"

// makeScenario makes a scenario: its table and some statements.
func (f *family) makeScenario(g *gen, statements int) *scenario {
	s := &scenario{version: pick(g, []protocol.Version{protocol.V5, protocol.V5, protocol.V4, protocol.V3})}
	if f.shape != nil {
		g.table = f.shape(g)
		s.steps = append(s.steps, &step{production: "table", kind: definition, root: g.create(tableName, g.table)})
		if g.table.view != nil {
			s.steps = append(s.steps, g.createView(g.table))
		}
		s.steps = append(s.steps, g.createIndexes(g.table)...)
	}
	total := 0
	for _, p := range f.productions {
		total += p.weight
	}
	for range statements {
		n := g.IntN(total)
		for _, p := range f.productions {
			if n -= p.weight; n < 0 {
				s.steps = append(s.steps, g.statement(p, s.version))
				break
			}
		}
	}
	return s
}

// statement makes a statement and decides how it is sent.
func (g *gen) statement(p production, v protocol.Version) *step {
	g.bindRate = 0
	how := g.IntN(100)
	if how < 45 {
		g.bindRate = 80
	}
	s := p.make(g)
	s.production = p.name
	switch {
	case s.children != nil && how%3 == 0:
		s.mode = batchMessage
	case how < 30 || how > 90:
		s.mode = prepared
	}
	if s.kind == read && g.percent(50) {
		s.page = int32(1 + g.IntN(6))
	}
	if s.mode == batchMessage || !v.HasUnset() {
		s.root = settle(s.root, v)
	}
	for i, c := range s.children {
		s.children[i] = settle(c, v)
	}
	return s
}

// settle writes values that a version cannot bind: unset is null before v4.
func settle(n *node, v protocol.Version) *node {
	return n.rewrite(func(n *node) *node {
		if n.value != nil && n.value.unset && !v.HasUnset() {
			n.value = null(n.value.typ)
			n.value.bound = true
		}
		return n
	})
}
