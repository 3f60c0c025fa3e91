package define

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
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

// properties are WITH properties with every value as its text.
func properties(props []cql.Property) ([]schema.Property, error) {
	out := make([]schema.Property, len(props))
	for i, p := range props {
		out[i].Name = p.Name
		switch v := p.Value.(type) {
		case *cql.MapLiteral:
			m, err := propertyMap(p.Name, v)
			if err != nil {
				return nil, err
			}
			out[i].Map = m
		case *cql.SetLiteral:
			if v.Elements.Len() > 0 {
				return nil, cqlerr.Syntaxf("Invalid value for property '%s'. It should be a map.", p.Name)
			}
			out[i].Map = map[string]string{}
		default:
			out[i].Text = propertyText(v)
		}
	}
	return out, schema.CheckDuplicates(out)
}

// propertyMap is the map of a property; its keys and values are constants.
func propertyMap(name string, l *cql.MapLiteral) (map[string]string, error) {
	m := make(map[string]string, len(l.Keys.Parts))
	for i, k := range l.Keys.Parts {
		if _, ok := k.(*cql.Marker); ok {
			return nil, cqlerr.Syntaxf("Invalid property name: %s (bind variables are not supported in DDL queries)", k)
		}
		if _, ok := l.Values.Parts[i].(*cql.Marker); ok {
			return nil, cqlerr.Syntaxf("Invalid property value: %s for property: %s (bind variables are not supported in DDL "+
				"queries)", l.Values.Parts[i], k)
		}
		key := propertyText(k)
		if _, twice := m[key]; twice {
			return nil, cqlerr.Syntaxf("Multiple definition for property %s", key)
		}
		m[key] = propertyText(l.Values.Parts[i])
	}
	return m, nil
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
