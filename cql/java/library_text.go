package java

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

func charAt(_ *thread, s sequence, a []value) value {
	i := a[0].int()
	if i < 0 || i >= s.length() {
		if text, ok := s.(*str); ok && text.isLatin1() {
			throw(classStringIndex, "String index out of range: "+strconv.Itoa(i))
		}
		throwIndex(i, s.length())
	}
	return number(int64(s.charAt(i)))
}

func throwIndex(i, length int) {
	throw(classStringIndex, "index "+strconv.Itoa(i)+", length "+strconv.Itoa(length))
}

// isLatin1 reports whether Java has a byte for each character.
func (s *str) isLatin1() bool {
	return !slices.ContainsFunc(s.u, func(c uint16) bool { return c > 0xff })
}

func checkRange(begin, end, length int) {
	if begin < 0 || begin > end || end > length {
		throw(classStringIndex, "begin "+strconv.Itoa(begin)+", end "+strconv.Itoa(end)+", length "+strconv.Itoa(length))
	}
}

func substring(t *thread, s *str, begin, end int) *str {
	checkRange(begin, end, s.length())
	return t.substring(s, begin, end)
}

// indexOf finds part in s at or after from, or returns -1.
func indexOf(t *thread, s, part *str, from int) int {
	from = max(from, 0)
	n := part.length()
	if from > s.length()-n {
		if from >= s.length() && n == 0 {
			return s.length()
		}
		return -1
	}
	if s.u == nil && part.u == nil {
		i := strings.Index(s.s[from:], part.s)
		if i < 0 {
			t.charge((s.length() - from) / 8)
			return -1
		}
		t.charge(i / 8)
		return from + i
	}
	for i := from; i+n <= s.length(); i++ {
		if regionMatches(t, s, i, part) {
			return i
		}
	}
	return -1
}

func lastIndexOf(t *thread, s, part *str, from int) int {
	for i := min(from, s.length()-part.length()); i >= 0; i-- {
		if regionMatches(t, s, i, part) {
			return i
		}
	}
	return -1
}

// regionMatches reports whether part is in s at i.
func regionMatches(t *thread, s *str, i int, part *str) bool {
	t.charge(1)
	n := part.length()
	if i < 0 || i > s.length()-n {
		return false
	}
	for k := range n {
		if s.charAt(i+k) != part.charAt(k) {
			t.charge(k / 8)
			return false
		}
	}
	t.charge(n / 8)
	return true
}

// codePoint is the one at i.
func codePoint(s sequence, i int) rune {
	c := rune(s.charAt(i))
	if utf16.IsSurrogate(c) && i+1 < s.length() {
		if r := utf16.DecodeRune(c, rune(s.charAt(i+1))); r != utf8.RuneError {
			return r
		}
	}
	return c
}

func trimmed(s *str) string {
	return strings.TrimFunc(s.String(), func(r rune) bool { return r <= ' ' })
}

// trimBy is s without the characters at its ends that drop tells; left and right are the ends.
func trimBy(t *thread, s *str, drop func(uint16) bool, left, right bool) *str {
	i, j := 0, s.length()
	for left && i < j && drop(s.charAt(i)) {
		i++
	}
	for right && i < j && drop(s.charAt(j-1)) {
		j--
	}
	return t.substring(s, i, j)
}

func javaWhitespace(c uint16) bool {
	switch {
	case c >= 9 && c <= 13, c >= 0x1c && c <= 0x1f:
		return true
	case c == 0xa0, c == 0x2007, c == 0x202f:
		return false
	}
	return unicode.In(rune(c), unicode.Z)
}

// mapCase changes the case of a text.
func mapCase(t *thread, s *str, ascii func(string) string, upper bool) *str {
	if s.u == nil {
		t.alloc(s.length())
		if r := ascii(s.s); r != s.s {
			return t.ascii(r)
		}
		return s
	}
	t.grow(len(s.u), 16)
	var u []uint16
	var runes []rune
	for i := 0; i < len(s.u); i += max(1, utf16.RuneLen(runes[len(runes)-1])) {
		runes = append(runes, codePoint(s, i))
	}
	for i, r := range runes {
		switch {
		case utf16.IsSurrogate(r): // half of a pair
			u = append(u, uint16(r))
		case upper && r == 'ß':
			u = append(u, 'S', 'S')
		case upper:
			u = utf16.AppendRune(u, unicode.ToUpper(r))
		case r == 'Σ' && i > 0 && unicode.IsLetter(runes[i-1]) && (i+1 == len(runes) || !unicode.IsLetter(runes[i+1])):
			u = append(u, 'ς')
		case r == 'İ':
			u = append(u, 'i', 0x307)
		default:
			u = utf16.AppendRune(u, unicode.ToLower(r))
		}
	}
	return t.units(u)
}

// foldUnit is a character for comparisons that ignore case.
func foldUnit(c uint16) rune { return unicode.ToLower(unicode.ToUpper(rune(c))) }

func compareIgnoringCase(t *thread, a, b *str) int {
	n := min(a.length(), b.length())
	t.charge(n)
	for i := range n {
		if x, y := foldUnit(a.charAt(i)), foldUnit(b.charAt(i)); x != y {
			return int(x) - int(y)
		}
	}
	return a.length() - b.length()
}

func textClasses() []declaration {
	valueOf := func(k kind) nativeFunc {
		return func(t *thread, a []value) value { return reference(t.box(k, a[0].n).text(t)) }
	}
	bools := func(f func(t *thread, s *str, a []value) bool) any {
		return on(func(t *thread, s *str, a []value) value { return boolean(f(t, s, a)) })
	}
	ints := func(f func(t *thread, s *str, a []value) int) any {
		return on(func(t *thread, s *str, a []value) value { return integer(f(t, s, a)) })
	}
	strs := func(f func(t *thread, s *str, a []value) *str) any {
		return on(func(t *thread, s *str, a []value) value { return reference(f(t, s, a)) })
	}
	return []declaration{
		{classString, "final class java.lang.String implements Comparable<String>, CharSequence", []native{
			{"String()", fixed, func(t *thread, _ []value) value { return reference(t.ascii("")) }},
			{"String(String)", linear, func(t *thread, a []value) value {
				copied := *a[0].str()
				t.alloc(48)
				return reference(&copied)
			}},
			{"String(char[])", asItGoes, func(t *thread, a []value) value {
				return reference(t.charsText(to[*array](a[0]), 0, -1))
			}},
			{"String(char[], int, int)", asItGoes, func(t *thread, a []value) value {
				return reference(t.charsText(to[*array](a[0]), a[1].int(), a[2].int()))
			}},
			{"String(byte[])", linear, func(t *thread, a []value) value {
				return reference(t.str(string(to[*array](a[0]).bytes(t))))
			}},
			{"int length()", fixed, func(t *thread, a []value) value { return integer(a[0].r.(*str).length()) }},
			{"boolean isEmpty()", fixed, bools(func(_ *thread, s *str, _ []value) bool { return s.length() == 0 })},
			{"boolean isBlank()", linear, bools(func(t *thread, s *str, _ []value) bool {
				return trimBy(t, s, javaWhitespace, true, false).length() == 0
			})},
			{"char charAt(int)", fixed, on(charAt)},
			{"int codePointAt(int)", fixed, ints(func(_ *thread, s *str, a []value) int {
				i := a[0].int()
				if i < 0 || i >= s.length() {
					throwIndex(i, s.length())
				}
				return int(codePoint(s, i))
			})},
			{"int codePointCount(int, int)", linear, ints(func(t *thread, s *str, a []value) int {
				from, to := a[0].int(), a[1].int()
				if from < 0 || to > s.length() || from > to {
					throwPlain(classIndexOutOfBounds)
				}
				n := 0
				for i := from; i < to; n++ {
					i++
					if i < to && codePoint(s, i-1) > 0xffff {
						i++
					}
				}
				return n
			})},
			{"boolean equalsIgnoreCase(String)", linear, bools(func(t *thread, s *str, a []value) bool {
				other, ok := a[0].r.(*str)
				return ok && compareIgnoringCase(t, s, other) == 0
			})},
			{"int compareToIgnoreCase(String)", linear, ints(func(t *thread, s *str, a []value) int {
				return compareIgnoringCase(t, s, a[0].str())
			})},
			{"boolean startsWith(String)", asItGoes, bools(func(t *thread, s *str, a []value) bool {
				return regionMatches(t, s, 0, a[0].str())
			})},
			{"boolean startsWith(String, int)", asItGoes, bools(func(t *thread, s *str, a []value) bool {
				return regionMatches(t, s, a[1].int(), a[0].str())
			})},
			{"boolean endsWith(String)", asItGoes, bools(func(t *thread, s *str, a []value) bool {
				return regionMatches(t, s, s.length()-a[0].str().length(), a[0].str())
			})},
			{"int indexOf(String)", asItGoes, ints(func(t *thread, s *str, a []value) int {
				return indexOf(t, s, a[0].str(), 0)
			})},
			{"int indexOf(String, int)", asItGoes, ints(func(t *thread, s *str, a []value) int {
				return indexOf(t, s, a[0].str(), a[1].int())
			})},
			{"int indexOf(int)", asItGoes, ints(func(t *thread, s *str, a []value) int {
				return indexOf(t, s, codePointText(a[0].int()), 0)
			})},
			{"int indexOf(int, int)", asItGoes, ints(func(t *thread, s *str, a []value) int {
				return indexOf(t, s, codePointText(a[0].int()), a[1].int())
			})},
			{"int lastIndexOf(String)", asItGoes, ints(func(t *thread, s *str, a []value) int {
				return lastIndexOf(t, s, a[0].str(), math.MaxInt32)
			})},
			{"int lastIndexOf(String, int)", asItGoes, ints(func(t *thread, s *str, a []value) int {
				return lastIndexOf(t, s, a[0].str(), a[1].int())
			})},
			{"int lastIndexOf(int)", asItGoes, ints(func(t *thread, s *str, a []value) int {
				return lastIndexOf(t, s, codePointText(a[0].int()), math.MaxInt32)
			})},
			{"int lastIndexOf(int, int)", asItGoes, ints(func(t *thread, s *str, a []value) int {
				return lastIndexOf(t, s, codePointText(a[0].int()), a[1].int())
			})},
			{"boolean contains(CharSequence)", linear, bools(func(t *thread, s *str, a []value) bool {
				return indexOf(t, s, a[0].notNull().text(t), 0) >= 0
			})},
			{"boolean contentEquals(CharSequence)", linear, bools(func(t *thread, s *str, a []value) bool {
				return s.same(t, a[0].notNull().text(t))
			})},
			{"String substring(int)", linear, strs(func(t *thread, s *str, a []value) *str {
				return substring(t, s, a[0].int(), s.length())
			})},
			{"String substring(int, int)", linear, strs(func(t *thread, s *str, a []value) *str {
				return substring(t, s, a[0].int(), a[1].int())
			})},
			{"String concat(String)", asItGoes, strs(func(t *thread, s *str, a []value) *str {
				var b builder
				b.add(t, s)
				b.add(t, a[0].str())
				return b.text(t)
			})},
			{"String replace(char, char)", asItGoes, strs(func(t *thread, s *str, a []value) *str {
				return replaceAll(t, s, newUnits([]uint16{uint16(a[0].n)}), newUnits([]uint16{uint16(a[1].n)}))
			})},
			{"String replace(CharSequence, CharSequence)", asItGoes, strs(func(t *thread, s *str, a []value) *str {
				return replaceAll(t, s, a[0].notNull().text(t), a[1].notNull().text(t))
			})},
			{"boolean matches(String)", asItGoes, bools(func(t *thread, s *str, a []value) bool {
				return matches(t, s, a[0].str())
			})},
			{"String replaceAll(String, String)", asItGoes, strs(func(t *thread, s *str, a []value) *str {
				return replacePattern(t, s, a[0].str(), a[1].str(), -1)
			})},
			{"String replaceFirst(String, String)", asItGoes, strs(func(t *thread, s *str, a []value) *str {
				return replacePattern(t, s, a[0].str(), a[1].str(), 1)
			})},
			{"String[] split(String)", asItGoes, on(func(t *thread, s *str, a []value) value {
				return reference(split(t, s, a[0].str(), 0))
			})},
			{"String[] split(String, int)", asItGoes, on(func(t *thread, s *str, a []value) value {
				return reference(split(t, s, a[0].str(), a[1].int()))
			})},
			{"String toLowerCase()", linear, strs(func(t *thread, s *str, _ []value) *str {
				return mapCase(t, s, strings.ToLower, false)
			})},
			{"String toUpperCase()", linear, strs(func(t *thread, s *str, _ []value) *str {
				return mapCase(t, s, strings.ToUpper, true)
			})},
			{"String trim()", linear, strs(func(t *thread, s *str, _ []value) *str {
				return trimBy(t, s, func(c uint16) bool { return c <= ' ' }, true, true)
			})},
			{"String strip()", linear, strs(func(t *thread, s *str, _ []value) *str {
				return trimBy(t, s, javaWhitespace, true, true)
			})},
			{"String stripLeading()", linear, strs(func(t *thread, s *str, _ []value) *str {
				return trimBy(t, s, javaWhitespace, true, false)
			})},
			{"String stripTrailing()", linear, strs(func(t *thread, s *str, _ []value) *str {
				return trimBy(t, s, javaWhitespace, false, true)
			})},
			{"String repeat(int)", asItGoes, strs(func(t *thread, s *str, a []value) *str {
				n := a[0].int()
				if n < 0 {
					throw(classIllegalArgument, "count is negative: "+strconv.Itoa(n))
				}
				if s.length() == 0 {
					return s
				}
				t.alloc(48)
				t.grow(n, len(s.s)+2*len(s.u))
				if s.u != nil {
					return &str{u: slices.Repeat(s.u, n)}
				}
				return &str{s: strings.Repeat(s.s, n)}
			})},
			{"String intern()", linear, strs(func(t *thread, s *str, _ []value) *str {
				if known := t.fn.strings[textKey(s)]; known != nil {
					return known
				}
				return s
			})},
			{"char[] toCharArray()", linear, on(func(t *thread, s *str, _ []value) value {
				chars := t.newArray(charType, s.length())
				for i := range chars.n {
					chars.n[i] = int64(s.charAt(i))
				}
				return reference(chars)
			})},
			{"byte[] getBytes()", linear, on(func(t *thread, s *str, _ []value) value {
				return reference(t.byteArray([]byte(s.String())))
			})},
			{"static String valueOf(Object)", asItGoes, func(t *thread, a []value) value { return reference(t.textOf(a[0].r)) }},
			{"static String valueOf(char[])", asItGoes, func(t *thread, a []value) value {
				return reference(t.charsText(to[*array](a[0]), 0, -1))
			}},
			{"static String valueOf(boolean)", fixed, valueOf(booleanKind)},
			{"static String valueOf(char)", fixed, valueOf(charKind)},
			{"static String valueOf(int)", fixed, valueOf(intKind)},
			{"static String valueOf(long)", fixed, valueOf(longKind)},
			{"static String valueOf(float)", fixed, valueOf(floatKind)},
			{"static String valueOf(double)", fixed, valueOf(doubleKind)},
			{"static String format(String, Object...)", asItGoes, func(t *thread, a []value) value {
				return reference(format(t, a[0].str(), to[*array](a[1]).r))
			}},
			{"static String join(CharSequence, CharSequence...)", asItGoes, func(t *thread, a []value) value {
				return reference(join(t, a[0].notNull().text(t), to[*array](a[1]).r))
			}},
			{"static String join(CharSequence, Iterable<CharSequence>)", asItGoes, func(t *thread, a []value) value {
				return reference(join(t, a[0].notNull().text(t), elements(t, to[iterable](a[1]))))
			}},
		}, []constant{{"Comparator<String> CASE_INSENSITIVE_ORDER", &comparator{kind: ignoringCase}}}},
		{
			classStringBuilder, "final class java.lang.StringBuilder implements Comparable<StringBuilder>, CharSequence",
			builderMethods(classStringBuilder), nil,
		},
		{
			classStringBuffer, "final class java.lang.StringBuffer implements Comparable<StringBuffer>, CharSequence",
			builderMethods(classStringBuffer), nil,
		},
	}
}

func codePointText(c int) *str {
	if c >= 0 && c <= math.MaxUint16 {
		return newUnits([]uint16{uint16(c)})
	}
	return newUnits(utf16.AppendRune(nil, rune(c)))
}

// replaceAll replaces a text that is not a pattern.
func replaceAll(t *thread, s, old, with *str) *str {
	var b builder
	from := 0
	for {
		i := indexOf(t, s, old, from)
		if i < 0 || i > s.length() {
			break
		}
		b.add(t, t.substring(s, min(from, i), i))
		b.add(t, with)
		from = i + old.length()
		if old.length() == 0 {
			if i == s.length() {
				return b.text(t)
			}
			b.addUnit(t, s.charAt(i))
			from = i + 1
		}
		t.step()
	}
	if from == 0 {
		return s
	}
	b.add(t, t.substring(s, from, s.length()))
	return b.text(t)
}

func join(t *thread, separator *str, parts []object) *str {
	var b builder
	for i, p := range parts {
		t.step()
		if i > 0 {
			b.add(t, separator)
		}
		b.add(t, t.textOf(p))
	}
	return b.text(t)
}

func characterClass() declaration {
	is := func(name string, f func(rune) bool) []native {
		run := func(_ *thread, a []value) value { return boolean(f(rune(a[0].n))) }
		return []native{{"static boolean " + name + "(char)", fixed, run}, {"static boolean " + name + "(int)", fixed, run}}
	}
	maps := func(name string, f func(rune) rune) []native {
		run := func(_ *thread, a []value) value { return number(int64(f(rune(a[0].n)))) }
		return []native{{"static char " + name + "(char)", fixed, run}, {"static int " + name + "(int)", fixed, run}}
	}
	var all []native
	for _, more := range [][]native{
		boxMethods("Character", "char", charKind),
		is("isDigit", unicode.IsDigit),
		is("isLetter", unicode.IsLetter),
		is("isLetterOrDigit", func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }),
		is("isAlphabetic", func(r rune) bool {
			return unicode.IsLetter(r) || unicode.In(r, unicode.Nl, unicode.Other_Alphabetic)
		}),
		is("isUpperCase", func(r rune) bool { return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r) }),
		is("isLowerCase", func(r rune) bool { return unicode.IsLower(r) || unicode.Is(unicode.Other_Lowercase, r) }),
		is("isWhitespace", func(r rune) bool { return r <= math.MaxUint16 && javaWhitespace(uint16(r)) }),
		is("isSpaceChar", func(r rune) bool { return unicode.In(r, unicode.Z) }),
		maps("toUpperCase", unicode.ToUpper),
		maps("toLowerCase", unicode.ToLower),
		{
			{"char charValue()", fixed, unboxed0},
			{"static int getNumericValue(char)", fixed, func(_ *thread, a []value) value {
				return integer(digitOf(rune(a[0].n), 36))
			}},
			{"static int digit(char, int)", fixed, func(_ *thread, a []value) value {
				return integer(digitOf(rune(a[0].n), a[1].int()))
			}},
			{"static char forDigit(int, int)", fixed, func(_ *thread, a []value) value {
				d, radix := a[0].int(), a[1].int()
				if radix < 2 || radix > 36 || d < 0 || d >= radix {
					return number(0)
				}
				return number(int64("0123456789abcdefghijklmnopqrstuvwxyz"[d]))
			}},
			{"static boolean isSurrogate(char)", fixed, func(_ *thread, a []value) value {
				return boolean(utf16.IsSurrogate(rune(a[0].n)))
			}},
			{"static int charCount(int)", fixed, func(_ *thread, a []value) value {
				if a[0].n > math.MaxUint16 {
					return number(2)
				}
				return number(1)
			}},
			{"static char reverseBytes(char)", fixed, func(a int64) int64 { return (a>>8 | a<<8) & 0xffff }},
		},
	} {
		all = append(all, more...)
	}
	return declaration{
		classCharacter, "final class java.lang.Character implements Comparable<Character>", all,
		[]constant{{"char MIN_VALUE", int64(0)}, {"char MAX_VALUE", int64(math.MaxUint16)}},
	}
}

// digitOf is the value of a digit in a radix, or -1.
func digitOf(r rune, radix int) int {
	d := -1
	switch {
	case '0' <= r && r <= '9':
		d = int(r - '0')
	case 'a' <= r && r <= 'z':
		d = int(r-'a') + 10
	case 'A' <= r && r <= 'Z':
		d = int(r-'A') + 10
	}
	if d >= radix {
		return -1
	}
	return d
}
