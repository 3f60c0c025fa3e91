package types

import (
	"encoding/binary"
	"iter"
	"slices"
	"strings"
)

// A list or set is the number of elements in 4 bytes, then each element behind its length in 4 bytes. A
// map has keys and values in turn. A null element has a negative length.

// NewList serializes a list; nil elements are null.
func NewList(elems [][]byte) []byte {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, 4+4*len(elems)), uint32(len(elems)))
	for _, e := range elems {
		b = AppendElement(b, e)
	}
	return b
}

// NewSet serializes a set: its elements in order, each once.
func NewSet(t *Set, elems [][]byte) []byte {
	sorted := slices.Clone(elems)
	slices.SortStableFunc(sorted, t.Elem.Compare)
	return NewList(slices.CompactFunc(sorted, func(a, b []byte) bool { return t.Elem.Compare(a, b) == 0 }))
}

// NewMap serializes a map in the order of its keys. Of equal keys the last one's value counts.
func NewMap(t *Map, keys, values [][]byte) []byte {
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return t.Key.Compare(keys[i], keys[j]) })
	b := make([]byte, 4, 4+8*len(keys))
	n := uint32(0)
	for i, at := range order {
		if i+1 < len(order) && t.Key.Compare(keys[at], keys[order[i+1]]) == 0 {
			continue
		}
		b = AppendElement(AppendElement(b, keys[at]), values[at])
		n++
	}
	binary.BigEndian.PutUint32(b, n)
	return b
}

// AppendElement appends an element behind its length; nil is null.
func AppendElement(dst, e []byte) []byte {
	if e == nil {
		return append(dst, 0xFF, 0xFF, 0xFF, 0xFF)
	}
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(e))), e...)
}

// readElement reads an element behind its length; ok is false when there are not as many bytes.
func readElement(b []byte) (e, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := int32(binary.BigEndian.Uint32(b))
	b = b[4:]
	switch {
	case n < 0:
		return nil, b, true
	case int(n) > len(b):
		return nil, nil, false
	}
	return b[:n:n], b[n:], true
}

// Elements yields the elements of a valid list or set; nil is null.
func Elements(b []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		n := DecodeCount(b)
		for i, rest := 0, b[min(4, len(b)):]; i < n; i++ {
			e, r, ok := readElement(rest)
			if !ok || !yield(e) {
				return
			}
			rest = r
		}
	}
}

// ElementStarts are the places in a valid list or set where its elements begin: a slice for each short element would be
// several times as large as the elements.
func ElementStarts(b []byte) []uint32 {
	starts := make([]uint32, 0, DecodeCount(b))
	at := min(4, len(b))
	for range cap(starts) {
		_, rest, ok := readElement(b[at:])
		if !ok {
			break
		}
		starts = append(starts, uint32(at))
		at = len(b) - len(rest)
	}
	return starts
}

// ElementAt is the element that begins at a place.
func ElementAt(b []byte, start uint32) []byte {
	e, _, _ := readElement(b[start:])
	return e
}

// Entries yields the keys and values of a valid map.
func Entries(b []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		n := DecodeCount(b)
		for i, rest := 0, b[min(4, len(b)):]; i < n; i++ {
			key, r, ok := readElement(rest)
			if !ok {
				return
			}
			value, r, ok := readElement(r)
			if !ok || !yield(key, value) {
				return
			}
			rest = r
		}
	}
}

// DecodeCount is the number of elements of a valid list or set, or of entries of a map.
func DecodeCount(b []byte) int {
	if len(b) < 4 {
		return 0
	}
	return int(int32(binary.BigEndian.Uint32(b)))
}

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

// validateElements checks a list, set or map, which kind says, with check for its elements, which are nil if null. types are
// those of the elements in turn.
func validateElements(kind string, b []byte, check func(t Type, e []byte) error, types ...Type) error {
	if len(b) < 4 {
		return invalidf("Not enough bytes to read a %s", kind)
	}
	n := int32(binary.BigEndian.Uint32(b))
	if n < 0 {
		return invalidf("The data cannot be deserialized as a %s", kind)
	}
	rest := b[4:]
	for range n {
		for _, t := range types {
			e, r, ok := readElement(rest)
			if !ok {
				return invalidf("Not enough bytes to read a %s", kind)
			}
			if err := check(t, e); err != nil {
				return err
			}
			rest = r
		}
	}
	if len(rest) > 0 {
		return invalidf("Unexpected extraneous bytes after %s value", kind)
	}
	return nil
}

// checkElement is for elements that may not be null.
func checkElement(t Type, e []byte) error {
	if e == nil {
		return invalidf("Null value read when not allowed")
	}
	return t.Validate(e)
}

// compareElements orders two lists, sets or maps by their elements in turn, then by their number.
func compareElements(a, b []byte, types ...Type) int {
	if order, done := compareEmpty(a, b); done {
		return order
	}
	m, n := DecodeCount(a), DecodeCount(b)
	a, b = a[4:], b[4:]
	for range min(m, n) {
		for _, t := range types {
			x, restA, okA := readElement(a)
			y, restB, okB := readElement(b)
			if !okA || !okB {
				return 0
			}
			if order := compareNullable(t, x, y); order != 0 {
				return order
			}
			a, b = restA, restB
		}
	}
	return m - n
}

// compareNullable orders values of which nil, null, is the least.
func compareNullable(t Type, a, b []byte) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return t.Compare(a, b)
}

// appendElementsKey appends the key of a list, set or map: each element behind a byte that says whether
// it is null, and keyEnd.
func appendElementsKey(dst, b []byte, desc bool, types ...Type) []byte {
	m := mask(desc)
	rest := b[min(4, len(b)):]
	for range DecodeCount(b) {
		for _, t := range types {
			e, r, ok := readElement(rest)
			if !ok {
				return append(dst, keyEnd^m)
			}
			dst = appendNullableKey(dst, t, e, desc)
			rest = r
		}
	}
	return append(dst, keyEnd^m)
}

// appendNullableKey appends the key of an element that may be null.
func appendNullableKey(dst []byte, t Type, e []byte, desc bool) []byte {
	m := mask(desc)
	if e == nil {
		return append(dst, keyNull^m)
	}
	return t.AppendKey(append(dst, keyElement^m), e, desc)
}

// decodeNullableKey appends an element behind its length, as appendNullableKey encoded it. end is true
// when there is keyEnd instead.
func decodeNullableKey(dst, key []byte, t Type, desc bool) (value, rest []byte, end bool, err error) {
	if len(key) == 0 {
		return nil, nil, false, errKey
	}
	marker := key[0] ^ mask(desc)
	key = key[1:]
	switch marker {
	case keyEnd:
		return dst, key, true, nil
	case keyNull:
		return AppendElement(dst, nil), key, false, nil
	case keyElement:
	default:
		return nil, nil, false, errKey
	}
	at := len(dst)
	value, rest, err = t.DecodeKey(append(dst, 0, 0, 0, 0), key, desc)
	if err != nil {
		return nil, nil, false, err
	}
	binary.BigEndian.PutUint32(value[at:], uint32(len(value)-at-4))
	return value, rest, false, nil
}

// decodeElementsKey decodes what appendElementsKey made.
func decodeElementsKey(dst, key []byte, desc bool, types ...Type) (value, rest []byte, err error) {
	at := len(dst)
	value, rest = append(dst, 0, 0, 0, 0), key
	for n := 0; ; n++ {
		for i, t := range types {
			var end bool
			value, rest, end, err = decodeNullableKey(value, rest, t, desc)
			if err != nil || end && i > 0 {
				return nil, nil, errKey
			}
			if end {
				binary.BigEndian.PutUint32(value[at:], uint32(n))
				return value, rest, nil
			}
		}
	}
}

// formatNullable prints an element, or null.
func formatNullable(t Type, e []byte) string {
	if e == nil {
		return "null"
	}
	return t.Format(e)
}

// frozenName puts frozen<> around the name of a type that is not multi-cell.
func frozenName(name string, frozen bool) string {
	if frozen {
		return "frozen<" + name + ">"
	}
	return name
}

// joinTypes joins what f says of each type by commas.
func joinTypes(types []Type, separator string, f func(Type) string) string {
	parts := make([]string, len(types))
	for i, t := range types {
		parts[i] = f(t)
	}
	return strings.Join(parts, separator)
}
