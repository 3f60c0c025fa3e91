package types

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/types/json"
)

// Custom is a type of a Java class that CQL has no name for. Its values are ordered by their bytes.
type Custom struct {
	bytesOrder
	Class string
}

// String puts the class name in single quotes, as statements name such a type.
func (t *Custom) String() string { return "'" + t.Class + "'" }

// ClassName is the class with its parameters spelled out.
func (t *Custom) ClassName() string { return t.Class }

// LossyKey is false: a key has all bytes of its value.
func (*Custom) LossyKey() bool { return false }

// FixedLength is 0: the class is unknown.
func (*Custom) FixedLength() int { return 0 }

// Validate checks the components of a CompositeType. The rules of other classes are unknown.
func (t *Custom) Validate(b []byte) error {
	if components, ok := t.components(); ok {
		return validateComposite(components, b)
	}
	return nil
}

// ParseLiteral takes bytes, and for a CompositeType any other literal as a text of components with colons between
// them. The literals of other classes are unknown.
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

// ParseJSON takes nothing: the class is unknown.
func (t *Custom) ParseJSON(json.Value) ([]byte, error) {
	return nil, invalidf("Values of %s cannot be read from JSON", t.Class)
}

// AppendJSON prints the bytes.
func (*Custom) AppendJSON(dst, b []byte) []byte { return Blob.AppendJSON(dst, b) }

// partitioner orders the values of PartitionerDefinedOrder.
const partitioner = "org.apache.cassandra.dht.Murmur3Partitioner"

// custom reads the parameters of a custom class and returns it with all of them spelled out.
func (p *classParser) custom(name string, depth int) (Type, error) {
	var params []string
	var err error
	switch open := p.take("("); {
	case name == "PartitionerDefinedOrder":
		params = []string{partitioner}
		if open && strings.TrimPrefix(p.word(), "org.apache.cassandra.dht.") != "Murmur3Partitioner" || open && !p.take(")") {
			return nil, invalidDefinition(name)
		}
	case open && name == "CompositeType":
		params, err = p.components(depth)
	case open:
		params, err = p.aliases(depth)
	}
	if err != nil {
		return nil, invalidDefinition(name)
	}
	return &Custom{Class: marshalPackage + name + "(" + strings.Join(params, ",") + ")"}, nil
}

// components reads classes up to the closing parenthesis; commas between them may be left out.
func (p *classParser) components(depth int) (classes []string, err error) {
	for !p.take(")") {
		class, err := p.component(depth)
		if err != nil {
			return nil, err
		}
		classes = append(classes, class)
		p.take(",")
	}
	return classes, nil
}

// aliases reads x=>class up to the closing parenthesis, where x is one ASCII character, and returns them ordered by
// x. The last of equal ones counts.
func (p *classParser) aliases(depth int) ([]string, error) {
	classes := map[string]string{}
	for !p.take(")") {
		alias, rest, found := strings.Cut(strings.TrimLeft(p.rest, " \t\n"), "=>")
		if alias = strings.TrimRight(alias, " \t\n"); !found || len(alias) != 1 || alias[0] >= 0x80 {
			return nil, invalidf("Syntax error parsing '%s'", p.rest)
		}
		p.rest = rest
		class, err := p.component(depth)
		if err != nil {
			return nil, err
		}
		classes[alias] = alias + "=>" + class
		p.take(",")
	}
	var sorted []string
	for _, alias := range slices.Sorted(maps.Keys(classes)) {
		sorted = append(sorted, classes[alias])
	}
	return sorted, nil
}

// component reads one class. Its order belongs to it here.
func (p *classParser) component(depth int) (string, error) {
	reversed := IsReversedClass(p.rest)
	t, err := p.parse(depth + 1)
	switch {
	case err != nil:
		return "", err
	case reversed:
		return marshalPackage + "ReversedType(" + t.ClassName() + ")", nil
	}
	return t.ClassName(), nil
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

// parseComposite reads the text of a composite. A backslash escapes a colon. One exclamation mark at the end of a
// component is dropped. If the last component is only an exclamation mark, the value ends in 1: the upper bound of
// all values with this prefix.
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

// validateComposite checks the value of a CompositeType: each component is a length of two bytes, its bytes, and one
// byte more, which is 0 except after the last. Two bytes FFFF at the beginning mark a static column.
func validateComposite(types []Type, b []byte) error {
	if len(b) >= 2 && binary.BigEndian.Uint16(b) == math.MaxUint16 {
		b = b[2:]
	}
	for i := 0; len(b) > 0; i++ {
		if i == len(types) {
			return invalidf("Too many bytes for comparator")
		}
		if len(b) < 2 {
			return invalidf("Not enough bytes to read value size of component %d", i)
		}
		n := int(binary.BigEndian.Uint16(b))
		if b = b[2:]; len(b) < n {
			return invalidf("Not enough bytes to read value of component %d", i)
		}
		if err := types[i].Validate(b[:n]); err != nil {
			return err
		}
		if b = b[n:]; len(b) == 0 {
			return invalidf("Not enough bytes to read the end-of-component byte of component%d", i)
		}
		end := b[0]
		if b = b[1:]; end != 0 && len(b) > 0 {
			return invalidf("Invalid bytes remaining after an end-of-component at component%d", i)
		}
	}
	return nil
}
