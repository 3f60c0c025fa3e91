package types

import "slices"

// IsMultiCell reports whether each element of a value of t is a separate cell, which can be written alone.
func IsMultiCell(t Type) bool {
	switch t := t.(type) {
	case *List:
		return !t.Frozen
	case *Set:
		return !t.Frozen
	case *Map:
		return !t.Frozen
	case *UserType:
		return !t.Frozen
	}
	return false
}

// Freeze returns t frozen, with everything inside it. Elements of vectors and fields of user types keep their types as
// declared: they are treated as frozen anyway.
func Freeze(t Type) Type {
	switch t := t.(type) {
	case *List:
		return &List{Elem: Freeze(t.Elem), Frozen: true}
	case *Set:
		return &Set{Elem: Freeze(t.Elem), Frozen: true}
	case *Map:
		return &Map{Key: Freeze(t.Key), Value: Freeze(t.Value), Frozen: true}
	case *Tuple:
		return replaceParts(t, Freeze)
	case *UserType:
		return t.withFrozen(true)
	}
	return t
}

// FreezeParts returns t with everything inside it frozen, elements of vectors included: this is how Cassandra reads
// class names in statements.
func FreezeParts(t Type) Type {
	if _, ok := t.(*UserType); ok {
		return t
	}
	return replaceParts(t, func(t Type) Type { return Freeze(FreezeParts(t)) })
}

// replaceParts returns t with replace applied to each of its parts.
func replaceParts(t Type, replace func(Type) Type) Type {
	switch t := t.(type) {
	case *List:
		return &List{Elem: replace(t.Elem), Frozen: t.Frozen}
	case *Set:
		return &Set{Elem: replace(t.Elem), Frozen: t.Frozen}
	case *Map:
		return &Map{Key: replace(t.Key), Value: replace(t.Value), Frozen: t.Frozen}
	case *Vector:
		return &Vector{Elem: replace(t.Elem), Dim: t.Dim}
	case *Tuple:
		elems := make([]Type, len(t.Elems))
		for i, e := range t.Elems {
			elems[i] = replace(e)
		}
		return &Tuple{Elems: elems}
	case *UserType:
		fields := make([]Field, len(t.Fields))
		for i, f := range t.Fields {
			fields[i] = Field{Name: f.Name, Type: replace(f.Type)}
		}
		return &UserType{Keyspace: t.Keyspace, Name: t.Name, Fields: fields, Frozen: t.Frozen}
	}
	return t
}

// frozenName puts frozen<> around the name of a type that is not multi-cell.
func frozenName(name string, frozen bool) string {
	if frozen {
		return "frozen<" + name + ">"
	}
	return name
}

// ElementTypes returns the types of the keys and values of a collection; lists and sets have values only, other types
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

// HasDuration reports whether t is duration or contains it. Like Cassandra it does not look into sets, keys of maps
// and vectors.
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

// UsesUserType reports whether t is or contains a user type of that name. Cassandra does not look into vectors: their
// element types stay as they were when the vector was declared.
func UsesUserType(t Type, name string) bool {
	if u, ok := t.(*UserType); ok && u.Name == name {
		return true
	}
	_, ok := t.(*Vector)
	return !ok && slices.ContainsFunc(parts(t), func(p Type) bool { return UsesUserType(p, name) })
}

// WithUserType returns t with the fields of u wherever UsesUserType finds a user type of that name. Frozen types stay
// frozen.
func WithUserType(t Type, u *UserType) Type {
	if !UsesUserType(t, u.Name) {
		return t
	}
	if t, ok := t.(*UserType); ok && t.Name == u.Name {
		return u.withFrozen(t.Frozen)
	}
	return replaceParts(t, func(t Type) Type { return WithUserType(t, u) })
}

// UserTypeNames appends the names of the user types in t to names, each once, dependencies first. It looks into
// vectors.
func UserTypeNames(names []string, t Type) []string {
	for _, p := range parts(t) {
		names = UserTypeNames(names, p)
	}
	if u, ok := t.(*UserType); ok && !slices.Contains(names, u.Name) {
		names = append(names, u.Name)
	}
	return names
}

// parts returns the types of the parts of t.
func parts(t Type) []Type {
	switch t := t.(type) {
	case *List:
		return []Type{t.Elem}
	case *Set:
		return []Type{t.Elem}
	case *Map:
		return []Type{t.Key, t.Value}
	case *Vector:
		return []Type{t.Elem}
	case *Tuple:
		return t.Elems
	case *UserType:
		return t.tuple().Elems
	}
	return nil
}

// Size returns the number of types in t, itself included, and the depth of their nesting.
func Size(t Type) (count, depth int) {
	count = 1
	for _, p := range parts(t) {
		c, d := Size(p)
		count, depth = count+c, max(depth, d)
	}
	return count, depth + 1
}

// WithoutUserTypes returns t with tuples instead of user types, which is how Cassandra records the types of dropped
// columns. It does not look into vectors.
func WithoutUserTypes(t Type) Type {
	switch u := t.(type) {
	case *UserType:
		return replaceParts(u.tuple(), WithoutUserTypes)
	case *Vector:
		return t
	}
	return replaceParts(t, WithoutUserTypes)
}
