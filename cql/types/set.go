package types

// Set is set<Elem>: elements in their order, each once.
type Set struct {
	Elem   Type
	Frozen bool
}

// String is set<elem>, inside frozen<> if it is frozen.
func (t *Set) String() string { return frozenName("set<"+t.Elem.String()+">", t.Frozen) }

// ClassName is SetType(elem), inside FrozenType if it is frozen.
func (t *Set) ClassName() string { return className(t, false) }

// FixedLength is 0: the number of elements differs.
func (*Set) FixedLength() int { return 0 }

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

// ParseLiteral takes nothing: the literals of sets are made of terms.
func (*Set) ParseLiteral(LiteralKind, string) ([]byte, error) { return nil, ErrKind }

// Format prints {a, b}.
func (t *Set) Format(b []byte) string { return formatElements(t.Elem, b, "{", "}") }

// ParseJSON takes an array, or a string with one in it.
func (t *Set) ParseJSON(v JSON) ([]byte, error) {
	elems, err := jsonElements(v, t.Elem, "set", "a list (representing a set)")
	if err != nil {
		return nil, err
	}
	return elems.Set(t), nil
}

// AppendJSON prints an array.
func (t *Set) AppendJSON(dst, b []byte) []byte { return appendJSONElements(dst, b, t.Elem) }
