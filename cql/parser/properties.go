package parser

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

// properties builds the properties of a WITH clause, of which no two may have the same name.
func (b *builder) properties(contexts []grammar.IPropertyContext) []cql.Property {
	var out []cql.Property
	seen := map[string]bool{}
	for _, c := range contexts {
		p := b.property(c)
		if seen[p.Name] {
			b.fail("Multiple definitions for property '%s'", p.Name)
		}
		seen[p.Name] = true
		out = append(out, p)
	}
	return out
}

func (b *builder) property(c grammar.IPropertyContext) cql.Property {
	p := cql.Property{Span: span(c), Name: b.name(c.GetName())}
	switch simple := c.GetSimple(); {
	case simple == nil:
		p.Value = b.propertyMap(c.GetEntries())
	case simple.GetLiteral() != nil:
		p.Value = b.constant(simple.GetLiteral())
	default:
		p.Value = &cql.ColumnRef{Span: span(simple), Name: b.name(simple)}
	}
	return p
}

// propertyMap builds a map of literals, the only entries that a property may have, and none twice.
func (b *builder) propertyMap(c grammar.IPropertyMapContext) *cql.MapLiteral {
	m := &cql.MapLiteral{Span: span(c)}
	m.Keys, m.Values = b.entries(c.GetKeys(), c.GetValues())
	seen := map[string]bool{}
	for i, key := range m.Keys.Parts {
		if !isConstant(key) {
			b.fail("Invalid property name: %s%s", b.shown(key), noMarkerInProperty(key))
		} else if value := m.Values.Parts[i]; !isConstant(value) {
			b.fail("Invalid property value: %s for property: %s%s", b.shown(value), b.shown(key), noMarkerInProperty(value))
		} else if text := key.(*cql.Literal).Text; seen[text] {
			b.fail("Multiple definition for property %s", b.shownAs(text, key))
		} else {
			seen[text] = true
		}
	}
	return m
}

// isConstant reports whether a term is a literal other than null.
func isConstant(t cql.Term) bool {
	l, ok := t.(*cql.Literal)
	return ok && l.Kind != cql.NullLiteral
}

func noMarkerInProperty(t cql.Term) string {
	if _, ok := t.(*cql.Marker); ok {
		return " (bind variables are not supported in DDL queries)"
	}
	return ""
}
