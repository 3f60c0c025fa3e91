package schema

import (
	"maps"
	"slices"

	"github.com/cqld/cqld/cql/types"
)

// ChangeKind is the kind of a change of a schema object.
type ChangeKind string

// The kinds, spelled as the protocol spells them.
const (
	Created ChangeKind = "CREATED"
	Updated ChangeKind = "UPDATED"
	Dropped ChangeKind = "DROPPED"
)

// Target is the kind of schema object that changed.
type Target string

// The targets, spelled as the protocol spells them. A materialized view is a table here.
const (
	TargetKeyspace  Target = "KEYSPACE"
	TargetTable     Target = "TABLE"
	TargetType      Target = "TYPE"
	TargetFunction  Target = "FUNCTION"
	TargetAggregate Target = "AGGREGATE"
)

// Change is one change of the schema as results and events report it.
type Change struct {
	Kind     ChangeKind
	Target   Target
	Keyspace string
	Name     string   // empty for keyspaces
	Args     []string // of functions and aggregates
}

// Difference returns the changes that lead from one catalog to another, in an order in which DDL could make them:
// drops first, then creations and updates. A table that has another ID is dropped and created.
func Difference(old, next *Catalog) []Change {
	var dropped, made []Change
	for _, k := range old.Keyspaces() {
		if k != next.Keyspace(k.Name) {
			dropped = append(dropped, k.without(next.Keyspace(k.Name))...)
		}
	}
	for _, k := range next.Keyspaces() {
		if k != old.Keyspace(k.Name) {
			made = append(made, k.since(old.Keyspace(k.Name))...)
		}
	}
	return append(dropped, made...)
}

// without returns the drops that lead to the next version of the keyspace; nil: the keyspace itself is dropped.
func (k *Keyspace) without(next *Keyspace) []Change {
	lacks := next
	if lacks == nil {
		lacks = new(Keyspace)
	}
	var all []Change
	for _, r := range k.RoutinesByUse() {
		if lacks.Same(r) == nil {
			all = append(all, k.change(Dropped, r.Target(), r.Base().Name, r.Base().Args))
		}
	}
	for _, t := range slices.Concat(k.SortedViews(), k.TablesByAge()) {
		if other := lacks.tableOrView(t.Name); other == nil || other.ID != t.ID {
			all = append(all, k.change(Dropped, TargetTable, t.Name, nil))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(k.Types)) {
		if lacks.Types[name] == nil {
			all = append(all, k.change(Dropped, TargetType, name, nil))
		}
	}
	if next == nil {
		all = append(all, k.change(Dropped, TargetKeyspace, "", nil))
	}
	return all
}

// since returns the changes that make the keyspace of an older version of it; nil: there was none.
func (k *Keyspace) since(old *Keyspace) []Change {
	var all []Change
	switch {
	case old == nil:
		all, old = append(all, k.change(Created, TargetKeyspace, "", nil)), new(Keyspace)
	case k.DurableWrites != old.DurableWrites || !maps.Equal(k.Replication, old.Replication):
		all = append(all, k.change(Updated, TargetKeyspace, "", nil))
	}
	add := func(target Target, name string, args []types.Type, was, same bool) {
		switch {
		case !was:
			all = append(all, k.change(Created, target, name, args))
		case !same:
			all = append(all, k.change(Updated, target, name, args))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(k.Types)) {
		t, was := k.Types[name], old.Types[name]
		add(TargetType, name, nil, was != nil, was != nil && types.ExactClassName(t) == types.ExactClassName(was))
	}
	for _, t := range slices.Concat(k.TablesByAge(), k.SortedViews()) {
		was := old.tableOrView(t.Name)
		if was != nil && was.ID != t.ID {
			was = nil
		}
		add(TargetTable, t.Name, nil, was != nil, was != nil && (was == t || was.SameAs(t)))
	}
	for _, r := range k.Routines() {
		was := old.Same(r)
		add(r.Target(), r.Base().Name, r.Base().Args, was != nil, was != nil && was.CQL() == r.CQL())
	}
	return all
}

// change is a change of something in the keyspace, or of the keyspace itself.
func (k *Keyspace) change(kind ChangeKind, target Target, name string, args []types.Type) Change {
	c := Change{Kind: kind, Target: target, Keyspace: k.Name, Name: name}
	for _, t := range args {
		c.Args = append(c.Args, t.String())
	}
	return c
}

func (k *Keyspace) tableOrView(name string) *Table {
	if t := k.Tables[name]; t != nil {
		return t
	}
	return k.Views[name]
}
