package types

// IsMultiCell reports whether elements of values of t are cells of their own, which can be written apart.
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

// Freeze returns t frozen, with all that is inside it but in vectors and user types: they count as frozen, with
// elements and fields that are named as they were written.
func Freeze(t Type) Type {
	switch t := t.(type) {
	case *List:
		return &List{Elem: Freeze(t.Elem), Frozen: true}
	case *Set:
		return &Set{Elem: Freeze(t.Elem), Frozen: true}
	case *Map:
		return &Map{Key: Freeze(t.Key), Value: Freeze(t.Value), Frozen: true}
	case *Tuple:
		elems := make([]Type, len(t.Elems))
		for i, e := range t.Elems {
			elems[i] = Freeze(e)
		}
		return &Tuple{Elems: elems}
	case *UserType:
		return t.withFrozen(true)
	}
	return t
}

// FreezeParts returns t with all frozen that is inside it, elements of vectors too: so Cassandra reads the class
// names that stand for types in statements.
func FreezeParts(t Type) Type {
	part := func(t Type) Type { return Freeze(FreezeParts(t)) }
	switch t := t.(type) {
	case *List:
		return &List{Elem: part(t.Elem), Frozen: t.Frozen}
	case *Set:
		return &Set{Elem: part(t.Elem), Frozen: t.Frozen}
	case *Map:
		return &Map{Key: part(t.Key), Value: part(t.Value), Frozen: t.Frozen}
	case *Tuple:
		elems := make([]Type, len(t.Elems))
		for i, e := range t.Elems {
			elems[i] = part(e)
		}
		return &Tuple{Elems: elems}
	case *Vector:
		return &Vector{Elem: part(t.Elem), Dim: t.Dim}
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
