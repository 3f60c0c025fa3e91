package functions

import (
	"fmt"
	"maps"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// family makes the functions of one name that exist for more types than can be listed.
type family struct {
	params   []parameter
	optional int // how many of the last parameters may be left out

	// make declares the function for arguments of those types.
	make func(name string, args []types.Type) (*Function, error)

	// receive declares it for the type of the value that the call is for instead; nil: a SELECT list tells none.
	receive func(name string, receiver types.Type) (*Function, error)
}

// parameter is what a family asks of one argument. Where the type of an argument is not known, the other fields
// tell how to find it.
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

// IsFamily reports whether functions of that name are made for the types of their arguments. Of what they return
// nothing is held against a call in advance.
func IsFamily(name string) bool { return families[name] != nil }

// resolve makes the function for arguments. First the types that are told by themselves are found, then those that
// other arguments tell.
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

// infer is the type of an argument as far as the others do not matter; nil if it cannot be told.
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

// asReturned is the type of a function's result for an argument of type t that it returns.
func asReturned(t types.Type) types.Type {
	if t == types.TimeUUID {
		return types.LegacyTimeUUID
	}
	return t
}
