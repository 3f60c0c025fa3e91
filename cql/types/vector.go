package types

import (
	"iter"
	"strconv"
	"strings"
)

// Vector is vector<Elem, Dim>: Dim elements, none of which is null. Elements of a fixed length stand one
// behind the other; others each have their length in front, as an unsigned vint.
type Vector struct {
	Elem Type
	Dim  int
}

// String is vector<elem, n>.
func (t *Vector) String() string {
	return "vector<" + t.Elem.String() + ", " + strconv.Itoa(t.Dim) + ">"
}

// ClassName is VectorType(elem , n), with the spaces that Cassandra writes.
func (t *Vector) ClassName() string { return className(t, false) }

// FixedLength is Dim times that of the elements.
func (t *Vector) FixedLength() int { return t.Dim * t.Elem.FixedLength() }

// LossyKey is that of the elements.
func (t *Vector) LossyKey() bool { return t.Elem.LossyKey() }

// Validate checks every element and that there are as many as there should be. Each length must be as short as can be:
// Cassandra loses its place behind one that is not.
func (t *Vector) Validate(b []byte) error {
	if len(b) == 0 {
		return invalidf("Invalid empty vector value")
	}
	rest := b
	for range t.Dim {
		if len(rest) == 0 {
			return invalidf("Not enough bytes to read a %s", t)
		}
		e, r, err := t.next(rest)
		if err != nil {
			return err
		}
		if err := t.Elem.Validate(e); err != nil {
			return err
		}
		if size := vintSize(uint64(len(e))); t.Elem.FixedLength() == 0 && len(rest) != size+len(e)+len(r) {
			return invalidf("The length of an element of a %s does not take %d bytes", t, size)
		}
		rest = r
	}
	if len(rest) > 0 {
		return invalidf("Unexpected %d extraneous bytes after %s value", len(rest), t)
	}
	return nil
}

// next reads the element at the beginning of b.
func (t *Vector) next(b []byte) (e, rest []byte, err error) {
	if n := t.Elem.FixedLength(); n > 0 {
		if len(b) < n {
			return nil, nil, invalidf("Not enough bytes to read a %s", t)
		}
		return b[:n:n], b[n:], nil
	}
	size, n := CutVInt(b)
	b = b[n:]
	if n == 0 || size > uint64(len(b)) {
		return nil, nil, invalidf("Not enough bytes to read a %s", t)
	}
	return b[:size:size], b[size:], nil
}

// Compare orders by the elements in turn.
func (t *Vector) Compare(a, b []byte) int {
	if order, done := compareEmpty(a, b); done {
		return order
	}
	for range t.Dim {
		x, restA, errA := t.next(a)
		y, restB, errB := t.next(b)
		if errA != nil || errB != nil {
			return 0
		}
		if order := t.Elem.Compare(x, y); order != 0 {
			return order
		}
		a, b = restA, restB
	}
	return 0
}

// AppendKey appends the keys of the elements; their number is always the same.
func (t *Vector) AppendKey(dst, b []byte, desc bool) []byte {
	for e := range VectorElements(t, b) {
		dst = t.Elem.AppendKey(dst, e, desc)
	}
	return dst
}

// DecodeKey undoes AppendKey.
func (t *Vector) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	fixed := t.Elem.FixedLength()
	var element []byte
	for range t.Dim {
		if fixed > 0 {
			at := len(dst)
			if dst, key, err = t.Elem.DecodeKey(dst, key, desc); err == nil && len(dst)-at != fixed {
				err = errKey
			}
		} else if element, key, err = t.Elem.DecodeKey(element[:0], key, desc); err == nil {
			dst = append(AppendVInt(dst, uint64(len(element))), element...)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return notNil(dst), key, nil
}

// ParseLiteral takes nothing: the literals of vectors are made of terms.
func (*Vector) ParseLiteral(LiteralKind, string) ([]byte, error) { return nil, ErrKind }

// Format prints [a, b].
func (t *Vector) Format(b []byte) string {
	var parts []string
	for e := range VectorElements(t, b) {
		parts = append(parts, t.Elem.Format(e))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// ParseJSON takes an array of Dim elements, or a string with one in it.
func (t *Vector) ParseJSON(v JSON) ([]byte, error) {
	a, err := jsonArray(v, "a list")
	if err != nil {
		return nil, err
	}
	if len(a) != t.Dim {
		return nil, invalidf("List had incorrect size: expected %d but given %d; %s", t.Dim, len(a), a)
	}
	elems, err := a.elements(t.Elem, "list")
	if err != nil {
		return nil, err
	}
	for e := range Elements(elems.List()) {
		if len(e) == 0 && EmptyIsNull(t.Elem) {
			return nil, &ValueError{Message: "null is not supported inside vectors", Request: true}
		}
	}
	return elems.Vector(t), nil
}

// AppendJSON prints an array.
func (t *Vector) AppendJSON(dst, b []byte) []byte {
	dst = append(dst, '[')
	separator := ""
	for e := range VectorElements(t, b) {
		dst = t.Elem.AppendJSON(append(dst, separator...), e)
		separator = ", "
	}
	return append(dst, ']')
}

// NewVector serializes a vector of t.Dim elements, none of which is nil.
func NewVector(t *Vector, elems [][]byte) []byte {
	var b []byte
	for _, e := range elems {
		if t.Elem.FixedLength() == 0 {
			b = AppendVInt(b, uint64(len(e)))
		}
		b = append(b, e...)
	}
	return b
}

// VectorElements yields the elements of a valid vector.
func VectorElements(t *Vector, b []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for range t.Dim {
			e, rest, err := t.next(b)
			if err != nil || !yield(e) {
				return
			}
			b = rest
		}
	}
}
