package define

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/scope"
)

// written are types as written in a statement. Resolving one qualifies its user types with their keyspace, also in
// later texts.
type written []cql.TypeName

// String lists the types for messages.
func (w written) String() string { return strings.Join(w.texts(), ", ") }

func (w written) texts() []string {
	all := make([]string, len(w))
	for i, n := range w {
		all[i] = expr.TypeText(n)
	}
	return all
}

// resolve finds the types.
func (w written) resolve(k *schema.Keyspace) ([]types.Type, error) {
	all := make([]types.Type, len(w))
	for i := range w {
		var err error
		if all[i], err = w.resolveOne(k, i); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (w written) resolveOne(k *schema.Keyspace, i int) (types.Type, error) {
	t, err := scope.Type(k, w[i])
	if err == nil {
		w[i] = expr.Settled(w[i]) // a copy
		expr.Qualify(&w[i], k.Name)
	}
	return t, err
}

// checkNotFrozen refuses frozen<> around arguments and results, where CQL omits it.
func (w written) checkNotFrozen(what string) error {
	for _, n := range w {
		if n.Frozen && (n.User || n.Name == "list" || n.Name == "set" || n.Name == "map") {
			return cqlerr.Invalidf("%s '%s' cannot be frozen; remove frozen<> modifier from '%[2]s'", what, expr.TypeText(n))
		}
	}
	return nil
}

// compare resolves the types one by one while they equal others.
func (w written) compare(k *schema.Keyspace, others []types.Type) error {
	if len(w) != len(others) {
		return nil
	}
	for i, other := range others {
		t, err := w.resolveOne(k, i)
		if err != nil || types.Freeze(t).String() != types.Freeze(other).String() {
			return err
		}
	}
	return nil
}

// checkTypes compares with all functions and aggregates of a name, as Cassandra does to find the required permission:
// errors in types come before all others.
func (w written) checkTypes(k *schema.Keyspace, name string) error {
	if k == nil {
		return nil
	}
	for _, r := range k.RoutinesNamed(name) {
		if err := w.compare(k, r.Base().Args); err != nil {
			return err
		}
	}
	return nil
}

// checkTypeClasses refuses quoted classes that are not types.
func checkTypeClasses(all ...cql.TypeName) error {
	for _, n := range all {
		if err := checkClass(n); err != nil {
			return err
		}
	}
	return nil
}

// checkCallableName refuses invalid names of functions and aggregates.
func checkCallableName(what, name string) error {
	if strings.ContainsAny(name, "/[]") {
		return cqlerr.Invalidf("%s name '%s' is invalid", what, name)
	}
	return nil
}

// checkDirectives refuses OR REPLACE with IF NOT EXISTS.
func checkDirectives(orReplace, ifNotExists bool) error {
	if orReplace && ifNotExists {
		return cqlerr.Invalidf("Cannot use both 'OR REPLACE' and 'IF NOT EXISTS' directives")
	}
	return nil
}

// checkCallableKeyspace refuses functions in system keyspaces.
func checkCallableKeyspace(keyspace string) error {
	if schema.IsReplicatedSystem(keyspace) {
		return cqlerr.Unauthorizedf("Cannot CREATE <all functions in %s>", keyspace)
	}
	return schema.CheckKeyspaceName(keyspace)
}

// callableOutcome is the outcome of a change of a function or aggregate. The answer has the types as written, the
// event in normal form.
func callableOutcome(
	kind schema.ChangeKind, target schema.Target, keyspace, name string, answer []string, args []types.Type,
) Outcome {
	out := reported(kind, target, keyspace, name)
	out.Answer.Args, out.Events[0].Args = answer, typeTexts(args)
	return out
}

// typeTexts returns the names of types, never nil.
func typeTexts(all []types.Type) []string {
	out := make([]string, len(all))
	for i, t := range all {
		out[i] = t.String()
	}
	return out
}

// functionsWith returns the names of functions and aggregates that use a user type.
func functionsWith(k *schema.Keyspace, userType string) (names []string) {
	for _, r := range k.Routines() {
		if r.Uses(userType) {
			names = append(names, r.Base().FullName())
		}
	}
	return names
}

// aggregatesFrom returns the names of aggregates whose INITCOND contains a user type.
func aggregatesFrom(k *schema.Keyspace, userType string) (names []string) {
	for _, a := range k.Aggregates {
		if a.Initial != nil && types.UsesUserType(a.StateType, userType) {
			names = append(names, a.FullName())
		}
	}
	return names
}

// routineChange is an event about a function or an aggregate.
func routineChange(kind schema.ChangeKind, r schema.Routine) schema.Change {
	c := r.Base()
	return schema.Change{Kind: kind, Target: r.Target(), Keyspace: c.Keyspace, Name: c.Name, Args: typeTexts(c.Args)}
}

// dropping is the common part of DROP FUNCTION and DROP AGGREGATE.
type dropping struct {
	kind           string // FUNCTION or AGGREGATE
	keyspace, name string
	args           written
	given          bool // the statement has arguments; otherwise the name must be unique
	shown          string
}

// String names the dropped object in messages.
func (d *dropping) String() string {
	name := d.keyspace + "." + d.name
	if d.given {
		name += "(" + d.args.String() + ")"
	}
	return name
}

// resolve finds the types of the arguments. It refuses a name with overloads if no arguments are given.
func (d *dropping) resolve(k *schema.Keyspace) ([]types.Type, error) {
	if !d.given && len(k.RoutinesNamed(d.name)) > 1 {
		return nil, cqlerr.Invalidf("'DROP %s %s' matches multiple function definitions; specify the argument types by "+
			"issuing a statement like 'DROP %[1]s %[2]s (type, type, ...)'. You can use cqlsh 'DESCRIBE %[1]s %[2]s' command "+
			"to find all overloads", d.kind, d.name)
	}
	if err := d.args.checkNotFrozen("Argument"); err != nil {
		return nil, err
	}
	return d.args.resolve(k)
}

// newDropping copies the parts of a statement, whose arguments may be missing.
func newDropping(kind, keyspace, name string, args *cql.Signature) *dropping {
	d := &dropping{kind: kind, keyspace: keyspace, name: name, given: args != nil}
	if args != nil {
		d.args = slices.Clone(args.Types)
	}
	return d
}

// prepare makes the checks by which Cassandra finds the required permissions, and refuses invalid keyspace names.
func (d *dropping) prepare(k *schema.Keyspace) error {
	if k != nil && len(k.RoutinesNamed(d.name)) > 0 {
		if _, err := d.args.resolve(k); err != nil {
			return err
		}
	}
	return schema.CheckKeyspaceName(d.keyspace)
}

// found returns the function or aggregate to drop, or nil.
func (d *dropping) found(k *schema.Keyspace) (schema.Routine, error) {
	if err := d.prepare(k); err != nil {
		return nil, err
	}
	d.shown = d.String() // before user types are qualified
	if k == nil {
		return nil, nil
	}
	args, err := d.resolve(k)
	if err != nil {
		return nil, err
	}
	for _, r := range k.RoutinesNamed(d.name) {
		if string(r.Target()) == d.kind && (!d.given || r.Base().Takes(args)) {
			return r, nil
		}
	}
	return nil, nil
}

// dropped removes a function or an aggregate.
func (d *dropping) dropped(c *schema.Catalog, r schema.Routine) (*schema.Catalog, Outcome, error) {
	change := routineChange(schema.Dropped, r)
	return c.WithoutRoutine(r), Outcome{Answer: change, Events: []schema.Change{change}}, nil
}

// droppedFrom resolves a dropped function or aggregate, whose arguments may be missing.
func (p *planning) droppedFrom(verb string, name cql.QualifiedName, args *cql.Signature) (target, error) {
	if args != nil {
		if err := checkTypeClasses(args.Types...); err != nil {
			return target{}, err
		}
	}
	return p.target(verb, name)
}
