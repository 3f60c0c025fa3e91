package types

// emptyType has one value, the empty one. Only tables that began as compact storage have columns of it.
type emptyType struct{ native }

func (*emptyType) Validate(b []byte) error {
	if len(b) != 0 {
		return invalidf("EmptyType only accept empty values")
	}
	return nil
}

func (*emptyType) Compare(_, _ []byte) int { return 0 }

func (*emptyType) AppendKey(dst, _ []byte, desc bool) []byte { return append(dst, keyEmpty^mask(desc)) }

func (*emptyType) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	if len(key) == 0 || key[0] != keyEmpty^mask(desc) {
		return nil, nil, errKey
	}
	return notNil(dst), key[1:], nil
}

func (*emptyType) ParseLiteral(LiteralKind, string) ([]byte, error) { return nil, ErrKind }

func (*emptyType) Format([]byte) string { return noLiteral }

func (*emptyType) ParseJSON(v JSON) ([]byte, error) {
	if s, ok := v.(JSONString); !ok {
		return nil, invalidf("Expected an empty string, but got: %s", v)
	} else if s != "" {
		return nil, invalidf("'%s' is not empty", s)
	}
	return []byte{}, nil
}

func (*emptyType) AppendJSON(dst, _ []byte) []byte { return append(dst, `""`...) }
