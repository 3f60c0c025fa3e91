package types

import (
	"encoding/binary"
	"unicode/utf8"
)

// Normalize returns the form in which a valid value b is stored: sets and maps sorted without duplicates, nulls in
// lists with length -1. It normalizes values inside collections, but not inside tuples, user types, or vectors
// outside collections. It may return b.
func Normalize(t Type, b []byte) []byte {
	if b == nil {
		return nil
	}
	switch t := t.(type) {
	case *List:
		return normalizeList(t.Elem, b, false)
	case *Set:
		if isSetStored(t.Elem, b) {
			return b
		}
		elems := NewPacked(DecodeCount(b))
		for e := range Elements(b) {
			elems.Add(normalizeElement(t.Elem, e))
		}
		return elems.Set(t)
	case *Map:
		if isMapStored(t, b) {
			return b
		}
		n := DecodeCount(b)
		keys, values := NewPacked(n), NewPacked(n)
		for k, v := range Entries(b) {
			keys.Add(normalizeElement(t.Key, k))
			values.Add(normalizeElement(t.Value, v))
		}
		return keys.Map(t, values)
	}
	return b
}

// normalizeElement is Normalize for an element of a collection, where Cassandra decodes vectors too.
func normalizeElement(t Type, e []byte) []byte {
	v, ok := t.(*Vector)
	if !ok || len(e) == 0 || !isCollection(v) {
		return Normalize(t, e)
	}
	elems := make([][]byte, 0, v.Dim)
	for e := range VectorElements(v, e) {
		elems = append(elems, normalizeElement(v.Elem, e))
	}
	return NewVector(v, elems)
}

// normalizeList is Normalize for a list; empty elements become null if emptyIsNull.
func normalizeList(elem Type, b []byte, emptyIsNull bool) []byte {
	if isListStored(elem, b, emptyIsNull) {
		return b
	}
	list := append(make([]byte, 0, len(b)), b[:4]...)
	for e := range Elements(b) {
		if e = normalizeElement(elem, e); emptyIsNull && len(e) == 0 {
			e = nil
		}
		list = AppendElement(list, e)
	}
	return list
}

// isListStored reports whether a list is known to be normalized.
func isListStored(elem Type, b []byte, emptyIsNull bool) bool {
	if isCollection(elem) {
		return false
	}
	for rest := b[4:]; len(rest) > 0; {
		n := int32(binary.BigEndian.Uint32(rest))
		if n < -1 || n == 0 && emptyIsNull {
			return false
		}
		rest = rest[4+max(0, n):]
	}
	return true
}

// isSetStored reports whether a set is known to be normalized.
func isSetStored(elem Type, b []byte) bool {
	if isCollection(elem) {
		return false
	}
	var last []byte
	for e := range Elements(b) {
		if last != nil && elem.Compare(last, e) >= 0 {
			return false
		}
		last = e
	}
	return true
}

// isMapStored reports whether a map is known to be normalized.
func isMapStored(t *Map, b []byte) bool {
	if isCollection(t.Key) || isCollection(t.Value) {
		return false
	}
	var last []byte
	for k := range Entries(b) {
		if last != nil && t.Key.Compare(last, k) >= 0 {
			return false
		}
		last = k
	}
	return true
}

// isCollection reports whether values of a type may need normalizing as elements of a collection.
func isCollection(t Type) bool {
	switch t := t.(type) {
	case *List, *Set, *Map:
		return true
	case *Vector:
		return isCollection(t.Elem)
	}
	return false
}

// NormalizeBound is Normalize for the value of a bind marker. An empty element of a bound list becomes null if
// EmptyIsNull.
func NormalizeBound(t Type, b []byte) []byte {
	list, ok := t.(*List)
	if !ok || b == nil {
		return Normalize(t, b)
	}
	return normalizeList(list.Elem, b, EmptyIsNull(list.Elem))
}

// ValidateBound is Validate for the value of a bind marker. A bound list may have null elements: it can be stored,
// but not as a partition key. Texts inside a bound list, set or map must be valid UTF-8; a bound text is checked less
// strictly.
func ValidateBound(t Type, b []byte) error {
	switch t := t.(type) {
	case *List:
		return validateElements("list", b, checkNullable, t.Elem)
	case *Set:
		return validateElements("set", b, checkBoundElement, t.Elem)
	case *Map:
		return validateElements("map", b, checkBoundElement, t.Key, t.Value)
	}
	return t.Validate(b)
}

// checkNullable is checkBoundElement, but accepts null.
func checkNullable(t Type, e []byte) error {
	if e == nil {
		return nil
	}
	return checkBoundElement(t, e)
}

// checkBoundElement checks an element of a bound collection, which Cassandra decodes.
func checkBoundElement(t Type, e []byte) error {
	if err := checkElement(t, e); err != nil {
		return err
	}
	return checkTexts(t, e)
}

// checkTexts refuses a text that is not valid UTF-8 inside a value, but not inside tuples and user types.
func checkTexts(t Type, b []byte) error {
	switch t := t.(type) {
	case *textType:
		if !utf8.Valid(b) {
			return invalidf("Invalid UTF-8 bytes %x", b)
		}
	case *List:
		return validateElements("list", b, checkTexts, t.Elem)
	case *Set:
		return validateElements("set", b, checkTexts, t.Elem)
	case *Map:
		return validateElements("map", b, checkTexts, t.Key, t.Value)
	case *Vector:
		for e := range VectorElements(t, b) {
			if err := checkTexts(t.Elem, e); err != nil {
				return err
			}
		}
	}
	return nil
}
