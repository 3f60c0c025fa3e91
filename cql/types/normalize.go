package types

import "encoding/binary"

// Normalize returns what is stored of a valid value b: sets and maps in order and without duplicates,
// and nulls in lists of one form. That goes for what is inside collections too, but not for what is inside tuples and
// user types, or inside a vector that is not itself in a collection. It may return b.
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

// normalizeElement is Normalize for a value in a collection: Cassandra makes a Java object of it, also of a vector.
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

// normalizeList is Normalize for a list; empty elements are null if that is said.
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

// isListStored reports whether a list is known to be as it is stored.
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

// isSetStored reports whether a set is known to be as it is stored.
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

// isMapStored reports whether a map is known to be as it is stored.
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

// isCollection reports whether values of a type may be stored otherwise than they are given, in a collection at least.
func isCollection(t Type) bool {
	switch t := t.(type) {
	case *List, *Set, *Map:
		return true
	case *Vector:
		return isCollection(t.Elem)
	}
	return false
}

// NormalizeBound is Normalize for the value of a bind marker. In a list that is bound itself an empty element of a type
// that gives it no meaning is null.
func NormalizeBound(t Type, b []byte) []byte {
	list, ok := t.(*List)
	if !ok || b == nil {
		return Normalize(t, b)
	}
	return normalizeList(list.Elem, b, EmptyIsNull(list.Elem))
}
