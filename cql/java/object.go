package java

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/types/javafloat"
)

// object is a reference to an instance of a class of the library; nil is null. Two references are == in Java if they
// are the same pointer here.
type object interface {
	class() *class
	hash(t *thread) int32
	equals(t *thread, o object) bool
	text(t *thread) *str
}

// ordered is an object with a natural order.
type ordered interface {
	object
	compare(t *thread, o object) int
}

// box is a primitive value as an object.
type box[T int8 | int16 | uint16 | int32 | int64 | float32 | float64 | bool] struct{ v T }

type (
	boxByte   = box[int8]
	boxShort  = box[int16]
	boxChar   = box[uint16]
	boxInt    = box[int32]
	boxLong   = box[int64]
	boxFloat  = box[float32]
	boxDouble = box[float64]
	boxBool   = box[bool]
)

// Boxes of small numbers are shared, as in Java, where == compares references.
var (
	smallBytes  = smallBoxes[int8](-128, 256)
	smallShorts = smallBoxes[int16](-128, 256)
	smallChars  = smallBoxes[uint16](0, 128)
	smallInts   = smallBoxes[int32](-128, 256)
	smallLongs  = smallBoxes[int64](-128, 256)
	boxTrue     = &boxBool{true}
	boxFalse    = &boxBool{false}
)

func smallBoxes[T int8 | int16 | uint16 | int32 | int64](first, n int) []box[T] {
	all := make([]box[T], n)
	for i := range all {
		all[i].v = T(first + i)
	}
	return all
}

func (t *thread) boxInt(v int32) object {
	if -128 <= v && v < 128 {
		return &smallInts[v+128]
	}
	return &boxInt{v}
}

func (t *thread) boxLong(v int64) object {
	if -128 <= v && v < 128 {
		return &smallLongs[v+128]
	}
	return &boxLong{v}
}

func (t *thread) boxShort(v int16) object {
	if -128 <= v && v < 128 {
		return &smallShorts[v+128]
	}
	return &boxShort{v}
}

func (t *thread) boxChar(v uint16) object {
	if v < 128 {
		return &smallChars[v]
	}
	return &boxChar{v}
}

func boxBoolean(v bool) object {
	if v {
		return boxTrue
	}
	return boxFalse
}

// box is an object of a primitive value of that kind; n is as in value. Boxes are not counted as memory: most are
// garbage at once, and lists, maps and arrays count more than their own bytes for each element.
func (t *thread) box(k kind, n int64) object {
	switch k {
	case booleanKind:
		return boxBoolean(n != 0)
	case byteKind:
		return &smallBytes[n+128]
	case shortKind:
		return t.boxShort(int16(n))
	case charKind:
		return t.boxChar(uint16(n))
	case intKind:
		return t.boxInt(int32(n))
	case longKind:
		return t.boxLong(n)
	case floatKind:
		return &boxFloat{float32(math.Float64frombits(uint64(n)))}
	}
	return &boxDouble{math.Float64frombits(uint64(n))}
}

// unbox is the value of a box, as in value.
func unbox(o object) int64 {
	switch o := o.(type) {
	case *boxBool:
		return fromBool(o.v)
	case *boxByte:
		return int64(o.v)
	case *boxShort:
		return int64(o.v)
	case *boxChar:
		return int64(o.v)
	case *boxInt:
		return int64(o.v)
	case *boxLong:
		return o.v
	case *boxFloat:
		return floatBits(float64(o.v))
	case *boxDouble:
		return floatBits(o.v)
	}
	throwPlain(classNullPointerException)
	return 0
}

func fromBool(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func floatBits(f float64) int64 { return int64(math.Float64bits(f)) }

func (b *box[T]) class() *class {
	switch any(b).(type) {
	case *boxBool:
		return classBoolean
	case *boxByte:
		return classByte
	case *boxShort:
		return classShort
	case *boxChar:
		return classCharacter
	case *boxInt:
		return classInteger
	case *boxLong:
		return classLong
	case *boxFloat:
		return classFloat
	}
	return classDouble
}

func (b *box[T]) hash(*thread) int32 {
	switch v := any(b.v).(type) {
	case bool:
		return hashBoolean(v)
	case int64:
		return hashLong(v)
	case float32:
		return int32(math.Float32bits(v)) // NaNs have one form here
	case float64:
		return hashLong(floatBits(v))
	case int8:
		return int32(v)
	case int16:
		return int32(v)
	case uint16:
		return int32(v)
	case int32:
		return v
	}
	return 0
}

func hashLong(v int64) int32 { return int32(v ^ int64(uint64(v)>>32)) }

func hashBoolean(v bool) int32 {
	if v {
		return 1231
	}
	return 1237
}

func (b *box[T]) equals(_ *thread, o object) bool {
	other, ok := o.(*box[T])
	if !ok {
		return false
	}
	switch v := any(b.v).(type) {
	case float32:
		return compareFloats(float64(v), float64(any(other.v).(float32))) == 0
	case float64:
		return compareFloats(v, any(other.v).(float64)) == 0
	}
	return b.v == other.v
}

func (b *box[T]) text(t *thread) *str {
	switch v := any(b.v).(type) {
	case bool:
		return t.ascii(strconv.FormatBool(v))
	case float32:
		return t.ascii(floatText(v))
	case float64:
		return t.ascii(doubleText(v))
	case uint16:
		return t.units([]uint16{v})
	}
	return t.ascii(strconv.FormatInt(unbox(b), 10))
}

func (b *box[T]) compare(_ *thread, o object) int {
	other := o.(*box[T])
	switch v := any(b.v).(type) {
	case float32:
		return compareFloats(float64(v), float64(any(other.v).(float32)))
	case float64:
		return compareFloats(v, any(other.v).(float64))
	case uint16:
		return int(v) - int(any(other.v).(uint16))
	case int8:
		return int(v) - int(any(other.v).(int8))
	case int16:
		return int(v) - int(any(other.v).(int16))
	}
	x, y := unbox(b), unbox(other)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// compareFloats is Java's order of floating numbers: -0.0 before 0.0, and NaN after all others.
func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	x, y := sortableBits(a), sortableBits(b)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func sortableBits(f float64) int64 {
	if f != f {
		return math.MaxInt64
	}
	return floatBits(f)
}

// doubleText and floatText print numbers as Java does.
func doubleText(v float64) string { return javafloat.Format(v, 64) }
func floatText(v float32) string  { return javafloat.Format(float64(v), 32) }

// identity has the methods of Object for classes that do not override them. A body cannot see addresses, so that the
// hash code, which would show one, is always the same.
type identity struct{}

func (identity) hash(*thread) int32 { return 1 }

// plainText is the result of Object.toString.
func plainText(t *thread, o object) *str {
	return t.ascii(o.class().name + "@" + strconv.FormatUint(uint64(uint32(o.hash(t))), 16))
}

// instanceOfType reports whether an object is of a class, an interface or an array type.
func instanceOfType(o object, to *typ) bool {
	if o == nil {
		return false
	}
	if a, ok := o.(*array); ok {
		return isSubtype(arrayOf(a.elem), erase(to))
	}
	return to.kind == classKind && o.class().extends(to.class)
}

// checkCast throws the exception of a cast that fails.
func checkCast(o object, to *typ) object {
	if o == nil || instanceOfType(o, to) {
		return o
	}
	from := o.class().name
	if a, ok := o.(*array); ok {
		from = arrayClassName(a.elem)
	}
	name := to.fullName()
	if to.kind == arrayKind {
		name = arrayClassName(to.elem)
	}
	throw(classClassCastException, "class "+from+" cannot be cast to class "+name+castModules(o.class(), classOf(to)))
	return nil
}

// castModules is the end of a text: the modules of the classes of a cast.
func castModules(from, to *class) string {
	a, b := moduleOf(from), moduleOf(to)
	if a == b && a == "java.base" {
		return " (" + from.name + " and " + to.name + " are in module java.base of loader 'bootstrap')"
	}
	return ""
}

// str is a string. Most are ASCII and are kept as such; u has the UTF-16 of the others.
type str struct {
	s string
	u []uint16 // nil: s
}

func (s *str) length() int {
	if s.u != nil {
		return len(s.u)
	}
	return len(s.s)
}

func (s *str) charAt(i int) uint16 {
	if s.u != nil {
		return s.u[i]
	}
	return uint16(s.s[i])
}

func (s *str) class() *class { return classString }

func (s *str) hash(t *thread) int32 {
	t.charge(s.length() / 8)
	var h int32
	for _, u := range s.u {
		h = 31*h + int32(u)
	}
	for i := range len(s.s) {
		h = 31*h + int32(s.s[i])
	}
	return h
}

func (s *str) equals(t *thread, o object) bool {
	other, ok := o.(*str)
	if !ok {
		return false
	}
	return s.same(t, other)
}

func (s *str) same(t *thread, other *str) bool {
	if s.length() != other.length() || (s.u == nil) != (other.u == nil) {
		return false
	}
	t.charge(s.length() / 8)
	return s.s == other.s && equalUnits(s.u, other.u)
}

func equalUnits(a, b []uint16) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func (s *str) text(*thread) *str { return s }

func (s *str) compare(t *thread, o object) int {
	other := o.(*str)
	n := min(s.length(), other.length())
	t.charge(n / 8)
	for i := range n {
		if a, b := s.charAt(i), other.charAt(i); a != b {
			return int(a) - int(b)
		}
	}
	return s.length() - other.length()
}

// String is the text in UTF-8; half a surrogate pair is ?, as Java encodes it.
func (s *str) String() string {
	if s.u == nil {
		return s.s
	}
	return goText(s.u)
}

// substring is the characters from i up to j, which are in the string.
func (t *thread) substring(s *str, i, j int) *str {
	if i == 0 && j == s.length() {
		return s
	}
	// It is a copy, so that a short part that is kept does not keep a long text.
	if s.u == nil {
		return t.ascii(strings.Clone(s.s[i:j]))
	}
	return t.units(slices.Clone(s.u[i:j]))
}
