package types

import (
	"encoding/binary"
	"math"
	"strings"
)

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

// validateComposite checks the value of a CompositeType: each component is a length of two bytes, its bytes, and one
// byte more, which is 0 except behind the last. Two bytes FFFF at the beginning mark a static column.
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
