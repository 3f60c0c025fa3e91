package types

// ValueCompatible reports whether a value of type from is also one of type to as it stands: what a
// function returns or another column holds may then be used. Frozen or not makes no difference.
func ValueCompatible(to, from Type) bool {
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

// partsCompatible is ValueCompatible of two frozen collections; ok is false for other types. The elements of sets and
// the keys of maps must be in the same order as well.
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
	}
	return false, false
}

// orderCompatible reports whether values of type from are ones of type to that have the same order.
func orderCompatible(to, from Type) bool {
	return Equal(to, from) || to == Text && from == ASCII || to == Blob && (from == ASCII || from == Text)
}
