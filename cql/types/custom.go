package types

import "bytes"

// Custom is a type of a Java class that CQL has no name for. Its values are bytes in the order of bytes.
type Custom struct{ Class string }

// String puts the class name in single quotes, as statements name such a type.
func (t *Custom) String() string { return "'" + t.Class + "'" }

// ClassName is the class with its parameters spelled out.
func (t *Custom) ClassName() string { return t.Class }

// LossyKey is false: the key of a value is made of all its bytes.
func (*Custom) LossyKey() bool { return false }

// FixedLength is 0: nothing is known of the class.
func (*Custom) FixedLength() int { return 0 }

// Validate checks the components of a CompositeType. What other classes would refuse is not known.
func (t *Custom) Validate(b []byte) error {
	if components, ok := t.components(); ok {
		return validateComposite(components, b)
	}
	return nil
}

// Compare orders by bytes.
func (*Custom) Compare(a, b []byte) int { return bytes.Compare(a, b) }

// AppendKey is that of blob.
func (*Custom) AppendKey(dst, b []byte, desc bool) []byte { return appendBytesKey(dst, b, desc) }

// DecodeKey is that of blob.
func (*Custom) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	return decodeBytesKey(dst, key, desc)
}

// ParseLiteral takes bytes, and for a CompositeType any other literal as a text of components with colons between them.
// The texts that other classes would read are not known.
func (t *Custom) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	if kind == HexLiteral {
		return parseHex(text)
	}
	components, ok := t.components()
	if !ok {
		return nil, ErrKind
	}
	return parseComposite(components, text)
}

// Format prints the bytes.
func (*Custom) Format(b []byte) string { return Blob.Format(b) }

// ParseJSON takes nothing: what the class would read is not known.
func (t *Custom) ParseJSON(JSON) ([]byte, error) {
	return nil, invalidf("Values of %s cannot be read from JSON", t.Class)
}

// AppendJSON prints the bytes.
func (*Custom) AppendJSON(dst, b []byte) []byte { return Blob.AppendJSON(dst, b) }
