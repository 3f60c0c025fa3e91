package types

// Readable reports whether a column that had type from and was dropped may be added again with type to: what is stored
// of it has to be read as values of the other type.
func Readable(to, from Type) bool {
	if Equal(to, from) {
		return true
	}
	if IsMultiCell(to) != IsMultiCell(from) || to.FixedLength() != from.FixedLength() || !ValueCompatible(to, from) {
		return false
	}
	switch from := from.(type) {
	case *List:
		to, is := to.(*List)
		return is && Readable(to.Elem, from.Elem)
	case *Set:
		to, is := to.(*Set)
		return is && Readable(to.Elem, from.Elem)
	case *Map:
		to, is := to.(*Map)
		return is && Readable(to.Value, from.Value)
	}
	return true
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
