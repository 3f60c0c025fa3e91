package types

// ValueCompatible reports whether a value of type from is also one of type to as it stands: what a
// function returns or another column holds may then be used. Frozen or not makes no difference but to user types.
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
	}
	return false
}

// partsCompatible is ValueCompatible of two types with parts; ok is false for other types. The elements of sets and
// the keys of maps must be in the same order as well. A user type is a tuple, but no tuple is one.
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

// eachCompatible reports whether parts are compatible each with its own; there may be more of those in to.
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

// orderCompatible reports whether values of type from are ones of type to that have the same order.
func orderCompatible(to, from Type) bool {
	return Equal(to, from) || to == Text && from == ASCII || to == Blob && (from == ASCII || from == Text)
}

// Compatible reports whether a type may take the place of another, from, wherever there are values of that: they are
// its values too, in the same order. Collections that are frozen are different types from those that are not.
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

// cellCompatible is Compatible of what stands in cells, which are not in order but must be as long.
func cellCompatible(to, from Type) bool {
	return ValueCompatible(to, from) && to.FixedLength() == from.FixedLength()
}

// extends reports whether a tuple or user type has parts that are compatible, or fewer.
func extends(to []Type, from Type) bool {
	switch from := from.(type) {
	case *Tuple:
		return eachCompatible(to, from.Elems, Compatible)
	case *UserType:
		return eachCompatible(to, from.tuple().Elems, Compatible)
	}
	return false
}

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
