package types

// EmptyIsNull reports whether functions take the empty value of t for null: there is no number, time or
// address in it. To text and blob it is a value like others.
func EmptyIsNull(t Type) bool {
	switch t {
	case ASCII, Text, Blob, Empty:
		return false
	}
	_, isNative := t.(interface{ isNative() })
	return isNative
}

// noLiteral is how an empty value prints if EmptyIsNull, and the one of the type empty.
const noLiteral = "null"
