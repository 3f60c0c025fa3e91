package java

import (
	"math"
	"math/bits"
	"strconv"

	"github.com/cqld/cqld/cql/types/javafloat"
)

// langClasses are Object, the interfaces of java.lang, Math and System.
func langClasses() []declaration {
	return []declaration{
		{classObject, "class java.lang.Object", []native{
			{"Object()", fixed, func(t *thread, _ []value) value { t.alloc(16); return reference(&plainObject{}) }},
			{"boolean equals(Object)", asItGoes, func(t *thread, a []value) value { return boolean(a[0].r.equals(t, a[1].r)) }},
			{"int hashCode()", asItGoes, func(t *thread, a []value) value { return number(int64(a[0].r.hash(t))) }},
			{"String toString()", asItGoes, func(t *thread, a []value) value { return reference(a[0].r.text(t)) }},
		}, nil},
		{classCharSequence, "interface java.lang.CharSequence", []native{
			{"int length()", fixed, on(func(_ *thread, s sequence, _ []value) value { return integer(s.length()) })},
			{"char charAt(int)", fixed, on(charAt)},
			{"CharSequence subSequence(int, int)", linear, on(func(t *thread, s sequence, a []value) value {
				return reference(substring(t, s.text(t), a[0].int(), a[1].int()))
			})},
		}, nil},
		{classComparable, "interface java.lang.Comparable<T>", []native{
			{"int compareTo(T)", asItGoes, func(t *thread, a []value) value {
				return integer(compareObjects(t, a[0].r, a[1].r))
			}},
		}, nil},
		{classIterable, "interface java.lang.Iterable<T>", []native{
			{"Iterator<T> iterator()", fixed, on(func(t *thread, c iterable, _ []value) value {
				t.alloc(112)
				return reference(&iterator{source: c.iterate(t)})
			})},
		}, nil},
		{classClass, "final class java.lang.Class<T>", []native{
			{"String getName()", fixed, on(func(t *thread, c *classObjectOf, _ []value) value {
				return reference(t.ascii(c.of.fullName()))
			})},
			{"String getSimpleName()", fixed, on(func(t *thread, c *classObjectOf, _ []value) value {
				return reference(t.ascii(erase(c.of).String()))
			})},
		}, nil},
		{classSystem, "final class java.lang.System", []native{
			{"static long currentTimeMillis()", fixed, func(t *thread, _ []value) value { return number(t.now().UnixMilli()) }},
			{"static long nanoTime()", fixed, func(t *thread, _ []value) value { return number(t.now().UnixNano()) }},
			{"static void arraycopy(Object, int, Object, int, int)", linear, arrayCopy},
		}, nil},
		{classMath, "final class java.lang.Math", mathMethods(), mathConstants()},
		{classStrictMath, "final class java.lang.StrictMath", mathMethods(), mathConstants()},
	}
}

// sequence is a CharSequence.
type sequence interface {
	object
	length() int
	charAt(i int) uint16
}

// plainObject is new Object().
type plainObject struct {
	identity
	_ byte // two of them are not the same
}

func (*plainObject) class() *class                     { return classObject }
func (p *plainObject) equals(_ *thread, o object) bool { return o == object(p) }
func (p *plainObject) text(t *thread) *str             { return plainText(t, p) }

// classObjectOf is T.class.
type classObjectOf struct {
	identity
	of *typ
}

func (*classObjectOf) class() *class { return classClass }
func (c *classObjectOf) equals(_ *thread, o object) bool {
	other, ok := o.(*classObjectOf)
	return ok && same(c.of, other.of)
}

func (c *classObjectOf) text(t *thread) *str {
	switch {
	case c.of.primitive():
		return t.ascii(c.of.name)
	case c.of.kind == classKind && c.of.class.iface:
		return t.ascii("interface " + c.of.fullName())
	}
	return t.ascii("class " + c.of.fullName())
}

// numberClasses are the boxed types.
func numberClasses() []declaration {
	conversions := func() []native {
		return []native{
			{"byte byteValue()", linear, numberTo(byteKind)},
			{"short shortValue()", linear, numberTo(shortKind)},
			{"int intValue()", linear, numberTo(intKind)},
			{"long longValue()", linear, numberTo(longKind)},
			{"float floatValue()", linear, numberTo(floatKind)},
			{"double doubleValue()", linear, numberTo(doubleKind)},
		}
	}
	return []declaration{
		{classNumber, "abstract class java.lang.Number", conversions(), nil},
		{classBoolean, "final class java.lang.Boolean implements Comparable<Boolean>", append(boxMethods("Boolean",
			"boolean", booleanKind),
			native{"boolean booleanValue()", linear, unboxed0},
			native{"static boolean parseBoolean(String)", linear, func(t *thread, a []value) value {
				return boolean(isTrue(a[0].r))
			}},
			native{"static Boolean valueOf(String)", linear, func(t *thread, a []value) value {
				return reference(boxBoolean(isTrue(a[0].r)))
			}},
			native{"static boolean logicalAnd(boolean, boolean)", fixed, func(t *thread, a []value) value {
				return number(a[0].n & a[1].n)
			}},
			native{"static boolean logicalOr(boolean, boolean)", fixed, func(t *thread, a []value) value {
				return number(a[0].n | a[1].n)
			}},
			native{"static boolean logicalXor(boolean, boolean)", fixed, func(t *thread, a []value) value {
				return number(a[0].n ^ a[1].n)
			}},
		), []constant{{"Boolean TRUE", boxTrue}, {"Boolean FALSE", boxFalse}}},
		{classByte, "final class java.lang.Byte extends Number implements Comparable<Byte>", append(append(conversions(),
			boxMethods("Byte", "byte", byteKind)...),
			native{"static byte parseByte(String)", linear, parse(8, false)},
			native{"static Byte valueOf(String)", linear, boxResult(byteKind, parse(8, false))},
			native{"static int toUnsignedInt(byte)", fixed, func(a int64) int64 { return a & 0xff }},
			native{"static long toUnsignedLong(byte)", fixed, func(a int64) int64 { return a & 0xff }},
		), []constant{{"byte MIN_VALUE", int64(math.MinInt8)}, {"byte MAX_VALUE", int64(math.MaxInt8)}, {
			"int SIZE",
			int64(8),
		}, {"int BYTES", int64(1)}}},
		{
			classShort, "final class java.lang.Short extends Number implements Comparable<Short>",
			append(append(conversions(), boxMethods("Short", "short", shortKind)...),
				native{"static short parseShort(String)", linear, parse(16, false)},
				native{"static Short valueOf(String)", linear, boxResult(shortKind, parse(16, false))},
				native{"static int toUnsignedInt(short)", fixed, func(a int64) int64 { return a & 0xffff }},
				native{"static long toUnsignedLong(short)", fixed, func(a int64) int64 { return a & 0xffff }},
			),
			[]constant{{"short MIN_VALUE", int64(math.MinInt16)}, {"short MAX_VALUE", int64(math.MaxInt16)}, {
				"int SIZE",
				int64(16),
			}, {"int BYTES", int64(2)}},
		},
		{
			classInteger, "final class java.lang.Integer extends Number implements Comparable<Integer>",
			append(append(append(conversions(),
				boxMethods("Integer", "int", intKind)...), wholeMethods("Integer", "int", intKind, 32)...),
				native{"static int parseInt(String)", linear, parse(32, false)},
				native{"static int parseInt(String, int)", linear, parse(32, true)},
				native{"static long toUnsignedLong(int)", fixed, func(a int64) int64 { return int64(uint32(a)) }},
				native{"static String toUnsignedString(int)", fixed, func(t *thread, a []value) value {
					return reference(t.ascii(strconv.FormatUint(uint64(uint32(a[0].n)), 10)))
				}},
			),
			[]constant{{"int MIN_VALUE", int64(math.MinInt32)}, {"int MAX_VALUE", int64(math.MaxInt32)}, {
				"int SIZE",
				int64(32),
			}, {"int BYTES", int64(4)}},
		},
		{
			classLong, "final class java.lang.Long extends Number implements Comparable<Long>",
			append(append(append(conversions(),
				boxMethods("Long", "long", longKind)...), wholeMethods("Long", "long", longKind, 64)...),
				native{"static long parseLong(String)", linear, parse(64, false)},
				native{"static long parseLong(String, int)", linear, parse(64, true)},
				native{"static String toUnsignedString(long)", fixed, func(t *thread, a []value) value {
					return reference(t.ascii(strconv.FormatUint(uint64(a[0].n), 10)))
				}},
			),
			[]constant{{"long MIN_VALUE", int64(math.MinInt64)}, {"long MAX_VALUE", int64(math.MaxInt64)}, {
				"int SIZE",
				int64(64),
			}, {"int BYTES", int64(8)}},
		},
		{
			classFloat, "final class java.lang.Float extends Number implements Comparable<Float>",
			append(append(append(conversions(),
				boxMethods("Float", "float", floatKind)...), floatMethods("Float", "float")...),
				native{"Float(double)", fixed, func(t *thread, a []value) value {
					return reference(t.box(floatKind, floatBits(float64(float32(a[0].floating())))))
				}},
				native{"static float parseFloat(String)", linear, parseFloat(32)},
				native{"static Float valueOf(String)", linear, boxResult(floatKind, parseFloat(32))},
				native{"static int floatToIntBits(float)", fixed, func(t *thread, a []value) value {
					return number(int64(int32(math.Float32bits(float32(a[0].floating())))))
				}},
				native{"static int floatToRawIntBits(float)", fixed, func(t *thread, a []value) value {
					return number(int64(int32(math.Float32bits(float32(a[0].floating())))))
				}},
				native{"static float intBitsToFloat(int)", fixed, func(t *thread, a []value) value {
					return floating(float64(math.Float32frombits(uint32(a[0].n))))
				}},
			),
			[]constant{
				{"float MAX_VALUE", float64(math.MaxFloat32)},
				{"float MIN_VALUE", float64(math.SmallestNonzeroFloat32)},
				{"float NaN", math.NaN()},
				{"float POSITIVE_INFINITY", math.Inf(1)},
				{"float NEGATIVE_INFINITY", math.Inf(-1)},
				{"int SIZE", int64(32)},
				{"int BYTES", int64(4)},
			},
		},
		{
			classDouble, "final class java.lang.Double extends Number implements Comparable<Double>",
			append(append(append(conversions(),
				boxMethods("Double", "double", doubleKind)...), floatMethods("Double", "double")...),
				native{"static double parseDouble(String)", linear, parseFloat(64)},
				native{"static Double valueOf(String)", linear, boxResult(doubleKind, parseFloat(64))},
				native{"static long doubleToLongBits(double)", fixed, func(t *thread, a []value) value {
					return number(canonicalBits(a[0].n))
				}},
				native{"static long doubleToRawLongBits(double)", fixed, func(t *thread, a []value) value {
					return number(a[0].n)
				}},
				native{"static double longBitsToDouble(long)", fixed, func(t *thread, a []value) value { return number(a[0].n) }},
			),
			[]constant{
				{"double MAX_VALUE", math.MaxFloat64},
				{"double MIN_VALUE", math.SmallestNonzeroFloat64},
				{"double NaN", math.NaN()},
				{"double POSITIVE_INFINITY", math.Inf(1)},
				{"double NEGATIVE_INFINITY", math.Inf(-1)},
				{"int SIZE", int64(64)},
				{"int BYTES", int64(8)},
			},
		},
		characterClass(),
	}
}

// canonicalBits are the bits of a double, with one form of NaN.
func canonicalBits(bits int64) int64 {
	if f := math.Float64frombits(uint64(bits)); f != f {
		return 0x7ff8000000000000
	}
	return bits
}

// unboxed0 is intValue of an Integer and the like.
func unboxed0(_ *thread, a []value) value { return number(unbox(a[0].r)) }

// numberObject is a Number that is not a box.
type numberObject interface {
	object
	int64(t *thread) int64
	float64(t *thread) float64
}

// numberTo converts a Number to a primitive type.
func numberTo(k kind) nativeFunc {
	return func(t *thread, a []value) value {
		switch o := a[0].r.(type) {
		case *boxFloat:
			return number(fromFloat(float64(o.v), k))
		case *boxDouble:
			return number(fromFloat(o.v, k))
		case numberObject:
			if k == floatKind || k == doubleKind {
				return number(fromFloat(o.float64(t), k))
			}
			return number(fromWhole(o.int64(t), k))
		}
		return number(fromWhole(unbox(a[0].r), k))
	}
}

// fromWhole converts a whole number, as casts do. The result is as in value.
func fromWhole(n int64, k kind) int64 {
	switch k {
	case byteKind:
		return int64(int8(n))
	case shortKind:
		return int64(int16(n))
	case charKind:
		return int64(uint16(n))
	case intKind:
		return int64(int32(n))
	case floatKind:
		return floatBits(float64(float32(n)))
	case doubleKind:
		return floatBits(float64(n))
	}
	return n
}

// fromFloat converts a floating number, as casts do. The result is as in value.
func fromFloat(f float64, k kind) int64 {
	switch k {
	case longKind:
		return toInt64(f)
	case floatKind:
		return floatBits(float64(float32(f)))
	case doubleKind:
		return floatBits(f)
	}
	return fromWhole(int64(toInt32(f)), k)
}

// boxMethods are the methods that all boxed types have.
func boxMethods(class, primitive string, k kind) []native {
	box := func(t *thread, a []value) value { return reference(t.box(k, a[0].n)) }
	text := func(t *thread, a []value) value { return reference(t.box(k, a[0].n).text(t)) }
	return []native{
		{class + "(" + primitive + ")", fixed, newBox(k)},
		{"static " + class + " valueOf(" + primitive + ")", fixed, box},
		{"static String toString(" + primitive + ")", fixed, text},
		{"static int hashCode(" + primitive + ")", fixed, func(t *thread, a []value) value {
			return number(int64(t.box(k, a[0].n).hash(t)))
		}},
		{"static int compare(" + primitive + ", " + primitive + ")", fixed, func(t *thread, a []value) value {
			return integer(t.box(k, a[0].n).(ordered).compare(t, t.box(k, a[1].n)))
		}},
	}
}

// newBox is a constructor, whose box is not shared.
func newBox(k kind) nativeFunc {
	return func(t *thread, a []value) value {
		switch k {
		case booleanKind:
			return reference(&boxBool{a[0].bool()})
		case byteKind:
			return reference(&boxByte{int8(a[0].n)})
		case shortKind:
			return reference(&boxShort{int16(a[0].n)})
		case charKind:
			return reference(&boxChar{uint16(a[0].n)})
		case intKind:
			return reference(&boxInt{int32(a[0].n)})
		case longKind:
			return reference(&boxLong{a[0].n})
		}
		return reference(t.box(k, a[0].n))
	}
}

func boxResult(k kind, f nativeFunc) nativeFunc {
	return func(t *thread, a []value) value { return reference(t.box(k, f(t, a).n)) }
}

func isTrue(o object) bool {
	s, ok := o.(*str)
	if !ok || s.length() != 4 {
		return false
	}
	for i := range 4 {
		if s.charAt(i)|0x20 != uint16("true"[i]) {
			return false
		}
	}
	return true
}

// wholeMethods are further methods of Integer and Long.
func wholeMethods(class, p string, k kind, size int) []native {
	unsigned := func(n int64) uint64 {
		if size == 32 {
			return uint64(uint32(n))
		}
		return uint64(n)
	}
	trim := func(n int64) int64 {
		if size == 32 {
			return int64(int32(n))
		}
		return n
	}
	text := func(base int) nativeFunc {
		return func(t *thread, a []value) value {
			return reference(t.ascii(strconv.FormatUint(unsigned(a[0].n), base)))
		}
	}
	return []native{
		{"static " + class + " valueOf(String)", linear, boxResult(k, parse(size, false))},
		{"static " + class + " valueOf(String, int)", linear, boxResult(k, parse(size, true))},
		{"static String toString(" + p + ", int)", fixed, func(t *thread, a []value) value {
			base := a[1].int()
			if base < 2 || base > 36 {
				base = 10
			}
			return reference(t.ascii(strconv.FormatInt(a[0].n, base)))
		}},
		{"static String toBinaryString(" + p + ")", fixed, text(2)},
		{"static String toOctalString(" + p + ")", fixed, text(8)},
		{"static String toHexString(" + p + ")", fixed, text(16)},
		{"static int signum(" + p + ")", fixed, func(a int64) int64 { return a>>63 | int64(uint64(-a)>>63) }},
		{"static " + p + " sum(" + p + ", " + p + ")", fixed, func(a, b int64) int64 { return trim(a + b) }},
		{"static " + p + " max(" + p + ", " + p + ")", fixed, func(a, b int64) int64 { return max(a, b) }},
		{"static " + p + " min(" + p + ", " + p + ")", fixed, func(a, b int64) int64 { return min(a, b) }},
		{"static int bitCount(" + p + ")", fixed, func(a int64) int64 { return int64(bits.OnesCount64(unsigned(a))) }},
		{"static int numberOfLeadingZeros(" + p + ")", fixed, func(a int64) int64 {
			return int64(bits.LeadingZeros64(unsigned(a)) - 64 + size)
		}},
		{"static int numberOfTrailingZeros(" + p + ")", fixed, func(a int64) int64 {
			return int64(min(size, bits.TrailingZeros64(unsigned(a))))
		}},
		{"static " + p + " highestOneBit(" + p + ")", fixed, func(a int64) int64 {
			if u := unsigned(a); u != 0 {
				return trim(int64(uint64(1) << (bits.Len64(u) - 1)))
			}
			return 0
		}},
		{"static " + p + " lowestOneBit(" + p + ")", fixed, func(a int64) int64 { return trim(a & -a) }},
		{"static " + p + " reverse(" + p + ")", fixed, func(a int64) int64 {
			return trim(int64(bits.Reverse64(unsigned(a)) >> (64 - size)))
		}},
		{"static " + p + " reverseBytes(" + p + ")", fixed, func(a int64) int64 {
			return trim(int64(bits.ReverseBytes64(unsigned(a)) >> (64 - size)))
		}},
		{"static " + p + " rotateLeft(" + p + ", int)", fixed, func(a, n int64) int64 { return rotate(a, n, size, trim) }},
		{"static " + p + " rotateRight(" + p + ", int)", fixed, func(a, n int64) int64 { return rotate(a, -n, size, trim) }},
		{"static int compareUnsigned(" + p + ", " + p + ")", fixed, func(a, b int64) int64 {
			switch x, y := unsigned(a), unsigned(b); {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		}},
		{"static " + p + " divideUnsigned(" + p + ", " + p + ")", fixed, func(a, b int64) int64 {
			if b == 0 {
				divideByZero()
			}
			return trim(int64(unsigned(a) / unsigned(b)))
		}},
		{"static " + p + " remainderUnsigned(" + p + ", " + p + ")", fixed, func(a, b int64) int64 {
			if b == 0 {
				divideByZero()
			}
			return trim(int64(unsigned(a) % unsigned(b)))
		}},
	}
}

func rotate(a, n int64, size int, trim func(int64) int64) int64 {
	if size == 32 {
		return trim(int64(bits.RotateLeft32(uint32(a), int(n))))
	}
	return int64(bits.RotateLeft64(uint64(a), int(n)))
}

// floatMethods are further methods of Float and Double.
func floatMethods(class, p string) []native {
	is := func(f func(float64) bool) nativeFunc {
		return func(_ *thread, a []value) value {
			if a[0].r != nil {
				return boolean(f(math.Float64frombits(uint64(unbox(a[0].r)))))
			}
			return boolean(f(a[0].floating()))
		}
	}
	nan := is(func(f float64) bool { return f != f })
	infinite := is(func(f float64) bool { return math.IsInf(f, 0) })
	return []native{
		{"boolean isNaN()", fixed, nan},
		{"static boolean isNaN(" + p + ")", fixed, nan},
		{"boolean isInfinite()", fixed, infinite},
		{"static boolean isInfinite(" + p + ")", fixed, infinite},
		{"static boolean isFinite(" + p + ")", fixed, is(func(f float64) bool { return !math.IsInf(f, 0) && f == f })},
		{"static " + p + " sum(" + p + ", " + p + ")", fixed, func(a, b float64) float64 {
			if p == "float" {
				return float64(float32(a + b))
			}
			return a + b
		}},
		{"static " + p + " max(" + p + ", " + p + ")", fixed, func(a, b float64) float64 { return max(a, b) }},
		{"static " + p + " min(" + p + ", " + p + ")", fixed, func(a, b float64) float64 { return min(a, b) }},
	}
}

// parse is parseInt and its siblings.
func parse(size int, withRadix bool) nativeFunc {
	return func(t *thread, a []value) value {
		radix := 10
		if withRadix {
			radix = a[1].int()
		}
		if a[0].r == nil {
			throw(classNumberFormat, "Cannot parse null string")
		}
		s := a[0].str()
		if radix < 2 || radix > 36 {
			throw(classNumberFormat, "radix "+strconv.Itoa(radix)+radixRange(radix))
		}
		text := s.String()
		digits := text
		if size < 32 { // Java parses an int first
			size := size
			n, err := strconv.ParseInt(digits, radix, 32)
			if err != nil || s.u != nil {
				notANumber(text, radix)
			}
			if n>>(size-1) != n>>63 {
				throw(classNumberFormat, "Value out of range. Value:\""+text+"\" Radix:"+strconv.Itoa(radix))
			}
			return number(n)
		}
		n, err := strconv.ParseInt(digits, radix, size)
		if err != nil || s.u != nil {
			notANumber(text, radix)
		}
		return number(n)
	}
}

func radixRange(radix int) string {
	if radix < 2 {
		return " less than Character.MIN_RADIX"
	}
	return " greater than Character.MAX_RADIX"
}

func notANumber(text string, radix int) {
	message := "For input string: \"" + text + "\""
	if radix != 10 {
		message += " under radix " + strconv.Itoa(radix)
	}
	throw(classNumberFormat, message)
}

// parseFloat is parseFloat and parseDouble.
func parseFloat(size int) nativeFunc {
	return func(t *thread, a []value) value {
		s := trimmed(a[0].str())
		checkTextOfNumber(t, s)
		if s == "" {
			throw(classNumberFormat, "empty String")
		}
		f, ok := javafloat.ParseJava(s)
		if !ok {
			throw(classNumberFormat, "For input string: \""+s+"\"")
		}
		if size == 32 {
			if exact, err := strconv.ParseFloat(s, 32); err == nil {
				f = exact
			}
			f = float64(float32(f))
		}
		return floating(f)
	}
}
