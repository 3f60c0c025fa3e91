package schema

import (
	"slices"
	"strings"
	"sync"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
)

// Callable has the parts that functions and aggregates share.
type Callable struct {
	Keyspace, Name string
	Args           []types.Type
	Returns        types.Type
}

// FullName is the name with the keyspace, for messages.
func (c *Callable) FullName() string { return c.Keyspace + "." + c.Name }

// Signature is the name and the arguments: f(int, text).
func (c *Callable) Signature() string { return signature(c.Name, c.Args) }

// QuotedSignature is Signature with the name in quotes if it needs them.
func (c *Callable) QuotedSignature() string { return signature(quote.Name(c.Name), c.Args) }

// Base returns c.
func (c *Callable) Base() *Callable { return c }

// Uses reports whether the function takes or returns a user type of that name.
func (c *Callable) Uses(userType string) bool {
	return types.UsesUserType(c.Returns, userType) ||
		slices.ContainsFunc(c.Args, func(t types.Type) bool { return types.UsesUserType(t, userType) })
}

// withUserType is the same with u in the types.
func (c *Callable) withUserType(u *types.UserType) Callable {
	n := *c
	n.Args, n.Returns = make([]types.Type, len(c.Args)), types.WithUserType(c.Returns, u)
	for i, t := range c.Args {
		n.Args[i] = types.WithUserType(t, u)
	}
	return n
}

// key is unique in a keyspace: the name, and the types whether frozen or not.
func (c *Callable) key() string { return callableKey(c.Name, c.Args) }

// Routine is a Function or an Aggregate.
type Routine interface {
	// Base returns the common parts.
	Base() *Callable

	// Target is the kind.
	Target() Target

	// Uses reports whether a user type of that name is among the types.
	Uses(userType string) bool

	// CQL is the statement that makes the routine, as DESCRIBE shows it.
	CQL() string

	key() string
}

// Target is the kind of schema object.
func (*Function) Target() Target { return TargetFunction }

// Target is the kind of schema object.
func (*Aggregate) Target() Target { return TargetAggregate }

// Routines returns the functions, then the aggregates.
func (k *Keyspace) Routines() []Routine { return routines(routines(nil, k.Functions), k.Aggregates) }

// RoutinesByUse returns the aggregates, then the functions, which they may call.
func (k *Keyspace) RoutinesByUse() []Routine {
	return routines(routines(nil, k.Aggregates), k.Functions)
}

// RoutinesNamed returns the functions, then the aggregates of that name.
func (k *Keyspace) RoutinesNamed(name string) []Routine {
	return slices.DeleteFunc(k.Routines(), func(r Routine) bool { return r.Base().Name != name })
}

// Takes reports whether the arguments have just those types.
func (c *Callable) Takes(args []types.Type) bool { return c.key() == callableKey(c.Name, args) }

// HasRoutine reports whether there is a function or an aggregate of that name with arguments of just those types.
func (k *Keyspace) HasRoutine(name string, args []types.Type) bool {
	return slices.ContainsFunc(k.RoutinesNamed(name), func(r Routine) bool { return r.Base().Takes(args) })
}

// Same returns the routine of r's kind with its name and arguments, or nil.
func (k *Keyspace) Same(r Routine) Routine {
	for _, other := range k.Routines() {
		if other.Target() == r.Target() && other.key() == r.key() {
			return other
		}
	}
	return nil
}

func routines[R Routine](all []Routine, more []R) []Routine {
	for _, r := range more {
		all = append(all, r)
	}
	return all
}

// Function is a user's function.
type Function struct {
	Callable
	ArgNames     []string
	CalledOnNull bool // else a null argument gives null
	Language     string
	Body         string

	// Go is called in place of the body; nil: the body is. It is not stored, so it is gone when the store is opened again.
	Go GoFunc

	compiled *compiled // nil: it is in no catalog, and was not compiled
}

// GoFunc takes and returns values of CQL types; nil is null. A function that is not called on null gets none. It may be
// called concurrently, and must neither keep nor return the bytes of the arguments.
type GoFunc func(args [][]byte) ([]byte, error)

// compiled is the body of a function, which is compiled when it is first needed.
type compiled struct {
	once sync.Once
	body Body
	err  error
}

// Compiled is the compiled body. It is compiled once: by CREATE FUNCTION, or when a function of an opened store is
// first called, so that no body keeps a store from being opened.
func (f *Function) Compiled() (Body, error) {
	if f.compiled == nil {
		f.compiled = new(compiled) // it is in no catalog yet, and belongs to one goroutine
	}
	c := f.compiled
	c.once.Do(func() {
		if compile := compilers[f.Language]; compile != nil {
			c.body, c.err = compile(f)
		} else {
			c.err = errNotLinked(f.Language)
		}
	})
	return c.body, c.err
}

// ShareBody makes the compiled body of another function that of f. Both have the same text and types.
func (f *Function) ShareBody(other *Function) { f.compiled = other.compiled }

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
	n.Callable, n.compiled = f.Callable.withUserType(u), new(compiled)
	return &n
}

// Function returns the function of that name with arguments of just those types, or nil.
func (k *Keyspace) Function(name string, args []types.Type) *Function {
	return findCallable(k.Functions, callableKey(name, args))
}

// WithRoutine returns a catalog in which r is defined, in place of one of its kind with its name and arguments. Its
// keyspace must exist.
func (c *Catalog) WithRoutine(r Routine) *Catalog {
	k := *c.keyspaces[r.Base().Keyspace]
	switch r := r.(type) {
	case *Function:
		if r.compiled == nil {
			r.compiled = new(compiled)
		}
		k.Functions = withCallable(k.Functions, r)
	case *Aggregate:
		k.Aggregates = withCallable(k.Aggregates, r)
	}
	return c.replace(k.Name, &k)
}

// WithoutRoutine returns a catalog without that routine. No aggregate may use it.
func (c *Catalog) WithoutRoutine(r Routine) *Catalog {
	k := *c.keyspaces[r.Base().Keyspace]
	switch r := r.(type) {
	case *Function:
		k.Functions = withoutCallable(k.Functions, r)
	case *Aggregate:
		k.Aggregates = withoutCallable(k.Aggregates, r)
	}
	return c.replace(k.Name, &k)
}

// findCallable returns the one with that key, or the zero value.
func findCallable[R Routine](list []R, key string) (found R) {
	if i := slices.IndexFunc(list, func(one R) bool { return one.key() == key }); i >= 0 {
		found = list[i]
	}
	return found
}

// withCallable is a list with one more, or with it in place of that of its key. As in Cassandra, whose lists this is
// the order of, functions of the same name are kept together, at the place of the first.
func withCallable[R Routine](list []R, one R) []R {
	list = withoutCallable(list, one)
	at := len(list)
	for i, other := range list {
		if other.Base().Name == one.Base().Name {
			at = i + 1
		}
	}
	return slices.Insert(list, at, one)
}

// withoutCallable is a copy of a list without the one of that key.
func withoutCallable[R Routine](list []R, one R) []R {
	return slices.DeleteFunc(slices.Clone(list), func(other R) bool { return other.key() == one.key() })
}

// sortedCallables is a copy of a list by key.
func sortedCallables[R Routine](list []R) []R {
	return slices.SortedFunc(slices.Values(list), func(a, b R) int { return strings.Compare(a.key(), b.key()) })
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

// Aggregate is a user's aggregate, which is made of functions of the same keyspace: one that takes the state and the
// arguments of a row and returns the next state, and perhaps one that makes the result of the last.
type Aggregate struct {
	Callable
	StateFunction string
	StateType     types.Type
	FinalFunction string // "" if there is none
	Initial       []byte // nil if the state begins with null
}

// Uses reports whether a user type of that name is among the aggregate's types.
func (a *Aggregate) Uses(userType string) bool {
	return a.Callable.Uses(userType) || types.UsesUserType(a.StateType, userType)
}

// Calls reports whether the aggregate is made of that function.
func (a *Aggregate) Calls(f *Function) bool {
	key := f.key()
	return key == callableKey(a.StateFunction, a.StateArgs()) ||
		a.FinalFunction != "" && key == callableKey(a.FinalFunction, []types.Type{a.StateType})
}

// StateArgs are the types of the arguments of the state function.
func (a *Aggregate) StateArgs() []types.Type { return append([]types.Type{a.StateType}, a.Args...) }

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
	n.Callable = a.Callable.withUserType(u)
	n.StateType = types.WithUserType(a.StateType, u)
	return &n
}

// Aggregate returns the aggregate of that name with arguments of just those types, or nil.
func (k *Keyspace) Aggregate(name string, args []types.Type) *Aggregate {
	return findCallable(k.Aggregates, callableKey(name, args))
}
