package types

import (
	"iter"
	"math/bits"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/types/json"
)

// Vector is vector<Elem, Dim>: Dim elements, none of which is null. Elements of a fixed length are concatenated;
// others are each preceded by their length, an unsigned vint.
type Vector struct {
	compound
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

// Validate checks every element and their number. Each length must have its shortest encoding: Cassandra misreads the
// elements after a longer one.
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

// Format prints [a, b].
func (t *Vector) Format(b []byte) string {
	var parts []string
	for e := range VectorElements(t, b) {
		parts = append(parts, t.Elem.Format(e))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// ParseJSON takes an array of Dim elements, or a string with one in it.
func (t *Vector) ParseJSON(v json.Value) ([]byte, error) {
	a, err := jsonArray(v, "a list")
	if err != nil {
		return nil, err
	}
	if len(a) != t.Dim {
		return nil, invalidf("List had incorrect size: expected %d but given %d; %s", t.Dim, len(a), a)
	}
	elems, err := jsonElements(a, t.Elem, "list")
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
func (t *Vector) AppendJSON(dst, b []byte) []byte { return printParts(dst, t, b) }

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

// AppendVInt appends v as an unsigned vint: the leading one bits of the first byte count the bytes that
// follow it.
func AppendVInt(dst []byte, v uint64) []byte {
	extra := vintSize(v) - 1
	if extra == 8 {
		dst = append(dst, 0xFF)
	} else {
		dst = append(dst, byte(v>>(8*extra))|^byte(0xFF>>extra))
	}
	for i := extra - 1; i >= 0; i-- {
		dst = append(dst, byte(v>>(8*i)))
	}
	return dst
}

// vintSize is the number of bytes that AppendVInt appends: the fewest that v can have.
func vintSize(v uint64) int { return min(9, 1+(bits.Len64(v|1)-1)/7) }

// CutVInt reads the unsigned vint at the beginning of b and returns its length, which is 0 if b is too short.
func CutVInt(b []byte) (v uint64, n int) {
	if len(b) == 0 {
		return 0, 0
	}
	extra := bits.LeadingZeros8(^b[0])
	if len(b) < 1+extra {
		return 0, 0
	}
	if extra < 8 {
		v = uint64(b[0] & (0xFF >> extra))
	}
	for _, c := range b[1 : 1+extra] {
		v = v<<8 | uint64(c)
	}
	return v, 1 + extra
}

// appendSignedVInt appends v as a signed vint: small numbers of both signs are short.
func appendSignedVInt(dst []byte, v int64) []byte {
	return AppendVInt(dst, uint64(v<<1^v>>63))
}

// signedVInt reads a signed vint and returns its length, which is 0 if b is too short.
func signedVInt(b []byte) (v int64, n int) {
	u, n := CutVInt(b)
	return int64(u>>1) ^ -int64(u&1), n
}
