package planner

import (
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// Validity is what changes of the catalog have made of a plan.
type Validity uint8

// The validities in order of damage.
const (
	Valid    Validity = iota
	Outdated          // the statement must be planned again: its tables look the same to clients
	Invalid           // clients have to prepare it again: a table is gone or looks different
)

// Validity compares the tables that the plan was made for with the current ones. Definitions are planned
// again after every change, as what they are to change may be there or not.
func (p *Prepared) Validity(current *schema.Catalog) Validity {
	result := Valid
	if p.Definition || len(p.Tables) == 0 {
		result = Outdated
	}
	for _, old := range p.Tables {
		t := current.Table(old.Keyspace, old.Name)
		switch {
		case t == old:
		case t == nil || !looksEqual(t, old):
			return Invalid
		default:
			result = Outdated
		}
	}
	return result
}

// looksEqual reports whether Cassandra keeps prepared statements through the change of a table: those of its
// columns, its indexes and of some options invalidate them.
func looksEqual(a, b *schema.Table) bool {
	if a.ID != b.ID || a.Compact != b.Compact || len(a.Columns) != len(b.Columns) || !slices.Equal(a.Indexes, b.Indexes) ||
		a.Options.DefaultTimeToLive != b.Options.DefaultTimeToLive ||
		a.Options.GCGraceSeconds != b.Options.GCGraceSeconds {
		return false
	}
	for i, c := range a.Columns {
		if d := b.Columns[i]; c.Name != d.Name || c.Kind != d.Kind || !types.Equal(c.Type, d.Type) || !c.Mask.Equal(d.Mask) {
			return false
		}
	}
	return true
}
