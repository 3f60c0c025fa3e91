package planner

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// resolveType finds the type that was written in a statement about that keyspace.
func resolveType(keyspace string, n cql.TypeName) (types.Type, error) {
	t, err := namedType(keyspace, n)
	if err != nil || !n.Frozen {
		return t, err
	}
	switch t.(type) {
	case *types.List, *types.Set, *types.Map, *types.Tuple, *types.UserType, *types.Vector:
		return types.Freeze(t), nil
	}
	return nil, cqlerr.Syntaxf("frozen<> is only allowed on collections, tuples, and user-defined types (got %s)", t)
}

// namedType is resolveType without frozen<>.
func namedType(keyspace string, n cql.TypeName) (types.Type, error) {
	if n.Class != "" {
		t, err := types.FromClassName(n.Class)
		if err != nil {
			return nil, cqlerr.Syntaxf("Error setting type %s: %s", n.Class, err.Error())
		}
		return types.FreezeParts(t), nil
	}
	args := make([]types.Type, len(n.Args))
	for i, a := range n.Args {
		var err error
		if args[i], err = resolveType(keyspace, a); err != nil {
			return nil, err
		}
	}
	if t, ok := types.Native(n.Name); ok && n.Keyspace == "" && len(args) == 0 {
		return t, nil
	}
	switch {
	case n.Name == "list" && len(args) == 1:
		return collection(n, &types.List{Elem: args[0]}, args)
	case n.Name == "set" && len(args) == 1:
		return collection(n, &types.Set{Elem: args[0]}, args)
	case n.Name == "map" && len(args) == 2:
		return collection(n, &types.Map{Key: args[0], Value: args[1]}, args)
	case n.Name == "tuple" && len(args) > 0:
		for i, a := range args {
			if a == types.Counter {
				return nil, cqlerr.Invalidf("Counters are not allowed inside tuples")
			}
			args[i] = types.Freeze(a)
		}
		return &types.Tuple{Elems: args}, nil
	case n.Name == "vector" && len(args) == 1:
		if n.Dimension < 1 {
			return nil, cqlerr.Invalidf("vectors may only have positive dimensions; given %d", n.Dimension)
		}
		return &types.Vector{Elem: args[0], Dim: n.Dimension}, nil
	}
	if n.Keyspace != "" && n.Keyspace != keyspace {
		return nil, cqlerr.Invalidf("Statement on keyspace %s cannot refer to a user type in keyspace %s; user types can only "+
			"be used in the keyspace they are defined in", keyspace, n.Keyspace)
	}
	return nil, cqlerr.Invalidf("Unknown type %s.%s", keyspace, n.Name)
}

// collection checks what a collection consists of.
func collection(n cql.TypeName, t types.Type, args []types.Type) (types.Type, error) {
	if n.Frozen {
		t = types.Freeze(t)
	}
	for _, a := range args {
		switch {
		case a == types.Counter:
			return nil, cqlerr.Invalidf("Counters are not allowed inside collections: %s", t)
		case types.IsMultiCell(a) && !n.Frozen:
			return nil, cqlerr.Invalidf("Non-frozen collections are not allowed inside collections: %s", t)
		}
	}
	if n.Name == "set" && args[0] == types.Duration {
		return nil, cqlerr.Invalidf("Durations are not allowed inside sets: %s", t)
	}
	if n.Name == "map" && args[0] == types.Duration {
		return nil, cqlerr.Invalidf("Durations are not allowed as map keys: %s", t)
	}
	return t, nil
}
