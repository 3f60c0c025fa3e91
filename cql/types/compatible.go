package types

// ValueCompatible reports whether a value of type from is also one of type to as it stands: what a
// function returns or another column holds may then be used. Frozen or not makes no difference.
func ValueCompatible(to, from Type) bool {
	if Equal(to, from) || Equal(Freeze(to), Freeze(from)) {
		return true
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
