package java

import "math"

// Native functions take their arguments as values, the first of which is the receiver of a method that is not static.
type nativeFunc = func(t *thread, a []value) value

// on makes a native function of a method on receivers of one Go type. It gets the arguments in parentheses.
func on[T any](f func(t *thread, self T, a []value) value) any {
	return func(t *thread, a []value) value { return f(t, a[0].r.(T), a[1:]) }
}

func number(n int64) value     { return value{n: n} }
func integer(n int) value      { return value{n: int64(int32(n))} }
func floating(f float64) value { return value{n: floatBits(f)} }
func boolean(b bool) value     { return value{n: fromBool(b)} }
func reference(o object) value { return value{r: o} }

func (v value) int() int          { return int(int32(v.n)) }
func (v value) bool() bool        { return v.n != 0 }
func (v value) floating() float64 { return math.Float64frombits(uint64(v.n)) }

// str is an argument that is a string and may not be null.
func (v value) str() *str { return to[*str](v) }

// to is an argument of one Go type that may not be null. Another one, which gets here through a raw type, is a
// ClassCastException (see failure).
func to[T any](v value) T {
	if v.r == nil {
		throwPlain(classNullPointerException)
	}
	return v.r.(T)
}

// notNull is an argument that may not be null.
func (v value) notNull() object {
	if v.r == nil {
		throwPlain(classNullPointerException)
	}
	return v.r
}

// equalObjects is Objects.equals.
func equalObjects(t *thread, a, b object) bool {
	if a == b {
		return true
	}
	t.step()
	return a != nil && b != nil && a.equals(t, b)
}

// hashOf is Objects.hashCode.
func hashOf(t *thread, o object) int32 {
	if o == nil {
		return 0
	}
	t.step()
	return o.hash(t)
}

// compareObjects is a.compareTo(b) of objects whose class the compiler may not know.
func compareObjects(t *thread, a, b object) int {
	if a == nil || b == nil {
		throwPlain(classNullPointerException)
	}
	t.step()
	c, ok := a.(ordered)
	if !ok {
		checkCast(a, classComparable.typ())
	}
	if a.class() != b.class() {
		checkCast(b, a.class().typ())
	}
	return c.compare(t, b)
}
