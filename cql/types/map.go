package types

import "strings"

// Map is map<Key, Value>: entries in the order of their keys.
type Map struct {
	Key, Value Type
	Frozen     bool
}

func (t *Map) String() string {
	return frozenName("map<"+t.Key.String()+", "+t.Value.String()+">", t.Frozen)
}

func (t *Map) ClassName() string { return className(t, false) }
func (*Map) FixedLength() int    { return 0 }

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
