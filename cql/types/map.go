package types

import (
	"strings"

	"github.com/cqld/cqld/cql/types/json"
)

// Map is map<Key, Value>: entries in the order of their keys.
type Map struct {
	compound
	Key, Value Type
	Frozen     bool
}

// String is map<key, value>, inside frozen<> if it is frozen.
func (t *Map) String() string {
	return frozenName("map<"+t.Key.String()+", "+t.Value.String()+">", t.Frozen)
}

// ClassName is MapType(key,value), inside FrozenType if it is frozen.
func (t *Map) ClassName() string { return className(t, false) }

// LossyKey is true if keys or values may be lossy.
func (t *Map) LossyKey() bool { return t.Key.LossyKey() || t.Value.LossyKey() }

// Validate takes entries in any order: Normalize sorts them.
func (t *Map) Validate(b []byte) error {
	return validateElements("map", b, checkElement, t.Key, t.Value)
}

// Compare orders by keys and values in turn; a map comes before one that it begins.
func (t *Map) Compare(a, b []byte) int { return compareElements(a, b, t.Key, t.Value) }

// AppendKey is described at appendElementsKey.
func (t *Map) AppendKey(dst, b []byte, desc bool) []byte {
	return appendElementsKey(dst, b, desc, t.Key, t.Value)
}

// DecodeKey undoes AppendKey.
func (t *Map) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	return decodeElementsKey(dst, key, desc, t.Key, t.Value)
}

// Format prints {k: v, ...}.
func (t *Map) Format(b []byte) string {
	var parts []string
	for k, v := range Entries(b) {
		parts = append(parts, formatNullable(t.Key, k)+": "+formatNullable(t.Value, v))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// ParseJSON takes an object, or a string with one in it. Its keys are read as strings.
func (t *Map) ParseJSON(v json.Value) ([]byte, error) {
	o, err := jsonObject(v)
	if err != nil {
		return nil, err
	}
	keys, values := NewPacked(0), NewPacked(0)
	for k, v := range o.All() {
		if v == nil {
			return nil, invalidf("Invalid null value in map")
		}
		key, err := t.Key.ParseJSON(json.String(k))
		if err != nil {
			return nil, err
		}
		value, err := t.Value.ParseJSON(v)
		if err != nil {
			return nil, err
		}
		keys.Add(key)
		values.Add(value)
	}
	return keys.Map(t, values), nil
}

// AppendJSON prints an object; its keys are strings.
func (t *Map) AppendJSON(dst, b []byte) []byte { return printParts(dst, t, b) }
