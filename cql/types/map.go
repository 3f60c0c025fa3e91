package types

import "strings"

// Map is map<Key, Value>: entries in the order of their keys.
type Map struct {
	Key, Value Type
	Frozen     bool
}

// String is map<key, value>, inside frozen<> if it is frozen.
func (t *Map) String() string {
	return frozenName("map<"+t.Key.String()+", "+t.Value.String()+">", t.Frozen)
}

// ClassName is MapType(key,value), inside FrozenType if it is frozen.
func (t *Map) ClassName() string { return className(t, false) }

// FixedLength is 0: the number of elements differs.
func (*Map) FixedLength() int { return 0 }

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

// ParseLiteral takes nothing: the literals of maps are made of terms.
func (*Map) ParseLiteral(LiteralKind, string) ([]byte, error) { return nil, ErrKind }

// Format prints {k: v, ...}.
func (t *Map) Format(b []byte) string {
	var parts []string
	for k, v := range Entries(b) {
		parts = append(parts, formatNullable(t.Key, k)+": "+formatNullable(t.Value, v))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// ParseJSON takes an object, or a string with one in it. Its keys are read as strings.
func (t *Map) ParseJSON(v JSON) ([]byte, error) {
	o, err := jsonObject(v)
	if err != nil {
		return nil, err
	}
	keys, values := NewPacked(len(o.entries)), NewPacked(len(o.entries))
	for _, e := range o.entries {
		if e.value == nil {
			return nil, invalidf("Invalid null value in map")
		}
		key, err := t.Key.ParseJSON(JSONString(e.key))
		if err != nil {
			return nil, err
		}
		value, err := t.Value.ParseJSON(e.value)
		if err != nil {
			return nil, err
		}
		keys.Add(key)
		values.Add(value)
	}
	return keys.Map(t, values), nil
}

// AppendJSON prints an object. A key that is no string is put into one.
func (t *Map) AppendJSON(dst, b []byte) []byte {
	dst = append(dst, '{')
	separator := ""
	for k, v := range Entries(b) {
		key := appendJSONNullable(nil, t.Key, k)
		if key[0] != '"' {
			key = appendJSONString(nil, string(key))
		}
		dst = append(append(append(dst, separator...), key...), ": "...)
		dst = appendJSONNullable(dst, t.Value, v)
		separator = ", "
	}
	return append(dst, '}')
}
