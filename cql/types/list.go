package types

import "strings"

// List is list<Elem>: elements in the order they were given.
type List struct {
	Elem   Type
	Frozen bool
}

// String is list<elem>, inside frozen<> if it is frozen.
func (t *List) String() string { return frozenName("list<"+t.Elem.String()+">", t.Frozen) }

// ClassName is ListType(elem), inside FrozenType if it is frozen.
func (t *List) ClassName() string { return className(t, false) }

// FixedLength is 0: the number of elements differs.
func (*List) FixedLength() int { return 0 }

// LossyKey is that of the elements.
func (t *List) LossyKey() bool { return t.Elem.LossyKey() }

// Validate takes no null elements; ValidateBound does.
func (t *List) Validate(b []byte) error { return validateElements("list", b, checkElement, t.Elem) }

// Compare orders by the elements in turn; a list comes before one that it begins.
func (t *List) Compare(a, b []byte) int { return compareElements(a, b, t.Elem) }

// AppendKey is described at appendElementsKey.
func (t *List) AppendKey(dst, b []byte, desc bool) []byte {
	return appendElementsKey(dst, b, desc, t.Elem)
}

// DecodeKey undoes AppendKey.
func (t *List) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	return decodeElementsKey(dst, key, desc, t.Elem)
}

// ParseLiteral takes nothing: the literals of lists are made of terms.
func (*List) ParseLiteral(LiteralKind, string) ([]byte, error) { return nil, ErrKind }

// Format prints [a, b].
func (t *List) Format(b []byte) string { return formatElements(t.Elem, b, "[", "]") }

// formatElements prints a list or set between the signs that stand around it.
func formatElements(elem Type, b []byte, open, end string) string {
	var parts []string
	for e := range Elements(b) {
		parts = append(parts, formatNullable(elem, e))
	}
	return open + strings.Join(parts, ", ") + end
}

// ParseJSON takes an array, or a string with one in it.
func (t *List) ParseJSON(v JSON) ([]byte, error) {
	elems, err := jsonElements(v, t.Elem, "list", "a list")
	if err != nil {
		return nil, err
	}
	return elems.List(), nil
}

// AppendJSON prints an array.
func (t *List) AppendJSON(dst, b []byte) []byte { return appendJSONElements(dst, b, t.Elem) }

// appendJSONElements prints a list or set.
func appendJSONElements(dst, b []byte, elem Type) []byte {
	dst = append(dst, '[')
	separator := ""
	for e := range Elements(b) {
		dst = appendJSONNullable(append(dst, separator...), elem, e)
		separator = ", "
	}
	return append(dst, ']')
}
