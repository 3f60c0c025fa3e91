package types

import (
	"encoding/binary"
	"iter"
	"slices"
	"strings"
)

// A list or set is the number of elements in 4 bytes, then for each element its length in 4 bytes and its bytes. A
// map alternates keys and values. A null element has a negative length.

// compound is the part of types whose literals are made of terms.
type compound struct{}

// ParseLiteral takes nothing.
func (compound) ParseLiteral(LiteralKind, string) ([]byte, error) { return nil, ErrKind }

// FixedLength is 0: the number of elements varies.
func (compound) FixedLength() int { return 0 }

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

// AppendElement appends the length of an element and its bytes; nil is null.
func AppendElement(dst, e []byte) []byte {
	if e == nil {
		return append(dst, 0xFF, 0xFF, 0xFF, 0xFF)
	}
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(e))), e...)
}

// readElement reads a length and that many bytes; ok is false when b is too short.
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

// ElementStarts returns the offset of each element in a valid list or set. A slice per element would need several
// times the memory of short elements.
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

// ElementAt returns the element at an offset.
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

// validateElements checks a list, set or map, and each element with check; null elements are nil. kind goes into
// error messages. types are the types of the elements in turn.
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

// checkElement checks an element that must not be null.
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

// compareNullable orders null (nil) first.
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

// formatNullable prints an element, or null.
func formatNullable(t Type, e []byte) string {
	if e == nil {
		return "null"
	}
	return t.Format(e)
}

// joinTypes joins the results of f for each type.
func joinTypes(types []Type, separator string, f func(Type) string) string {
	parts := make([]string, len(types))
	for i, t := range types {
		parts[i] = f(t)
	}
	return strings.Join(parts, separator)
}

// appendElementsKey appends the key of a list, set or map: for each element a marker byte for null or not and the
// element, then keyEnd.
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

// decodeNullableKey decodes the result of appendNullableKey and appends the element with its length. end is true if
// it finds keyEnd instead.
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

// decodeElementsKey decodes the result of appendElementsKey.
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
