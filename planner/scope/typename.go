package scope

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
)

// Type finds the type that was written in a statement about that keyspace.
func Type(k *schema.Keyspace, n cql.TypeName) (types.Type, error) {
	t, err := namedType(k, expr.Settled(n))
	if err != nil || !n.Frozen {
		return t, err
	}
	return types.Freeze(t), nil
}

// namedType is Type of a name that is settled.
func namedType(k *schema.Keyspace, n cql.TypeName) (types.Type, error) {
	switch {
	case n.IsClass():
		return ClassType(n.Class)
	case n.User:
		return userType(k, n)
	case n.Name == "list" && len(n.Args) == 1, n.Name == "set" && len(n.Args) == 1, n.Name == "map" && len(n.Args) == 2:
		return collection(k, n)
	case n.Name == "tuple" && len(n.Args) > 0:
		return tuple(k, n)
	case n.Name == "vector" && len(n.Args) == 1:
		elem, err := namedType(k, n.Args[0])
		if err != nil {
			return nil, err
		}
		if n.Dimension < 1 {
			return nil, cqlerr.Invalidf("vectors may only have positive dimensions; given %d", n.Dimension)
		}
		return &types.Vector{Elem: elem, Dim: n.Dimension}, nil
	}
	if t, ok := types.Native(n.Name); ok {
		return t, nil
	}
	return nil, unknownType(k, n)
}

// ClassType is the type of a class in quotes.
func ClassType(class string) (types.Type, error) {
	t, err := types.FromClassName(class)
	if err != nil {
		return nil, cqlerr.Syntaxf("Error setting type %s: %s", class, err.Error())
	}
	return types.FreezeParts(t), nil
}

// userType finds a type of the keyspace itself.
func userType(k *schema.Keyspace, n cql.TypeName) (types.Type, error) {
	if n.Keyspace != "" && n.Keyspace != k.Name {
		return nil, cqlerr.Invalidf("Statement on keyspace %s cannot refer to a user type in keyspace %s; user types can "+
			"only be used in the keyspace they are defined in", k.Name, n.Keyspace)
	}
	t := k.Types[n.Name]
	switch {
	case t == nil:
		return nil, unknownType(k, n)
	case n.Frozen:
		return types.Freeze(t), nil
	}
	return t, nil
}

// unknownType refuses a name that no type has.
func unknownType(k *schema.Keyspace, n cql.TypeName) error {
	return cqlerr.Invalidf("Unknown type %s.%s", k.Name, n.Name)
}

// collection makes a list, set or map, once its parts are known to be some that it may have.
func collection(k *schema.Keyspace, n cql.TypeName) (types.Type, error) {
	value := n.Args[len(n.Args)-1]
	if err := checkPart(n, value); err != nil {
		return nil, err
	}
	if n.Name == "set" && IsNative(value, "duration") {
		return nil, expr.ErrSetOfDurations(expr.TypeText(n))
	}
	if key := n.Args[0]; n.Name == "map" {
		if IsNative(key, "duration") {
			return nil, expr.ErrDurationKeys(expr.TypeText(n))
		}
		if err := checkPart(n, key); err != nil {
			return nil, err
		}
	}
	elem, err := namedType(k, value)
	if err != nil {
		return nil, err
	}
	switch n.Name {
	case "list":
		return &types.List{Elem: elem, Frozen: n.Frozen}, nil
	case "set":
		return &types.Set{Elem: elem, Frozen: n.Frozen}, nil
	}
	key, err := namedType(k, n.Args[0])
	if err != nil {
		return nil, err
	}
	return &types.Map{Key: key, Value: elem, Frozen: n.Frozen}, nil
}

// checkPart refuses types that cannot be part of a collection.
func checkPart(whole, part cql.TypeName) error {
	switch {
	case IsNative(part, "counter"):
		return cqlerr.Invalidf("Counters are not allowed inside collections: %s", expr.TypeText(whole))
	case whole.Frozen || part.Frozen || part.Name == "tuple" && !part.User || part.Name == "vector" && !part.User:
		return nil
	case part.User:
		return cqlerr.Invalidf("Non-frozen UDTs are not allowed inside collections: %s", expr.TypeText(whole))
	case len(part.Args) > 0:
		return cqlerr.Invalidf("Non-frozen collections are not allowed inside collections: %s", expr.TypeText(whole))
	}
	return nil
}

// IsNative reports whether a name means the native type of that name.
func IsNative(n cql.TypeName, name string) bool { return n.Name == name && !n.User }

// tuple makes a tuple.
func tuple(k *schema.Keyspace, n cql.TypeName) (types.Type, error) {
	elems := make([]types.Type, len(n.Args))
	for i, a := range n.Args {
		if IsNative(a, "counter") {
			return nil, cqlerr.Invalidf("Counters are not allowed inside tuples")
		}
		var err error
		if elems[i], err = namedType(k, a); err != nil {
			return nil, err
		}
	}
	return types.Freeze(&types.Tuple{Elems: elems}), nil
}
