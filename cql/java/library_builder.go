package java

import (
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

func builderMethods(c *class) []native {
	name := c.simple()
	made := func(t *thread) *builder {
		t.alloc(64)
		return &builder{kind: c}
	}
	chain := func(f func(t *thread, b *builder, a []value)) any {
		return on(func(t *thread, b *builder, a []value) value {
			f(t, b, a)
			return reference(b)
		})
	}
	appendKind := func(k kind) any {
		return chain(func(t *thread, b *builder, a []value) { b.add(t, t.box(k, a[0].n).text(t)) })
	}
	insertKind := func(k kind) any {
		return chain(func(t *thread, b *builder, a []value) { b.insert(t, a[0].int(), t.box(k, a[1].n).text(t)) })
	}
	checkIndex := func(b *builder, i int) {
		if i < 0 || i >= b.length() {
			throw(classStringIndex, "index "+strconv.Itoa(i)+", length "+strconv.Itoa(b.length()))
		}
	}
	return []native{
		{name + "()", asItGoes, func(t *thread, _ []value) value { return reference(made(t)) }},
		{name + "(int)", fixed, func(t *thread, a []value) value {
			if a[0].int() < 0 {
				throw(classNegativeArraySize, strconv.Itoa(a[0].int()))
			}
			return reference(made(t))
		}},
		{name + "(String)", asItGoes, func(t *thread, a []value) value {
			b := made(t)
			b.add(t, a[0].str())
			return reference(b)
		}},
		{name + "(CharSequence)", asItGoes, func(t *thread, a []value) value {
			b := made(t)
			b.add(t, a[0].notNull().text(t))
			return reference(b)
		}},
		{name + " append(Object)", asItGoes, chain(func(t *thread, b *builder, a []value) { b.add(t, t.textOf(a[0].r)) })},
		{name + " append(String)", asItGoes, chain(func(t *thread, b *builder, a []value) { b.add(t, t.textOf(a[0].r)) })},
		{name + " append(CharSequence)", asItGoes, chain(func(t *thread, b *builder, a []value) {
			b.add(t, t.textOf(a[0].r))
		})},
		{name + " append(CharSequence, int, int)", asItGoes, chain(func(t *thread, b *builder, a []value) {
			s := t.textOf(a[0].r)
			i, j := a[1].int(), a[2].int()
			if i < 0 || i > j || j > s.length() {
				throw(classIndexOutOfBounds, "start "+strconv.Itoa(i)+", end "+strconv.Itoa(j)+", length "+strconv.Itoa(s.length()))
			}
			b.add(t, t.substring(s, i, j))
		})},
		{name + " append(char[])", asItGoes, chain(func(t *thread, b *builder, a []value) {
			b.add(t, t.charsText(to[*array](a[0]),
				0, -1))
		})},
		{name + " append(boolean)", asItGoes, appendKind(booleanKind)},
		{name + " append(char)", asItGoes, chain(func(t *thread, b *builder, a []value) { b.addUnit(t, uint16(a[0].n)) })},
		{name + " append(int)", asItGoes, appendKind(intKind)},
		{name + " append(long)", asItGoes, appendKind(longKind)},
		{name + " append(float)", asItGoes, appendKind(floatKind)},
		{name + " append(double)", asItGoes, appendKind(doubleKind)},
		{name + " appendCodePoint(int)", asItGoes, chain(func(t *thread, b *builder, a []value) {
			b.add(t,
				codePointText(a[0].int()))
		})},
		{name + " insert(int, Object)", asItGoes, chain(func(t *thread, b *builder, a []value) {
			b.insert(t, a[0].int(),
				t.textOf(a[1].r))
		})},
		{name + " insert(int, String)", asItGoes, chain(func(t *thread, b *builder, a []value) {
			b.insert(t, a[0].int(),
				t.textOf(a[1].r))
		})},
		{name + " insert(int, boolean)", asItGoes, insertKind(booleanKind)},
		{name + " insert(int, char)", asItGoes, insertKind(charKind)},
		{name + " insert(int, int)", asItGoes, insertKind(intKind)},
		{name + " insert(int, long)", asItGoes, insertKind(longKind)},
		{name + " insert(int, float)", asItGoes, insertKind(floatKind)},
		{name + " insert(int, double)", asItGoes, insertKind(doubleKind)},
		{name + " delete(int, int)", asItGoes, chain(func(t *thread, b *builder, a []value) {
			i, j := a[0].int(), min(a[1].int(), b.length())
			if i < 0 || i > j {
				throw(classStringIndex, "start "+strconv.Itoa(i)+", end "+strconv.Itoa(j)+", length "+strconv.Itoa(b.length()))
			}
			b.replace(t, i, j, &str{})
		})},
		{name + " deleteCharAt(int)", asItGoes, chain(func(t *thread, b *builder, a []value) {
			checkIndex(b, a[0].int())
			b.replace(t, a[0].int(), a[0].int()+1, &str{})
		})},
		{name + " replace(int, int, String)", asItGoes, chain(func(t *thread, b *builder, a []value) {
			i, j := a[0].int(), min(a[1].int(), b.length())
			if i < 0 || i > b.length() || i > j {
				throw(classStringIndex, "start "+strconv.Itoa(i)+", end "+strconv.Itoa(j)+", length "+strconv.Itoa(b.length()))
			}
			b.replace(t, i, j, a[2].str())
		})},
		{name + " reverse()", asItGoes, chain(func(t *thread, b *builder, _ []value) { b.reverse(t) })},
		{"void setCharAt(int, char)", asItGoes, on(func(t *thread, b *builder, a []value) value {
			checkIndex(b, a[0].int())
			if c := uint16(a[1].n); c >= utf8.RuneSelf || b.wide {
				b.widen(t)
				b.u[a[0].int()] = c
			} else {
				b.b[a[0].int()] = byte(c)
			}
			return value{}
		})},
		{"void setLength(int)", asItGoes, on(func(t *thread, b *builder, a []value) value {
			n := a[0].int()
			if n < 0 {
				throw(classStringIndex, "String index out of range: "+strconv.Itoa(n))
			}
			if n <= b.length() {
				b.truncate(n)
			}
			t.grow(n-b.length(), 2)
			for b.length() < n {
				b.addUnit(t, 0)
			}
			return value{}
		})},
		{"int length()", fixed, on(func(_ *thread, b *builder, _ []value) value { return integer(b.length()) })},
		{"int capacity()", fixed, on(func(_ *thread, b *builder, _ []value) value { return integer(max(16, b.length())) })},
		{"char charAt(int)", fixed, on(charAt)},
		{"int indexOf(String)", asItGoes, on(func(t *thread, b *builder, a []value) value {
			return integer(indexOf(t, b.text(t), a[0].str(), 0))
		})},
		{"int indexOf(String, int)", asItGoes, on(func(t *thread, b *builder, a []value) value {
			return integer(indexOf(t, b.text(t), a[0].str(), a[1].int()))
		})},
		{"int lastIndexOf(String)", asItGoes, on(func(t *thread, b *builder, a []value) value {
			return integer(lastIndexOf(t, b.text(t), a[0].str(), math.MaxInt32))
		})},
		{"String substring(int)", asItGoes, on(func(t *thread, b *builder, a []value) value {
			checkBuilderRange(b, a[0].int(), b.length())
			return reference(b.part(t, a[0].int(), b.length()))
		})},
		{"String substring(int, int)", asItGoes, on(func(t *thread, b *builder, a []value) value {
			checkBuilderRange(b, a[0].int(), a[1].int())
			return reference(b.part(t, a[0].int(), a[1].int()))
		})},
	}
}

func checkBuilderRange(b *builder, i, j int) {
	if i < 0 || i > j || j > b.length() {
		throw(classStringIndex, "start "+strconv.Itoa(i)+", end "+strconv.Itoa(j)+", length "+strconv.Itoa(b.length()))
	}
}

func (b *builder) insert(t *thread, at int, s *str) {
	if at < 0 || at > b.length() {
		throw(classStringIndex, "offset "+strconv.Itoa(at)+", length "+strconv.Itoa(b.length()))
	}
	b.replace(t, at, at, s)
}

func (b *builder) reverse(t *thread) {
	t.charge(b.length() / sizePerStep)
	if !b.wide {
		for i, j := 0, len(b.b)-1; i < j; i, j = i+1, j-1 {
			b.b[i], b.b[j] = b.b[j], b.b[i]
		}
		return
	}
	for i, j := 0, len(b.u)-1; i < j; i, j = i+1, j-1 {
		b.u[i], b.u[j] = b.u[j], b.u[i]
	}
	for i := 0; i+1 < len(b.u); i++ { // pairs of surrogates stay pairs
		if utf16.DecodeRune(rune(b.u[i+1]), rune(b.u[i])) != utf8.RuneError {
			b.u[i], b.u[i+1] = b.u[i+1], b.u[i]
			i++
		}
	}
}
