package types

import (
	"bytes"
	"math"
	"strings"
)

// Custom is a type of a Java class that CQL has no name for: a composite, whose values this package does not take
// apart. They are any bytes.
type Custom struct{ Class string }

// String puts the class name in single quotes, as statements name such a type.
func (t *Custom) String() string { return "'" + t.Class + "'" }

// ClassName is the class with its parameters spelled out.
func (t *Custom) ClassName() string { return t.Class }

// LossyKey is false: the key of a value is made of all its bytes.
func (*Custom) LossyKey() bool { return false }

// FixedLength is 0: nothing is known of the class.
func (*Custom) FixedLength() int { return 0 }

// Validate takes everything: what the class would refuse is not known.
func (*Custom) Validate([]byte) error { return nil }

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

// components are the types inside a CompositeType.
func (t *Custom) components() (types []Type, ok bool) {
	list, ok := strings.CutPrefix(t.Class, marshalPackage+"CompositeType(")
	if !ok {
		return nil, false
	}
	p := &classParser{rest: list}
	for !p.take(")") {
		c, err := p.parse(1)
		if err != nil {
			return nil, false
		}
		types = append(types, c)
		p.take(",")
	}
	return types, true
}

// parseComposite reads the text of a composite. A colon behind a backslash belongs to a component, and so does an
// exclamation mark before the last of a component. A last component that is one alone makes the value end in 1, which
// stands for the end of all values that begin with it.
func parseComposite(types []Type, text string) ([]byte, error) {
	b := []byte{}
	if text == "" {
		return b, nil
	}
	for i, part := range splitUnescaped(text) {
		if part == "!" && i > 0 {
			b[len(b)-1] = 1
			break
		}
		if part == "!" || i >= len(types) {
			return nil, invalidf("Unable to make a composite of %d components from '%s'", len(types), text)
		}
		part = strings.TrimSuffix(strings.ReplaceAll(part, `\:`, ":"), "!")
		value, err := fromString(types[i], part)
		if err != nil {
			return nil, err
		}
		if len(value) > math.MaxUint16 {
			return nil, invalidf("A component of a composite may have %d bytes, not %d", math.MaxUint16, len(value))
		}
		b = AppendCompositeKey(b, value)
	}
	return b, nil
}

// Format prints the bytes.
func (*Custom) Format(b []byte) string { return Blob.Format(b) }

// ParseJSON takes nothing: what the class would read is not known.
func (t *Custom) ParseJSON(JSON) ([]byte, error) {
	return nil, invalidf("Values of %s cannot be read from JSON", t.Class)
}

// AppendJSON prints the bytes.
func (*Custom) AppendJSON(dst, b []byte) []byte { return Blob.AppendJSON(dst, b) }
