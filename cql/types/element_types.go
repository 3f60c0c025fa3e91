package types

import "slices"

// ElementTypes are the types of the keys and values of a collection; lists and sets have values only, other types
// neither.
func ElementTypes(t Type) (key, value Type) {
	switch t := t.(type) {
	case *List:
		return nil, t.Elem
	case *Set:
		return nil, t.Elem
	case *Map:
		return t.Key, t.Value
	}
	return nil, nil
}

// HasDuration reports whether t is duration or has a part that is, as Cassandra looks for it: not in sets, keys of
// maps and vectors.
func HasDuration(t Type) bool {
	switch t := t.(type) {
	case *List:
		return HasDuration(t.Elem)
	case *Map:
		return HasDuration(t.Value)
	case *Tuple:
		return slices.ContainsFunc(t.Elems, HasDuration)
	case *UserType:
		return slices.ContainsFunc(t.Fields, func(f Field) bool { return HasDuration(f.Type) })
	}
	return t == Duration
}
