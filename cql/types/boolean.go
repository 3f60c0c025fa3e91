package types

import (
	"cmp"
	"strings"
)

// booleanType is one byte: 0 is false and any other is true. The byte is kept as bound.
type booleanType struct{ native }

// FixedLength is 1.
func (*booleanType) FixedLength() int { return 1 }

// LossyKey is true: the key of every byte but 0 is that of 1.
func (*booleanType) LossyKey() bool { return true }

// Validate takes one byte or none.
func (*booleanType) Validate(b []byte) error {
	if len(b) > 1 {
		return invalidf("Expected 1 or 0 byte value (%d)", len(b))
	}
	return nil
}

// Compare puts false before true.
func (*booleanType) Compare(a, b []byte) int {
	if order, done := compareEmpty(a, b); done {
		return order
	}
	return cmp.Compare(truth(a), truth(b))
}

// truth is 0 or 1, so that the bytes that mean true have one key.
func truth(b []byte) byte {
	if b[0] != 0 {
		return 1
	}
	return 0
}

// AppendKey appends the truth in one byte.
func (*booleanType) AppendKey(dst, b []byte, desc bool) []byte {
	m := mask(desc)
	if len(b) == 0 {
		return append(dst, keyEmpty^m)
	}
	return append(dst, keyValue^m, truth(b)^m)
}

// DecodeKey gives 0 or 1, whatever byte was bound.
func (*booleanType) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	return decodeFixedKey(dst, key, 1, 0, desc)
}

// ParseLiteral takes true and false in any case.
func (*booleanType) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	if kind != BooleanLiteral {
		return nil, ErrKind
	}
	return EncodeBoolean(strings.EqualFold(text, "true")), nil
}

// Format prints true or false, null for the empty value.
func (*booleanType) Format(b []byte) string {
	switch {
	case len(b) == 0:
		return noLiteral
	case DecodeBoolean(b):
		return "true"
	}
	return "false"
}

// ParseJSON takes true and false, or a string with one of them.
func (*booleanType) ParseJSON(v JSON) ([]byte, error) {
	if truth, ok := v.(JSONBoolean); ok {
		return EncodeBoolean(bool(truth)), nil
	}
	return jsonString(Boolean, v, "a boolean value")
}

// AppendJSON prints true or false.
func (*booleanType) AppendJSON(dst, b []byte) []byte {
	return appendJSONPlain(dst, Boolean, b)
}

// EncodeBoolean returns the boolean v.
func EncodeBoolean(v bool) []byte {
	if v {
		return []byte{1}
	}
	return []byte{0}
}

// DecodeBoolean reads a valid boolean; the empty value is false.
func DecodeBoolean(b []byte) bool { return len(b) > 0 && b[0] != 0 }
