package define

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/guardrail"
)

// Definition is the plan of a statement that changes the schema. Its rules depend on what is defined when
// it runs, which a prepared one may do long after it was planned, so it applies them itself.
type Definition interface {
	Plan

	// Apply returns the catalog as changed, and what clients are told. An unchanged catalog means that
	// there was nothing to do. newID is for an object that gets an id.
	Apply(c *schema.Catalog, newID [16]byte) (*schema.Catalog, Outcome, error)
}

// Dated is a definition whose effect depends on when it runs.
type Dated interface {
	Definition

	// At is the definition as of a time in microseconds.
	At(micros int64) Definition
}

// Guarded is a definition that guardrails may refuse or warn of.
type Guarded interface {
	Definition

	// Under is the definition for a client that is subject to guardrails.
	Under(guard *guardrail.Check) Definition
}

// Validated is a definition that guardrails may refuse or warn of before it runs: when it is prepared, and each time it
// runs.
type Validated interface {
	Guarded

	// Validate applies these guardrails beside what is defined.
	Validate(c *schema.Catalog, guard *guardrail.Check) error
}

// Outcome is what a definition tells: the answer of the one who ran it, and the events of all others.
type Outcome struct {
	Answer   schema.Change
	Events   []schema.Change
	Warnings []string
}

// told is the outcome of a definition with one event, that of its answer.
func told(kind schema.ChangeKind, target schema.Target, keyspace, name string) Outcome {
	change := schema.Change{Kind: kind, Target: target, Keyspace: keyspace, Name: name}
	return Outcome{Answer: change, Events: []schema.Change{change}}
}

// properties are WITH properties with every value as its text. The parser has refused what Cassandra's refuses of them.
func properties(props []cql.Property) []schema.Property {
	out := make([]schema.Property, len(props))
	for i, p := range props {
		out[i].Name = p.Name
		if m, ok := p.Value.(*cql.MapLiteral); ok {
			out[i].Map = propertyMap(m)
		} else {
			out[i].Text = propertyText(p.Value)
		}
	}
	return out
}

// propertyMap is the map of a property.
func propertyMap(l *cql.MapLiteral) map[string]string {
	m := make(map[string]string, len(l.Keys.Parts))
	for i, k := range l.Keys.Parts {
		m[propertyText(k)] = propertyText(l.Values.Parts[i])
	}
	return m
}

// propertyText is a constant as its text: what stands in the quotes of a string, else what was written.
func propertyText(t cql.Term) string {
	switch t := t.(type) {
	case *cql.Literal:
		return t.Text
	case *cql.ColumnRef:
		return t.Name
	}
	return t.String()
}
