package types

import (
	"strings"

	"github.com/cqld/cqld/cql/types/json"
)

// List is list<Elem>: elements in the order they were given.
type List struct {
	compound
	Elem   Type
	Frozen bool
}

// String is list<elem>, inside frozen<> if it is frozen.
func (t *List) String() string { return frozenName("list<"+t.Elem.String()+">", t.Frozen) }

// ClassName is ListType(elem), inside FrozenType if it is frozen.
func (t *List) ClassName() string { return className(t, false) }

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

// Format prints [a, b].
func (t *List) Format(b []byte) string { return formatElements(t.Elem, b, "[", "]") }

// formatElements prints a list or set between open and end.
func formatElements(elem Type, b []byte, open, end string) string {
	var parts []string
	for e := range Elements(b) {
		parts = append(parts, formatNullable(elem, e))
	}
	return open + strings.Join(parts, ", ") + end
}

// ParseJSON takes an array, or a string with one in it.
func (t *List) ParseJSON(v json.Value) ([]byte, error) {
	a, err := jsonArray(v, "a list")
	if err != nil {
		return nil, err
	}
	elems, err := jsonElements(a, t.Elem, "list")
	if err != nil {
		return nil, err
	}
	return elems.List(), nil
}

// AppendJSON prints an array.
func (t *List) AppendJSON(dst, b []byte) []byte { return printParts(dst, t, b) }

// Set is set<Elem>: elements in their order, each once.
type Set struct {
	compound
	Elem   Type
	Frozen bool
}

// String is set<elem>, inside frozen<> if it is frozen.
func (t *Set) String() string { return frozenName("set<"+t.Elem.String()+">", t.Frozen) }

// ClassName is SetType(elem), inside FrozenType if it is frozen.
func (t *Set) ClassName() string { return className(t, false) }

// LossyKey is that of the elements.
func (t *Set) LossyKey() bool { return t.Elem.LossyKey() }

// Validate takes elements in any order: Normalize sorts them.
func (t *Set) Validate(b []byte) error { return validateElements("set", b, checkElement, t.Elem) }

// Compare orders by the elements in turn; a set comes before one that it begins.
func (t *Set) Compare(a, b []byte) int { return compareElements(a, b, t.Elem) }

// AppendKey is described at appendElementsKey.
func (t *Set) AppendKey(dst, b []byte, desc bool) []byte {
	return appendElementsKey(dst, b, desc, t.Elem)
}

// DecodeKey undoes AppendKey.
func (t *Set) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	return decodeElementsKey(dst, key, desc, t.Elem)
}

// Format prints {a, b}.
func (t *Set) Format(b []byte) string { return formatElements(t.Elem, b, "{", "}") }

// ParseJSON takes an array, or a string with one in it.
func (t *Set) ParseJSON(v json.Value) ([]byte, error) {
	a, err := jsonArray(v, "a list (representing a set)")
	if err != nil {
		return nil, err
	}
	elems, err := jsonElements(a, t.Elem, "set")
	if err != nil {
		return nil, err
	}
	return elems.Set(t), nil
}

// AppendJSON prints an array.
func (t *Set) AppendJSON(dst, b []byte) []byte { return printParts(dst, t, b) }
