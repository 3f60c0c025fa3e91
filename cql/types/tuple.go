package types

import (
	"bytes"
	"strings"

	"github.com/cqld/cqld/cql/types/javafloat"
	"github.com/cqld/cqld/cql/types/json"
)

// Tuple is tuple<Elems...>, which is always frozen. A value is the length and bytes of each element; missing elements
// at the end are null. As in Cassandra a literal can be an invalid tuple: these come after valid ones, ordered by
// their bytes.
type Tuple struct{ Elems []Type }

// String is frozen<tuple<a, b>>: no tuple is without frozen.
func (t *Tuple) String() string {
	return "frozen<tuple<" + joinTypes(t.Elems, ", ", Type.String) + ">>"
}

// ClassName is TupleType(a,b), never inside FrozenType.
func (t *Tuple) ClassName() string { return className(t, false) }

// FixedLength is 0: fields may be missing.
func (*Tuple) FixedLength() int { return 0 }

// LossyKey is true: a missing element equals a null one.
func (*Tuple) LossyKey() bool { return true }

// Validate takes fewer elements than there are, but not more.
func (t *Tuple) Validate(b []byte) error {
	for i, elem := range t.Elems {
		if len(b) == 0 {
			return nil
		}
		if len(b) < 4 {
			return invalidf("Not enough bytes to read size of %dth component", i)
		}
		e, rest, ok := readElement(b)
		if !ok {
			return invalidf("Not enough bytes to read %dth component", i)
		}
		if e != nil {
			if err := elem.Validate(e); err != nil {
				return err
			}
		}
		b = rest
	}
	if len(b) > 0 {
		return invalidf("Invalid remaining data after end of tuple value")
	}
	return nil
}

// Compare orders by the elements in turn, null first.
func (t *Tuple) Compare(a, b []byte) int {
	if order, done := compareEmpty(a, b); done {
		return order
	}
	switch badA, badB := t.Validate(a) != nil, t.Validate(b) != nil; {
	case badA && badB:
		return bytes.Compare(a, b)
	case badA:
		return 1
	case badB:
		return -1
	}
	for _, elem := range t.Elems {
		x, restA, _ := readElement(a)
		y, restB, _ := readElement(b)
		if order := compareNullable(elem, x, y); order != 0 {
			return order
		}
		a, b = restA, restB
	}
	return 0
}

// AppendKey appends keyEmpty for the empty value, keyInvalid and the bytes for an invalid one, else keyValue, the
// elements up to the last non-null one as in a list, and keyEnd: keys stay valid when the type gets another element.
func (t *Tuple) AppendKey(dst, b []byte, desc bool) []byte {
	m := mask(desc)
	if len(b) == 0 {
		return append(dst, keyEmpty^m)
	}
	if t.Validate(b) != nil {
		return appendBytesKey(append(dst, keyInvalid^m), b, desc)
	}
	dst = append(dst, keyValue^m)
	end := len(dst)
	for _, elem := range t.Elems {
		e, rest, ok := readElement(b)
		if !ok {
			break
		}
		dst = appendNullableKey(dst, elem, e, desc)
		if e != nil {
			end = len(dst)
		}
		b = rest
	}
	return append(dst[:end], keyEnd^m)
}

// DecodeKey returns the value with all its elements, null where they were missing.
func (t *Tuple) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	m := mask(desc)
	switch {
	case len(key) > 0 && key[0]^m == keyEmpty:
		return notNil(dst), key[1:], nil
	case len(key) > 0 && key[0]^m == keyInvalid:
		return decodeBytesKey(dst, key[1:], desc)
	case len(key) == 0 || key[0]^m != keyValue:
		return nil, nil, errKey
	}
	value, rest = dst, key[1:]
	for i, elem := range t.Elems {
		var end bool
		value, rest, end, err = decodeNullableKey(value, rest, elem, desc)
		if err != nil {
			return nil, nil, err
		}
		if end {
			for range t.Elems[i:] {
				value = AppendElement(value, nil)
			}
			return value, rest, nil
		}
	}
	if len(rest) == 0 || rest[0]^m != keyEnd {
		return nil, nil, errKey
	}
	return value, rest[1:], nil
}

// ParseLiteral takes every kind of literal and reads its text as elements separated by colons. @ is null; a backslash
// escapes a colon or @. A hex literal is the serialized value, and the empty text the empty one.
func (t *Tuple) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	if kind == HexLiteral {
		return parseHex(text)
	}
	if text == "" {
		return []byte{}, nil
	}
	parts := splitUnescaped(text)
	if len(parts) > len(t.Elems) {
		return nil, invalidf("Invalid tuple literal: too many elements. Type %s expects %d but got %d",
			t, len(t.Elems), len(parts))
	}
	fields := make([][]byte, len(parts))
	for i, part := range parts {
		if part == "@" {
			continue
		}
		part = strings.ReplaceAll(strings.ReplaceAll(part, `\:`, ":"), `\@`, "@")
		var err error
		if fields[i], err = fromString(t.Elems[i], part); err != nil {
			return nil, err
		}
	}
	return NewTuple(fields), nil
}

// splitUnescaped splits text at colons that have no backslash before them.
func splitUnescaped(text string) []string {
	var parts []string
	start := 0
	for i := range len(text) {
		if text[i] == ':' && (i == 0 || text[i-1] != '\\') {
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}

// Format prints (a, b) without the elements that are missing, or the bytes if they are not valid.
func (t *Tuple) Format(b []byte) string {
	if t.Validate(b) != nil {
		return Blob.Format(b)
	}
	var parts []string
	for _, elem := range t.Elems {
		e, rest, ok := readElement(b)
		if !ok {
			break
		}
		parts = append(parts, formatNullable(elem, e))
		b = rest
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// ParseJSON takes an array of as many values as there are elements, or a string with one in it.
func (t *Tuple) ParseJSON(v json.Value) ([]byte, error) {
	a, err := jsonArray(v, "a list representation of a tuple")
	switch {
	case err != nil:
		return nil, err
	case len(a) > len(t.Elems):
		return nil, invalidf("Tuple contains extra items (expected %d): %s", len(t.Elems), a)
	case len(a) < len(t.Elems):
		return nil, invalidf("Tuple is missing items (expected %d): %s", len(t.Elems), a)
	}
	fields := make([][]byte, len(a))
	for i, e := range a {
		if e == nil {
			continue
		}
		if fields[i], err = t.Elems[i].ParseJSON(e); err != nil {
			return nil, err
		}
	}
	return NewTuple(fields), nil
}

// AppendJSON prints an array.
func (t *Tuple) AppendJSON(dst, b []byte) []byte { return printParts(dst, t, b) }

// NewTuple serializes a tuple or a value of a user type; nil fields are null.
func NewTuple(fields [][]byte) []byte {
	b := make([]byte, 0, 8*len(fields))
	for _, f := range fields {
		b = AppendElement(b, f)
	}
	return b
}

// TupleFields returns the n fields of a valid tuple or value of a user type; missing ones are nil.
func TupleFields(b []byte, n int) [][]byte {
	fields := make([][]byte, n)
	for i := range fields {
		var ok bool
		if fields[i], b, ok = readElement(b); !ok {
			break
		}
	}
	return fields
}

// TupleLen is the number of components in the bytes of a tuple. Incomplete bytes at the end count as one.
func TupleLen(b []byte) int {
	n := 0
	for ok := true; ok && len(b) > 0; n++ {
		_, b, ok = readElement(b)
	}
	return n
}

// kindOf is the kind of literal as which fromString parses a text.
func kindOf(t Type) LiteralKind {
	switch t {
	case TinyInt, SmallInt, Int, BigInt, Counter, VarInt:
		return IntegerLiteral
	case Float, Double, Decimal:
		return FloatLiteral
	case Boolean:
		return BooleanLiteral
	case Blob:
		return HexLiteral
	case UUID, TimeUUID:
		return UUIDLiteral
	case Duration:
		return DurationLiteral
	}
	return StringLiteral
}

// fromString reads a text as a value of t, whatever kind of literal it was. Collections and vectors are read as
// hexadecimal digits of their bytes, which are not checked.
func fromString(t Type, text string) ([]byte, error) {
	if text == "" {
		switch t {
		case Date, Time:
		case Boolean:
			return []byte{0}, nil
		default:
			return []byte{}, nil
		}
	}
	switch t := t.(type) {
	case *List, *Set, *Map, *Vector, *blobType:
		return parseHexDigits(text)
	case *floatType:
		number, ok := javafloat.Literal(text)
		if !ok {
			return nil, invalidf("Unable to make %s from '%s'", t, text)
		}
		return t.ParseLiteral(FloatLiteral, number)
	}
	if t == Boolean && !strings.EqualFold(text, "true") && !strings.EqualFold(text, "false") {
		return nil, invalidf("Unable to make boolean from '%s'", text)
	}
	b, err := t.ParseLiteral(kindOf(t), text)
	if err == ErrKind {
		return nil, invalidf("Unable to make %s from '%s'", t, text)
	}
	return b, err
}
