package functions

import (
	"fmt"
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
	case types.Equal(types.Freeze(from), types.Freeze(to)):
		return ExactFit
	case types.ValueCompatible(to, from):
		return WeakFit
	}
	return NoFit
}

// Known reports whether there is a native function of that name, in lower case.
func Known(name string) bool {
	return len(byName[name]) > 0 || generics[name] != nil || name == "token"
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
// one, does not take. The function token depends on a table and is not found here.
func ResolveArgs(name string, args []Arg, receiver types.Type) (*Function, error) {
	if g := generics[name]; g != nil {
		return g.resolve(name, args)
	}
	candidates := byName[name]
	switch len(candidates) {
	case 0:
		return nil, cqlerr.Invalidf("Unknown function '%s'", name)
	case 1:
		return candidates[0], CheckArgs(candidates[0], args)
	}
	var fitting []*Function
	for _, f := range candidates {
		if receiver != nil && TypeFit(receiver, f.Returns) == NoFit {
			continue
		}
		switch f.fit(args) {
		case ExactFit:
			return f, nil
		case WeakFit:
			fitting = append(fitting, f)
		}
	}
	switch len(fitting) {
	case 0:
		return nil, cqlerr.Invalidf("Invalid call to function %s, none of its type signatures match "+
			"(known type signatures: %s)", name, signatures(candidates))
	case 1:
		return fitting[0], nil
	}
	return nil, cqlerr.Invalidf("Ambiguous call to function %s (can be matched by following signatures: %s): "+
		"use type casts to disambiguate", name, signatures(fitting))
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
		return wrongCount(f.Name, len(f.Args), len(args))
	}
	for i := range args {
		if args[i].fit(f.Args[i]) == NoFit {
			return cqlerr.Invalidf("Type error: %s cannot be passed as argument %d of function system.%s of type %s",
				args[i].Text, i, f.Name, f.Args[i])
		}
	}
	return nil
}

// wrongCount is for too many or too few arguments.
func wrongCount(name string, want, got int) error {
	return cqlerr.Invalidf("Invalid number of arguments in call to function system.%s: %d required but %d provided",
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
