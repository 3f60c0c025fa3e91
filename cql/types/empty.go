package types

// emptyType has one value, the empty one. Only tables that began as compact storage have columns of it.
type emptyType struct{ native }

// Validate refuses all bytes.
func (*emptyType) Validate(b []byte) error {
	if len(b) != 0 {
		return invalidf("EmptyType only accept empty values")
	}
	return nil
}

// Compare is 0: there is one value.
func (*emptyType) Compare(_, _ []byte) int { return 0 }

// AppendKey appends the mark of the empty value.
func (*emptyType) AppendKey(dst, _ []byte, desc bool) []byte { return append(dst, keyEmpty^mask(desc)) }

// DecodeKey gives the empty value.
func (*emptyType) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	if len(key) == 0 || key[0] != keyEmpty^mask(desc) {
		return nil, nil, errKey
	}
	return notNil(dst), key[1:], nil
}

// ParseLiteral takes nothing.
func (*emptyType) ParseLiteral(LiteralKind, string) ([]byte, error) { return nil, ErrKind }

// Format prints null.
func (*emptyType) Format([]byte) string { return noLiteral }

// ParseJSON takes the string of no characters.
func (*emptyType) ParseJSON(v JSON) ([]byte, error) {
	if s, ok := v.(JSONString); !ok {
		return nil, invalidf("Expected an empty string, but got: %s", v)
	} else if s != "" {
		return nil, invalidf("'%s' is not empty", s)
	}
	return []byte{}, nil
}

// AppendJSON prints the string of no characters.
func (*emptyType) AppendJSON(dst, _ []byte) []byte { return append(dst, `""`...) }

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
