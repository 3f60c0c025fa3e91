package schema

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
)

// Function is a user's function. Its body is never run.
type Function struct {
	Keyspace, Name string
	ArgNames       []string
	Args           []types.Type
	Returns        types.Type
	CalledOnNull   bool // else a null argument gives null
	Language       string
	Body           string
}

// Uses reports whether the function takes or returns a user type of that name.
func (f *Function) Uses(userType string) bool {
	return types.UsesUserType(f.Returns, userType) || usesType(f.Args, userType)
}

// Signature is the name and the arguments: f(int, text).
func (f *Function) Signature() string { return signature(f.Name, f.Args) }

// QuotedSignature is Signature with the name in quotes if it needs them.
func (f *Function) QuotedSignature() string { return signature(quote.Name(f.Name), f.Args) }

// CQL is the statement that makes the function, as DESCRIBE shows it.
func (f *Function) CQL() string {
	args := make([]string, len(f.Args))
	for i, t := range f.Args {
		args[i] = quote.Name(f.ArgNames[i]) + " " + callableType(t)
	}
	onNull := "RETURNS NULL"
	if f.CalledOnNull {
		onNull = "CALLED"
	}
	return "CREATE FUNCTION " + quote.Name(f.Keyspace) + "." + quote.Name(f.Name) + "(" + strings.Join(args, ", ") +
		")\n    " +
		onNull + " ON NULL INPUT\n    RETURNS " + callableType(f.Returns) + "\n    LANGUAGE " + f.Language +
		"\n    AS $$" + f.Body + "$$;"
}

// withUserType is the function with u in its types.
func (f *Function) withUserType(u *types.UserType) *Function {
	n := *f
	n.Args, n.Returns = withUserType(f.Args, u), types.WithUserType(f.Returns, u)
	return &n
}

// Function returns the function of that name with arguments of just those types, or nil.
func (k *Keyspace) Function(name string, args []types.Type) *Function {
	return findCallable(k.Functions, callableKey(name, args))
}

// FunctionsNamed returns all functions of that name.
func (k *Keyspace) FunctionsNamed(name string) []*Function { return callablesNamed(k.Functions, name) }

// WithFunction returns a catalog in which f is defined, in place of one with its name and arguments. Its keyspace must
// exist.
func (c *Catalog) WithFunction(f *Function) *Catalog {
	k := *c.keyspaces[f.Keyspace]
	k.Functions = withCallable(k.Functions, f)
	return c.replace(k.Name, &k)
}

// WithoutFunction returns a catalog without that function, which no aggregate may use.
func (c *Catalog) WithoutFunction(f *Function) *Catalog {
	k := *c.keyspaces[f.Keyspace]
	k.Functions = withoutCallable(k.Functions, f)
	return c.replace(k.Name, &k)
}

// callable is a function or an aggregate.
type callable interface {
	named() string
	key() string // unique among all of its kind: the name, and the types whether frozen or not
}

func (f *Function) named() string { return f.Name }
func (f *Function) key() string   { return callableKey(f.Name, f.Args) }

// findCallable returns the one with that key, or the zero value.
func findCallable[C callable](list []C, key string) (found C) {
	if i := slices.IndexFunc(list, func(one C) bool { return one.key() == key }); i >= 0 {
		found = list[i]
	}
	return found
}

func callablesNamed[C callable](list []C, name string) (all []C) {
	for _, one := range list {
		if one.named() == name {
			all = append(all, one)
		}
	}
	return all
}

// withCallable is a list with one more, or with it in place of that of its key. As in Cassandra, whose lists this is
// the order of, functions of the same name are kept together, at the place of the first.
func withCallable[C callable](list []C, one C) []C {
	list = withoutCallable(list, one)
	at := len(list)
	for i, other := range list {
		if other.named() == one.named() {
			at = i + 1
		}
	}
	return slices.Insert(list, at, one)
}

// withoutCallable is a copy of a list without the one of that key.
func withoutCallable[C callable](list []C, one C) []C {
	return slices.DeleteFunc(slices.Clone(list), func(other C) bool { return other.key() == one.key() })
}

// sortedCallables is a copy of a list by key.
func sortedCallables[C callable](list []C) []C {
	return slices.SortedFunc(slices.Values(list), func(a, b C) int { return strings.Compare(a.key(), b.key()) })
}

// callableType is the name of a type in the definition of a function: a tuple is not said to be frozen, as it cannot
// be anything else.
func callableType(t types.Type) string {
	name := t.String()
	if _, tuple := t.(*types.Tuple); tuple {
		name = strings.TrimSuffix(strings.TrimPrefix(name, "frozen<"), ">")
	}
	return name
}

func signature(name string, args []types.Type) string {
	names := make([]string, len(args))
	for i, t := range args {
		names[i] = callableType(t)
	}
	return name + "(" + strings.Join(names, ", ") + ")"
}

func callableKey(name string, args []types.Type) string {
	frozen := make([]types.Type, len(args))
	for i, t := range args {
		frozen[i] = types.Freeze(t)
	}
	return signature(name, frozen)
}

func usesType(all []types.Type, userType string) bool {
	return slices.ContainsFunc(all, func(t types.Type) bool { return types.UsesUserType(t, userType) })
}

func withUserType(all []types.Type, u *types.UserType) []types.Type {
	out := make([]types.Type, len(all))
	for i, t := range all {
		out[i] = types.WithUserType(t, u)
	}
	return out
}

// Aggregate is a user's aggregate, which is made of functions of the same keyspace: one that takes the state and the
// arguments of a row and returns the next state, and perhaps one that makes the result of the last.
type Aggregate struct {
	Keyspace, Name string
	Args           []types.Type
	Returns        types.Type
	StateFunction  string
	StateType      types.Type
	FinalFunction  string // "" if there is none
	Initial        []byte // nil if the state begins with null
}

// Uses reports whether a user type of that name is among the aggregate's types.
func (a *Aggregate) Uses(userType string) bool {
	return types.UsesUserType(a.Returns, userType) || types.UsesUserType(a.StateType, userType) ||
		usesType(a.Args, userType)
}

// Calls reports whether the aggregate is made of that function.
func (a *Aggregate) Calls(f *Function) bool {
	key := f.key()
	return key == callableKey(a.StateFunction, a.StateArgs()) ||
		a.FinalFunction != "" && key == callableKey(a.FinalFunction, []types.Type{a.StateType})
}

// StateArgs are the types of the arguments of the state function.
func (a *Aggregate) StateArgs() []types.Type { return append([]types.Type{a.StateType}, a.Args...) }

// Signature is the name and the arguments: a(int).
func (a *Aggregate) Signature() string { return signature(a.Name, a.Args) }

// QuotedSignature is Signature with the name in quotes if it needs them.
func (a *Aggregate) QuotedSignature() string { return signature(quote.Name(a.Name), a.Args) }

func (a *Aggregate) named() string { return a.Name }
func (a *Aggregate) key() string   { return callableKey(a.Name, a.Args) }

// CQL is the statement that makes the aggregate, as DESCRIBE shows it.
func (a *Aggregate) CQL() string {
	lines := []string{
		"CREATE AGGREGATE " + quote.Name(a.Keyspace) + "." + a.QuotedSignature(),
		"SFUNC " + quote.Name(a.StateFunction),
		"STYPE " + callableType(a.StateType),
	}
	if a.FinalFunction != "" {
		lines = append(lines, "FINALFUNC "+quote.Name(a.FinalFunction))
	}
	if a.Initial != nil {
		lines = append(lines, "INITCOND "+a.StateType.Format(a.Initial))
	}
	return strings.Join(lines, "\n    ") + ";"
}

// withUserType is the aggregate with u in its types.
func (a *Aggregate) withUserType(u *types.UserType) *Aggregate {
	n := *a
	n.Args, n.Returns = withUserType(a.Args, u), types.WithUserType(a.Returns, u)
	n.StateType = types.WithUserType(a.StateType, u)
	return &n
}

// Aggregate returns the aggregate of that name with arguments of just those types, or nil.
func (k *Keyspace) Aggregate(name string, args []types.Type) *Aggregate {
	return findCallable(k.Aggregates, callableKey(name, args))
}

// AggregatesNamed returns all aggregates of that name.
func (k *Keyspace) AggregatesNamed(name string) []*Aggregate {
	return callablesNamed(k.Aggregates, name)
}

// WithAggregate returns a catalog in which a is defined, in place of one with its name and arguments. Its keyspace
// must exist.
func (c *Catalog) WithAggregate(a *Aggregate) *Catalog {
	k := *c.keyspaces[a.Keyspace]
	k.Aggregates = withCallable(k.Aggregates, a)
	return c.replace(k.Name, &k)
}

// WithoutAggregate returns a catalog without that aggregate.
func (c *Catalog) WithoutAggregate(a *Aggregate) *Catalog {
	k := *c.keyspaces[a.Keyspace]
	k.Aggregates = withoutCallable(k.Aggregates, a)
	return c.replace(k.Name, &k)
}
