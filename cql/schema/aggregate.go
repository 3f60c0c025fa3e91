package schema

import (
	"strings"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
)

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
	key := callableKey(name, args)
	for _, a := range k.Aggregates {
		if a.key() == key {
			return a
		}
	}
	return nil
}

// AggregatesNamed returns all aggregates of that name.
func (k *Keyspace) AggregatesNamed(name string) (all []*Aggregate) {
	for _, a := range k.Aggregates {
		if a.Name == name {
			all = append(all, a)
		}
	}
	return all
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
