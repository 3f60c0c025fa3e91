package define

import (
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/scope"
)

// written are the types of arguments as a statement has them. When one is looked for its user types get the name of
// their keyspace, which texts show from then on.
type written []cql.TypeName

// String is the types as texts list them.
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
		w[i] = expr.Settled(w[i]) // which makes names of its own inside
		expr.Qualify(&w[i], k.Name)
	}
	return t, err
}

// checkNotFrozen refuses frozen<> where it is not written: around what a function takes and returns.
func (w written) checkNotFrozen(what string) error {
	for _, n := range w {
		if n.Frozen && (n.User || n.Name == "list" || n.Name == "set" || n.Name == "map") {
			return cqlerr.Invalidf("%s '%s' cannot be frozen; remove frozen<> modifier from '%[2]s'", what, expr.TypeText(n))
		}
	}
	return nil
}

// compare looks for the types one by one as long as others are equal to them.
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

// seek compares with all functions and aggregates of a name, as Cassandra does to know which permission a statement
// needs: what is wrong with a type is then said before anything else.
func (w written) seek(k *schema.Keyspace, name string) error {
	if k == nil {
		return nil
	}
	for _, args := range callablesNamed(k, name) {
		if err := w.compare(k, args); err != nil {
			return err
		}
	}
	return nil
}

// callablesNamed are the arguments of all functions and aggregates of a name.
func callablesNamed(k *schema.Keyspace, name string) (all [][]types.Type) {
	for _, f := range k.FunctionsNamed(name) {
		all = append(all, f.Args)
	}
	for _, a := range k.AggregatesNamed(name) {
		all = append(all, a.Args)
	}
	return all
}

// checkTypeClasses refuses classes in quotes that are no types.
func checkTypeClasses(all ...cql.TypeName) error {
	for _, n := range all {
		if err := checkClass(n); err != nil {
			return err
		}
	}
	return nil
}

// checkCallableName refuses what no function and no aggregate may be called.
func checkCallableName(what, name string) error {
	if strings.ContainsAny(name, "/[]") {
		return cqlerr.Invalidf("%s name '%s' is invalid", what, name)
	}
	return nil
}

// checkDirectives refuses to both keep and replace what is there.
func checkDirectives(orReplace, ifNotExists bool) error {
	if orReplace && ifNotExists {
		return cqlerr.Invalidf("Cannot use both 'OR REPLACE' and 'IF NOT EXISTS' directives")
	}
	return nil
}

// checkCallableKeyspace refuses to make functions where only the server's own tables are.
func checkCallableKeyspace(keyspace string) error {
	if schema.IsReplicatedSystem(keyspace) {
		return cqlerr.Unauthorizedf("Cannot CREATE <all functions in %s>", keyspace)
	}
	return schema.CheckKeyspaceName(keyspace)
}

// callableTold is the outcome of a change of a function or aggregate. The answer has the types as they were written,
// the event as they are shown.
func callableTold(
	kind schema.ChangeKind, target schema.Target, keyspace, name string, answer []string, args []types.Type,
) Outcome {
	out := told(kind, target, keyspace, name)
	out.Answer.Args, out.Events[0].Args = answer, typeTexts(args)
	return out
}

// typeTexts are the names of types, never nil.
func typeTexts(all []types.Type) []string {
	out := make([]string, len(all))
	for i, t := range all {
		out[i] = t.String()
	}
	return out
}

// functionsWith names the functions and aggregates that use a user type.
func functionsWith(k *schema.Keyspace, userType string) (names []string) {
	for _, f := range k.Functions {
		if f.Uses(userType) {
			names = append(names, f.Keyspace+"."+f.Name)
		}
	}
	for _, a := range k.Aggregates {
		if a.Uses(userType) {
			names = append(names, a.Keyspace+"."+a.Name)
		}
	}
	return names
}

// aggregatesFrom names the aggregates that begin with a state in which there is a user type.
func aggregatesFrom(k *schema.Keyspace, userType string) (names []string) {
	for _, a := range k.Aggregates {
		if a.Initial != nil && types.UsesUserType(a.StateType, userType) {
			names = append(names, a.Keyspace+"."+a.Name)
		}
	}
	return names
}

// functionChange is an event of a function.
func functionChange(kind schema.ChangeKind, f *schema.Function) schema.Change {
	return schema.Change{
		Kind: kind, Target: schema.TargetFunction, Keyspace: f.Keyspace, Name: f.Name, Args: typeTexts(f.Args),
	}
}

// aggregateChange is an event of an aggregate.
func aggregateChange(kind schema.ChangeKind, a *schema.Aggregate) schema.Change {
	return schema.Change{
		Kind: kind, Target: schema.TargetAggregate, Keyspace: a.Keyspace, Name: a.Name, Args: typeTexts(a.Args),
	}
}

// droppedFunctions are the events of a keyspace's aggregates and functions when it is dropped.
func droppedFunctions(k *schema.Keyspace) (events []schema.Change) {
	for _, a := range k.Aggregates {
		events = append(events, aggregateChange(schema.Dropped, a))
	}
	for _, f := range k.Functions {
		events = append(events, functionChange(schema.Dropped, f))
	}
	return events
}

// updatedFunctions are the events of functions and aggregates whose user type changes.
func updatedFunctions(k *schema.Keyspace, userType string) (events []schema.Change) {
	for _, f := range k.Functions {
		if f.Uses(userType) {
			events = append(events, functionChange(schema.Updated, f))
		}
	}
	for _, a := range k.Aggregates {
		if a.Uses(userType) {
			events = append(events, aggregateChange(schema.Updated, a))
		}
	}
	return events
}
