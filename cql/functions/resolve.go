package functions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// Fit is how well an argument fits the type that a function asks for.
type Fit uint8

// Not fitting, fitting among others, and being of just that type.
const (
	NoFit Fit = iota
	WeakFit
	ExactFit
)

// Arg is an argument as overload choice sees it.
type Arg struct {
	Text string     // as written, for error texts
	Type types.Type // nil if not known: a marker, null, or a literal that says more in Fits
	Desc bool       // a clustering column in descending order

	Likely types.Type // the type of a literal that nothing around it tells, as it looks; of others their Type

	List     bool // a list literal in a SELECT list, which may be for a vector
	Elements int  // how many that has

	Composed bool // a literal of a collection or tuple

	// Marker is a bind marker, or an argument of an operator whose result is for a clustering column in descending order:
	// of several operators the receiver does not choose then.
	Marker bool

	// Fits says how well the argument fits; nil: as its Type does, and weakly everywhere without one.
	Fits func(types.Type) Fit
}

// fit is how well the argument fits t.
func (a *Arg) fit(t types.Type) Fit {
	switch {
	case a.Fits != nil:
		return a.Fits(t)
	case a.Type == nil:
		return WeakFit
	}
	return TypeFit(t, a.Type)
}

// TypeFit is how well values of one type fit another.
func TypeFit(to, from types.Type) Fit {
	switch {
	case !types.ValueCompatible(to, from):
		return NoFit
	case types.Equal(types.Freeze(from), types.Freeze(to)):
		return ExactFit
	}
	return WeakFit
}

// Known reports whether there is a native function of that name, in lower case.
func Known(name string) bool {
	return len(byName[name]) > 0 || families[name] != nil || name == "count" || name == "token"
}

// Resolve chooses the function called name that takes arguments of those types. A nil type is an argument
// whose type is not known: a bind marker or null.
func Resolve(name string, args []types.Type) (*Function, error) {
	as := make([]Arg, len(args))
	for i, t := range args {
		as[i].Type = t
		if as[i].Text = "?"; t != nil {
			as[i].Text = t.String()
		}
	}
	return ResolveArgs(name, as, nil)
}

// ResolveArgs chooses the function called name for arguments: the one whose types are just theirs, else
// the only one that they fit. Of several functions those do not count whose result the receiver, if there is
// one, does not take. The name may begin with "system.", as error texts then show it. The function token depends on
// a table and is not found here.
func ResolveArgs(name string, args []Arg, receiver types.Type) (*Function, error) {
	return resolve(name, strings.TrimPrefix(name, "system."), args, receiver)
}

// resolve is ResolveArgs, with the name that errors show.
func resolve(shown, name string, args []Arg, receiver types.Type) (*Function, error) {
	if name == "count" {
		return resolveCount(args)
	}
	if f := families[name]; f != nil {
		return f.resolve(name, args, receiver)
	}
	if op, ok := operatorOf(name); ok && shown != name && len(args) == 2 { // Cassandra knows them by their keyspace
		return chooseOperator(op, name, args, receiver)
	}
	return choose(shown, byName[name], args, receiver)
}

// ResolveWith is ResolveArgs where there are users' functions of that name too: they and the native ones are chosen
// from alike. Only one without a keyspace may be a native one.
func ResolveWith(users []*Function, keyspace, name string, args []Arg, receiver types.Type) (*Function, error) {
	candidates, shown := users, name
	switch {
	case keyspace != "":
		shown = keyspace + "." + name
	case name == "count" || families[name] != nil:
		f, err := ResolveArgs(name, args, receiver)
		if err != nil {
			return nil, err
		}
		candidates = append(slices.Clip(users), f)
	default:
		candidates = slices.Concat(users, byName[name])
	}
	return choose(shown, candidates, args, receiver)
}

// choose finds the candidate that fits arguments and a receiver.
func choose(shown string, candidates []*Function, args []Arg, receiver types.Type) (*Function, error) {
	switch len(candidates) {
	case 0:
		return nil, cqlerr.Invalidf("Unknown function '%s'", shown)
	case 1:
		return candidates[0], CheckArgs(candidates[0], args)
	}
	fitting, exact := matching(candidates, args, receiver)
	switch {
	case exact != nil:
		return exact, nil
	case len(fitting) == 0:
		return nil, cqlerr.Invalidf("Invalid call to function %s, none of its type signatures match "+
			"(known type signatures: %s)", shown, signatures(candidates))
	case len(fitting) == 1:
		return fitting[0], nil
	case shown == "system."+negation:
		return nil, cqlerr.Invalidf("Ambiguous negation: use type casts to disambiguate")
	}
	return nil, cqlerr.Invalidf("Ambiguous call to function %s (can be matched by following signatures: %s): "+
		"use type casts to disambiguate", shown, signatures(fitting))
}

// matching are the candidates that arguments fit and whose result a receiver takes, if there is one; exact is the
// first whose types are just those of the arguments.
func matching(candidates []*Function, args []Arg, receiver types.Type) (fitting []*Function, exact *Function) {
	for _, f := range candidates {
		if receiver != nil && TypeFit(receiver, f.Returns) == NoFit {
			continue
		}
		switch f.fit(args) {
		case ExactFit:
			return nil, f
		case WeakFit:
			fitting = append(fitting, f)
		}
	}
	return fitting, nil
}

// fit is the worst fit among the arguments.
func (f *Function) fit(args []Arg) Fit {
	if len(args) != len(f.Args) {
		return NoFit
	}
	worst := ExactFit
	for i := range args {
		worst = min(worst, args[i].fit(f.Args[i]))
	}
	return worst
}

// CheckArgs refuses arguments that do not fit the only function of a name.
func CheckArgs(f *Function, args []Arg) error {
	if len(args) != len(f.Args) {
		return wrongCount(f.FullName(), len(f.Args), len(args))
	}
	for i := range args {
		if args[i].fit(f.Args[i]) == NoFit {
			return cqlerr.Invalidf("Type error: %s cannot be passed as argument %d of function %s of type %s",
				args[i].Text, i, f.FullName(), f.Args[i])
		}
	}
	return nil
}

// wrongCount is for too many or too few arguments.
func wrongCount(name string, want, got int) error {
	return cqlerr.Invalidf("Invalid number of arguments in call to function %s: %d required but %d provided",
		name, want, got)
}

// signatures lists functions as error texts do.
func signatures(fs []*Function) string {
	parts := make([]string, len(fs))
	for i, f := range fs {
		parts[i] = fmt.Sprint(f)
	}
	return strings.Join(parts, ", ")
}
