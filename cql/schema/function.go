package schema

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
)

// Function is a user's function. Nobody runs its body.
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
	key := callableKey(name, args)
	for _, f := range k.Functions {
		if f.key() == key {
			return f
		}
	}
	return nil
}

// FunctionsNamed returns all functions of that name.
func (k *Keyspace) FunctionsNamed(name string) (all []*Function) {
	for _, f := range k.Functions {
		if f.Name == name {
			all = append(all, f)
		}
	}
	return all
}

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
	key() string // tells it from all others of its kind: the name, and the types whether frozen or not
}

func (f *Function) named() string { return f.Name }
func (f *Function) key() string   { return callableKey(f.Name, f.Args) }

// withCallable is a list with one more, or with it in place of that of its key. As in Cassandra, whose lists this is
// the order of, those of a name stand together where the first of them was made.
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
