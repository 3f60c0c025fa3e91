package planner

import (
	"slices"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/planner/scope"
)

// Plan is a statement after all decisions that need no I/O: Select, Modification, Batch or Use, or one of package
// define. A plan never changes and is shared between connections. Values, page and time are in the request.
type Plan interface {
	String() string // the plan in words; golden files compare it
}

// Env is the catalog, the session and the settings that a statement is planned with.
type Env struct {
	Catalog  *schema.Catalog
	Keyspace string // of unqualified names: the session's or the request's; "" if none

	Text string // the statement as it came, for error texts that repeat it
	Run  bool   // it is run at once: Cassandra asks for permissions before it looks at mistakes then

	Logins bool // clients log in: otherwise roles cannot be seen or changed

	Masks bool // columns may be masked, and are for those who lack a permission

	Now time.Time // the time for constants that ask for it

	// Datacenter is the node's, for replication strategies that name it; "" is datacenter1.
	Datacenter string

	// Nodes is how many nodes there are in each datacenter; nil: one.
	Nodes map[string]int

	ReplicationFactor int // of keyspaces that name none; 0 is 1

	// Guard has the guardrails that the client who prepares or runs the statement is subject to; nil: none.
	Guard *guardrail.Check

	// Step is called often while a long statement is planned: an error ends it; nil: nothing bounds it.
	Step func() error
}

// Prepared is a planned statement with all that PREPARE answers.
type Prepared struct {
	Plan    Plan
	Markers []Marker // the bind variables, in order

	// KeyMarkers has the index of the marker of each partition key column, when every one has a marker of
	// its own; else it is nil.
	KeyMarkers []int

	Result     []ResultColumn // columns of the result; nil if none, or not known before it runs
	Modifies   bool           // INSERT, UPDATE, DELETE or a BATCH of them: allowed in a batch
	Definition bool           // changes the schema
	Timed      bool           // has constants that tell when it was planned

	// Called are the users' functions and aggregates that the statement calls, and the functions of these aggregates.
	Called []schema.Routine

	Masking []schema.Routine // Called of the plan for those who may not see masked values

	scope.Uses // Qualified also says that the id does not depend on the keyspace
}

// Marker describes a bind variable.
type Marker struct {
	Keyspace, Table, Name string
	Type                  types.Type
}

// ResultColumn describes a column of result rows.
type ResultColumn struct {
	Keyspace, Table, Name string
	Type                  types.Type
	Desc                  bool // a DESC clustering column: its class name is wrapped in result metadata ids
}

// Validity is the state of a plan after changes of the catalog.
type Validity uint8

// The validities in order of damage.
const (
	Valid    Validity = iota
	Outdated          // the statement must be planned again: its tables look the same to clients
	Invalid           // clients have to prepare it again: a table is gone or looks different
)

// Validity compares the tables and functions that the plan was made for with the current ones. Definitions are planned
// again after every change, because their objects may exist or not.
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
	for _, old := range slices.Concat(p.Called, p.Masking) {
		k := current.Keyspace(old.Base().Keyspace)
		if k == nil {
			return Invalid
		}
		switch now := k.Same(old); {
		case now == old:
		case now == nil || now.CQL() != old.CQL():
			return Invalid
		default:
			result = Outdated
		}
	}
	return result
}

// called finds the functions that a statement calls.
func (p *planning) called() (all []schema.Routine) {
	add := func(r schema.Routine) {
		if !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	for _, f := range p.info.Called {
		k := p.env.Catalog.Keyspace(f.User.Keyspace)
		if !f.User.Aggregate {
			add(k.Function(f.Name, f.Args))
			continue
		}
		a := k.Aggregate(f.Name, f.Args)
		add(a)
		add(k.Function(a.StateFunction, a.StateArgs()))
		if a.FinalFunction != "" {
			add(k.Function(a.FinalFunction, []types.Type{a.StateType}))
		}
	}
	return all
}

// looksEqual reports whether Cassandra keeps prepared statements through the change of a table: changes of its
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
