package functions

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// Fit is how well an argument fits the type that a function asks for.
type Fit uint8

// Not fitting, fitting among other types, and being exactly of that type.
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

	Likely types.Type // the type that a literal seems to have, where the context gives none; the Type of other arguments

	List     bool // a list literal in a SELECT list, which may be for a vector
	Elements int  // how many that has

	Composed bool // a literal of a collection or tuple

	// Marker is a bind marker, or an argument of an operator whose result is for a clustering column in descending order:
	// of several operators the receiver does not choose then.
	Marker bool

	// Fits returns how well the argument fits. If it is nil, Type decides; without a Type, any argument fits weakly.
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
	case types.Equal(types.Freeze(from), types.Freeze(to)), AsReturned(from) == to:
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

// ResolveArgs chooses the function called name for arguments: the one with exactly their types, else the only one
// that they fit. Of several functions only those count whose result the receiver, if there is one, takes. The name
// may begin with "system.", as error texts then show it. The function token depends on a table and is not found here.
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
// first with exactly the types of the arguments.
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

// family makes the functions of one name that exist for more types than can be listed.
type family struct {
	params   []parameter
	optional int // how many of the last parameters may be left out

	// make declares the function for arguments of those types.
	make func(name string, args []types.Type) (*Function, error)

	// receive declares it for the type of the value that the call is for instead; nil: there is no such type in a
	// SELECT list.
	receive func(name string, receiver types.Type) (*Function, error)
}

// parameter describes one argument of a family. The other fields determine the type of an argument that is not
// known.
type parameter struct {
	text string // as error texts show it

	receiver bool       // it is that of the value that the call is for
	fallback types.Type // it is this
	other    int        // it is that of another argument, the first being 1
	follow   bool       // it is that of the other argument even if its own is known

	// ofList is the type of a list literal with n elements in a SELECT list; nil: as other literals.
	ofList func(n int) types.Type

	// check refuses types in Cassandra's words; nil takes all.
	check func(function string, a *Arg, t types.Type) error
}

// families has the functions that are made for their arguments' types.
var families map[string]*family

func init() {
	families = map[string]*family{}
	for _, fs := range []map[string]*family{
		aggregateFamilies, collectionFamilies, vectorFamilies, maskFamilies,
		jsonFamilies,
	} {
		maps.Copy(families, fs)
	}
}

// IsFamily reports whether functions of that name are made for the types of their arguments. Their result types are
// not checked in advance.
func IsFamily(name string) bool { return families[name] != nil }

// resolve makes the function for arguments. First the types that are known without the other arguments are found,
// then the types that follow from other arguments.
func (f *family) resolve(name string, args []Arg, receiver types.Type) (*Function, error) {
	if len(args) > len(f.params) || len(args) < len(f.params)-f.optional {
		return nil, cqlerr.Invalidf("Invalid number of arguments for function %s", f.signature(name))
	}
	ts := make([]types.Type, len(args))
	for i := range args {
		ts[i] = f.params[i].infer(&args[i], receiver)
	}
	for i := range args {
		p := &f.params[i]
		if p.other > 0 && p.other <= len(ts) && (ts[i] == nil || p.follow && ts[p.other-1] != nil) {
			ts[i] = ts[p.other-1]
		}
		if ts[i] == nil {
			return nil, cqlerr.Invalidf("Cannot infer type of argument %s in call to function %s: "+
				"use type casts to disambiguate", args[i].Text, f.signature(name))
		}
		if p.check == nil {
			continue
		}
		if err := p.check("system."+name, &args[i], ts[i]); err != nil {
			return nil, err
		}
	}
	made, err := f.declare(name, ts, receiver)
	if err != nil {
		return nil, err
	}
	return made, CheckArgs(made, args)
}

// declare makes the function for arguments of those types, or for the receiver.
func (f *family) declare(name string, args []types.Type, receiver types.Type) (*Function, error) {
	if f.receive != nil {
		return f.receive(name, receiver)
	}
	return f.make(name, args)
}

// infer is the type of an argument as far as it does not depend on the others; nil if it is not known.
func (p *parameter) infer(a *Arg, receiver types.Type) types.Type {
	switch {
	case a.List && p.ofList != nil:
		return p.ofList(a.Elements)
	case a.Likely != nil:
		return a.Likely
	case a.Type != nil && !a.Composed:
		return a.Type
	case p.receiver && receiver != nil:
		return receiver
	}
	return p.fallback
}

// signature is the family as error texts show it: system.mask_inner([text|varchar|ascii], int, int, [text]).
func (f *family) signature(name string) string {
	parts := make([]string, len(f.params))
	for i, p := range f.params {
		if parts[i] = p.text; i >= len(f.params)-f.optional {
			parts[i] = "[" + p.text + "]"
		}
	}
	return fmt.Sprintf("system.%s(%s)", name, strings.Join(parts, ", "))
}

// unary makes a family of one parameter.
func unary(p parameter, make func(name string, t types.Type) *Function) *family {
	return &family{params: []parameter{p}, make: func(name string, args []types.Type) (*Function, error) {
		return make(name, args[0]), nil
	}}
}

// fixed is a parameter that takes values of the first type, or of another in its name.
func fixed(text string, ts ...types.Type) parameter {
	return parameter{text: text, fallback: ts[0], check: func(function string, a *Arg, t types.Type) error {
		for _, to := range ts {
			if TypeFit(to, t) != NoFit {
				return nil
			}
		}
		return cqlerr.Invalidf("Function %s requires an argument of type %s, but found argument %s of type %s",
			function, text, a.Text, t)
	}}
}

// AsReturned is the type of a function's result for an argument of type t that it returns. Cassandra keeps the types of
// users' functions the same way.
func AsReturned(t types.Type) types.Type {
	if t == types.TimeUUID {
		return types.LegacyTimeUUID
	}
	return t
}
