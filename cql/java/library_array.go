package java

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

func collectionsMethods() []native {
	extreme := func(sign int, ordered bool) nativeFunc {
		return func(t *thread, a []value) value {
			var order *comparator
			if ordered {
				order, _ = a[1].r.(*comparator)
			}
			s := to[collection](a[0]).iterate(t)
			best := s.next(t)
			if order == nil && best == nil && s.hasNext() {
				throwPlain(classNullPointerException)
			}
			for s.hasNext() {
				o := s.next(t)
				c := 0
				if order != nil {
					c = order.compareTwo(t, o, best)
				} else {
					c = compareObjects(t, o, best)
				}
				if c*sign > 0 {
					best = o
				}
			}
			return reference(best)
		}
	}
	listOf := func(t *thread, kind listKind, items ...object) *list {
		l := t.newList(classList)
		t.grow(len(items), 16)
		l.kind, l.items = kind, items
		return l
	}
	emptySet := func(t *thread) *set {
		t.alloc(128)
		return &set{of: classSet, m: newHashMap(true, -1), readOnly: true, bare: true}
	}
	emptyMap := func(t *thread) *mapObject {
		t.alloc(128)
		return &mapObject{mapping: newHashMap(true, -1), of: classMap, readOnly: true, bare: true}
	}
	return []native{
		{"static <T> void sort(List<T>)", asItGoes, func(t *thread, a []value) value {
			to[*list](a[0]).sort(t, nil)
			return value{}
		}},
		{"static <T> void sort(List<T>, Comparator<T>)", asItGoes, func(t *thread, a []value) value {
			order, _ := a[1].r.(*comparator)
			to[*list](a[0]).sort(t, order)
			return value{}
		}},
		{"static <T> void reverse(List<T>)", linear, func(t *thread, a []value) value {
			l := to[*list](a[0])
			if l.kind >= bare && len(l.items) > 1 {
				throwPlain(classUnsupported)
			}
			slices.Reverse(l.items)
			return value{}
		}},
		{"static <T> void swap(List<T>, int, int)", fixed, func(_ *thread, a []value) value {
			l := to[*list](a[0])
			i, j := l.check(a[1].int()), l.check(a[2].int())
			if l.kind >= bare {
				throwPlain(classUnsupported)
			}
			l.items[i], l.items[j] = l.items[j], l.items[i]
			return value{}
		}},
		{"static <T> T max(Collection<T>)", asItGoes, extreme(1, false)},
		{"static <T> T min(Collection<T>)", asItGoes, extreme(-1, false)},
		{"static <T> T max(Collection<T>, Comparator<T>)", asItGoes, extreme(1, true)},
		{"static <T> T min(Collection<T>, Comparator<T>)", asItGoes, extreme(-1, true)},
		{"static int frequency(Collection<Object>, Object)", asItGoes, func(t *thread, a []value) value {
			n := 0
			for s := to[collection](a[0]).iterate(t); s.hasNext(); {
				if equalObjects(t, a[1].r, s.next(t)) {
					n++
				}
			}
			return integer(n)
		}},
		{"static <T> boolean addAll(Collection<T>, T...)", asItGoes, func(t *thread, a []value) value {
			changed := false
			for _, o := range to[*array](a[1]).r {
				t.step()
				changed = to[collection](a[0]).add(t, o) || changed
			}
			return boolean(changed)
		}},
		{"static boolean disjoint(Collection<Object>, Collection<Object>)", asItGoes, func(t *thread, a []value) value {
			for s := to[collection](a[0]).iterate(t); s.hasNext(); {
				if to[collection](a[1]).contains(t, s.next(t)) {
					return boolean(false)
				}
			}
			return boolean(true)
		}},
		{"static <T> List<T> nCopies(int, T)", asItGoes, func(t *thread, a []value) value {
			n := a[0].int()
			if n < 0 {
				throw(classIllegalArgument, "List length = "+strconv.Itoa(n))
			}
			t.grow(n, 16)
			return reference(listOf(t, bare, slices.Repeat([]object{a[1].r}, n)...))
		}},
		{"static <T> List<T> emptyList()", fixed, func(t *thread, _ []value) value { return reference(listOf(t, bare)) }},
		{"static <T> Set<T> emptySet()", fixed, func(t *thread, _ []value) value { return reference(emptySet(t)) }},
		{"static <K, V> Map<K, V> emptyMap()", fixed, func(t *thread, _ []value) value { return reference(emptyMap(t)) }},
		{"static <T> List<T> singletonList(T)", fixed, func(t *thread, a []value) value {
			return reference(listOf(t, bare, a[0].r))
		}},
		{"static <T> Set<T> singleton(T)", asItGoes, func(t *thread, a []value) value {
			s := emptySet(t)
			s.m.put(t, a[0].r, boxTrue)
			return reference(s)
		}},
		{"static <K, V> Map<K, V> singletonMap(K, V)", asItGoes, func(t *thread, a []value) value {
			m := emptyMap(t)
			m.put(t, a[0].r, a[1].r)
			return reference(m)
		}},
		// Java's are views. The collection that one is made of does not change afterwards in bodies that mean it so.
		{"static <T> List<T> unmodifiableList(List<T>)", linear, func(t *thread, a []value) value {
			l := to[*list](a[0])
			return reference(listOf(t, readOnly, slices.Clone(l.items)...))
		}},
		{"static <T> Set<T> unmodifiableSet(Set<T>)", asItGoes, func(t *thread, a []value) value {
			s := emptySet(t)
			s.bare = false
			for _, o := range elements(t, to[collection](a[0])) {
				s.m.put(t, o, boxTrue)
			}
			return reference(s)
		}},
		{"static <T> Collection<T> unmodifiableCollection(Collection<T>)", asItGoes, func(t *thread, a []value) value {
			return reference(listOf(t, readOnly, elements(t, to[collection](a[0]))...))
		}},
		{"static <K, V> Map<K, V> unmodifiableMap(Map<K, V>)", asItGoes, func(t *thread, a []value) value {
			m := emptyMap(t)
			m.bare = false
			m.putAll(t, to[*mapObject](a[0]))
			return reference(m)
		}},
		{"static <T> Comparator<T> reverseOrder()", fixed, func(*thread, []value) value {
			return reference(&comparator{reverse: true})
		}},
		{"static <T> Comparator<T> reverseOrder(Comparator<T>)", fixed, func(_ *thread, a []value) value {
			c, _ := a[0].r.(*comparator)
			if c == nil {
				c = &comparator{}
			}
			return reference(&comparator{kind: c.kind, reverse: !c.reverse})
		}},
	}
}

func arraysMethods() []native {
	all := []native{
		{"static <T> List<T> asList(T...)", fixed, func(t *thread, a []value) value {
			l := t.newList(classList)
			l.kind, l.items = fixedSize, to[*array](a[0]).r
			return reference(l)
		}},
		{"static <T> T[] copyOf(T[], int)", linear, copyRange},
		{"static <T> T[] copyOfRange(T[], int, int)", linear, copyRange},
		{"static void sort(Object[])", asItGoes, func(t *thread, a []value) value {
			sortObjects(t, to[*array](a[0]).r, nil)
			return value{}
		}},
		{"static <T> void sort(T[], Comparator<T>)", asItGoes, func(t *thread, a []value) value {
			order, _ := a[1].r.(*comparator)
			sortObjects(t, to[*array](a[0]).r, order)
			return value{}
		}},
		{"static String deepToString(Object[])", asItGoes, func(t *thread, a []value) value {
			return reference(arrayText(t, a[0], true))
		}},
	}
	for _, e := range strings.Fields("Object boolean byte short char int long float double") {
		all = append(all,
			native{"static String toString(" + e + "[])", asItGoes, func(t *thread, a []value) value {
				return reference(arrayText(t, a[0], false))
			}},
			native{"static void fill(" + e + "[], " + e + ")", linear, func(t *thread, a []value) value {
				x := to[*array](a[0])
				for i := range x.n {
					x.n[i] = a[1].n
				}
				for i := range x.r {
					x.store(int64(i), a[1].r)
				}
				return value{}
			}},
			native{"static boolean equals(" + e + "[], " + e + "[])", linear, func(t *thread, a []value) value {
				return boolean(equalArrays(t, a[0], a[1]))
			}},
			native{"static int hashCode(" + e + "[])", asItGoes, func(t *thread, a []value) value {
				x, ok := a[0].r.(*array)
				if !ok {
					return number(0)
				}
				h := int32(1)
				for i := range x.length() {
					h = 31*h + hashOf(t, x.get(t, i))
				}
				return number(int64(h))
			}},
		)
		if e == "Object" {
			continue
		}
		all = append(all,
			native{"static " + e + "[] copyOf(" + e + "[], int)", linear, copyRange},
			native{"static " + e + "[] copyOfRange(" + e + "[], int, int)", linear, copyRange},
		)
		if e == "boolean" {
			continue
		}
		all = append(all, native{"static void sort(" + e + "[])", asItGoes, func(t *thread, a []value) value {
			x := to[*array](a[0])
			slices.SortFunc(x.n, func(a, b int64) int {
				t.step()
				if x.elem.floating() {
					return compareFloats(value{n: a}.floating(), value{n: b}.floating())
				}
				return cmp.Compare(a, b)
			})
			return value{}
		}})
	}
	return all
}

// copyRange is Arrays.copyOf and copyOfRange.
func copyRange(t *thread, a []value) value {
	x := to[*array](a[0])
	from, until := 0, a[1].int()
	if len(a) == 3 {
		from, until = until, a[2].int()
		if from > until {
			throw(classIllegalArgument, strconv.Itoa(from)+" > "+strconv.Itoa(until))
		}
		if from < 0 || from > x.length() {
			throw(classArrayIndex, "Array index out of range: "+strconv.Itoa(from))
		}
	}
	n := t.newArray(x.elem, until-from)
	end := min(until, x.length())
	if x.n != nil {
		copy(n.n, x.n[from:end])
	}
	if x.r != nil {
		copy(n.r, x.r[from:end])
	}
	return reference(n)
}

func arrayText(t *thread, v value, deep bool) *str {
	x, ok := v.r.(*array)
	if !ok {
		return strNull
	}
	defer t.nest()()
	var b builder
	b.addASCII(t, "[")
	for i := range x.length() {
		if i > 0 {
			b.addASCII(t, ", ")
		}
		e := x.get(t, i)
		if inner, ok := e.(*array); ok && deep {
			b.add(t, arrayText(t, reference(inner), true))
			continue
		}
		b.add(t, t.textOf(e))
	}
	b.addASCII(t, "]")
	return b.text(t)
}

func equalArrays(t *thread, a, b value) bool {
	x, ok1 := a.r.(*array)
	y, ok2 := b.r.(*array)
	if !ok1 || !ok2 {
		return ok1 == ok2
	}
	if x.length() != y.length() {
		return false
	}
	t.charge(x.length())
	for i := range x.n {
		if x.n[i] != y.n[i] && (!x.elem.floating() || compareFloats(value{n: x.n[i]}.floating(),
			value{n: y.n[i]}.floating()) != 0) {
			return false
		}
	}
	for i := range x.r {
		if !equalObjects(t, x.r[i], y.r[i]) {
			return false
		}
	}
	return true
}
