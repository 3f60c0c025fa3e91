package types

// ValueCompatible reports whether the bytes of a value of type from are also a value of type to, so that a function
// result or another column may be used. Frozen or not matters for user types only.
func ValueCompatible(to, from Type) bool {
	if isUserType(to) && isUserType(from) && IsMultiCell(to) != IsMultiCell(from) {
		return false
	}
	if Equal(to, from) || Equal(Freeze(to), Freeze(from)) {
		return true
	}
	if compatible, ok := partsCompatible(Freeze(to), Freeze(from)); ok {
		return compatible
	}
	switch to {
	case Blob:
		return true
	case Text:
		return from == ASCII
	case VarInt:
		return from == Int || from == BigInt || from == Timestamp
	case BigInt:
		return from == Timestamp
	case Timestamp, Time:
		return from == BigInt
	case Date:
		return from == Int
	case UUID:
		return from == TimeUUID
	case TimeUUID:
		return from == LegacyTimeUUID
	case LegacyTimeUUID:
		return from == TimeUUID
	}
	return false
}

// partsCompatible is ValueCompatible of two types with parts; ok is false for other types. The elements of sets and
// the keys of maps must also have the same order. A user type is compatible with a tuple, but not the reverse.
func partsCompatible(to, from Type) (compatible, ok bool) {
	switch to := to.(type) {
	case *List:
		from, is := from.(*List)
		return is && ValueCompatible(to.Elem, from.Elem), true
	case *Set:
		from, is := from.(*Set)
		return is && orderCompatible(to.Elem, from.Elem), true
	case *Map:
		from, is := from.(*Map)
		return is && orderCompatible(to.Key, from.Key) && ValueCompatible(to.Value, from.Value), true
	case *Tuple:
		switch from := from.(type) {
		case *Tuple:
			return eachCompatible(to.Elems, from.Elems, ValueCompatible), true
		case *UserType:
			return eachCompatible(to.Elems, from.tuple().Elems, ValueCompatible), true
		}
		return false, true
	case *UserType:
		from, is := from.(*UserType)
		return is && to.Keyspace == from.Keyspace &&
			eachCompatible(to.tuple().Elems, from.tuple().Elems, orderCompatible), true
	}
	return false, false
}

func isUserType(t Type) bool {
	_, is := t.(*UserType)
	return is
}

// eachCompatible compares parts pairwise; to may have more of them.
func eachCompatible(to, from []Type, compatible func(to, from Type) bool) bool {
	if len(from) > len(to) {
		return false
	}
	for i, t := range from {
		if !compatible(to[i], t) {
			return false
		}
	}
	return true
}

// orderCompatible reports whether values of type from are values of type to in the same order.
func orderCompatible(to, from Type) bool {
	return Equal(to, from) || to == Text && from == ASCII || to == Blob && (from == ASCII || from == Text)
}

// Compatible reports whether the type to may replace from where values exist: they are values of to, in the same
// order. Frozen and other collections are different types.
func Compatible(to, from Type) bool {
	if orderCompatible(to, from) {
		return true
	}
	switch to := to.(type) {
	case *List:
		from, is := from.(*List)
		return is && to.Frozen == from.Frozen && (to.Frozen && Compatible(to.Elem, from.Elem) ||
			!to.Frozen && cellCompatible(to.Elem, from.Elem))
	case *Set:
		from, is := from.(*Set)
		return is && to.Frozen == from.Frozen && Compatible(to.Elem, from.Elem)
	case *Map:
		from, is := from.(*Map)
		return is && to.Frozen == from.Frozen && Compatible(to.Key, from.Key) &&
			(to.Frozen && Compatible(to.Value, from.Value) || !to.Frozen && cellCompatible(to.Value, from.Value))
	case *Tuple:
		return extends(to.Elems, from)
	case *UserType:
		return extends(to.tuple().Elems, from)
	}
	return false
}

// cellCompatible is Compatible for values in cells: their order does not matter, their fixed length does.
func cellCompatible(to, from Type) bool {
	return ValueCompatible(to, from) && to.FixedLength() == from.FixedLength()
}

// extends reports whether from is a tuple or user type with compatible parts, or fewer of them.
func extends(to []Type, from Type) bool {
	switch from := from.(type) {
	case *Tuple:
		return eachCompatible(to, from.Elems, Compatible)
	case *UserType:
		return eachCompatible(to, from.tuple().Elems, Compatible)
	}
	return false
}

// Readable reports whether a dropped column of type from may be added again with type to: stored values must be
// readable as the other type.
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

// Equal reports whether a and b are the same type. Frozen and not frozen are different types.
func Equal(a, b Type) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil {
		return false
	}
	return a.ClassName() == b.ClassName() && a.String() == b.String()
}
