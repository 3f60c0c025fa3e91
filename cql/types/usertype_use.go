package types

import "slices"

// UsesUserType reports whether t is a user type of that name or has one inside. Cassandra does not look into vectors,
// and so keeps the types of their elements as they were when the vector was declared.
func UsesUserType(t Type, name string) bool {
	switch t := t.(type) {
	case *List:
		return UsesUserType(t.Elem, name)
	case *Set:
		return UsesUserType(t.Elem, name)
	case *Map:
		return UsesUserType(t.Key, name) || UsesUserType(t.Value, name)
	case *Tuple:
		return slices.ContainsFunc(t.Elems, func(e Type) bool { return UsesUserType(e, name) })
	case *UserType:
		return t.Name == name || slices.ContainsFunc(t.Fields, func(f Field) bool { return UsesUserType(f.Type, name) })
	}
	return false
}

// WithUserType returns t with the fields of u wherever UsesUserType finds a user type of its name. What is frozen stays
// so.
func WithUserType(t Type, u *UserType) Type {
	if !UsesUserType(t, u.Name) {
		return t
	}
	switch t := t.(type) {
	case *List:
		return &List{Elem: WithUserType(t.Elem, u), Frozen: t.Frozen}
	case *Set:
		return &Set{Elem: WithUserType(t.Elem, u), Frozen: t.Frozen}
	case *Map:
		return &Map{Key: WithUserType(t.Key, u), Value: WithUserType(t.Value, u), Frozen: t.Frozen}
	case *Tuple:
		elems := make([]Type, len(t.Elems))
		for i, e := range t.Elems {
			elems[i] = WithUserType(e, u)
		}
		return &Tuple{Elems: elems}
	case *UserType:
		if t.Name == u.Name {
			return u.withFrozen(t.Frozen)
		}
		fields := make([]Field, len(t.Fields))
		for i, f := range t.Fields {
			fields[i] = Field{Name: f.Name, Type: WithUserType(f.Type, u)}
		}
		return &UserType{Keyspace: t.Keyspace, Name: t.Name, Fields: fields, Frozen: t.Frozen}
	}
	return t
}

// UserTypeNames appends the names of the user types inside t to names, each once: those that others are made of first.
// Here elements of vectors count.
func UserTypeNames(names []string, t Type) []string {
	for _, p := range parts(t) {
		names = UserTypeNames(names, p)
	}
	if u, ok := t.(*UserType); ok && !slices.Contains(names, u.Name) {
		names = append(names, u.Name)
	}
	return names
}

// parts are the types that a type consists of.
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

// Size is how many types t consists of, itself counted, and how deep they are nested.
func Size(t Type) (count, depth int) {
	count = 1
	for _, p := range parts(t) {
		c, d := Size(p)
		count, depth = count+c, max(depth, d)
	}
	return count, depth + 1
}

// WithoutUserTypes is t with tuples in the place of user types, as Cassandra remembers the types of columns that are
// gone. It does not look into vectors.
func WithoutUserTypes(t Type) Type {
	switch t := t.(type) {
	case *List:
		return &List{Elem: WithoutUserTypes(t.Elem), Frozen: t.Frozen}
	case *Set:
		return &Set{Elem: WithoutUserTypes(t.Elem), Frozen: t.Frozen}
	case *Map:
		return &Map{Key: WithoutUserTypes(t.Key), Value: WithoutUserTypes(t.Value), Frozen: t.Frozen}
	case *Tuple:
		return tupleWithout(t)
	case *UserType:
		return tupleWithout(t.tuple())
	}
	return t
}

func tupleWithout(t *Tuple) *Tuple {
	elems := make([]Type, len(t.Elems))
	for i, e := range t.Elems {
		elems[i] = WithoutUserTypes(e)
	}
	return &Tuple{Elems: elems}
}
