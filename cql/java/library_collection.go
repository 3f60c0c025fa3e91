package java

import (
	"slices"
	"strconv"
	"strings"
)

func collectionClasses() []declaration {
	collections := func(f func(t *thread, c collection, a []value) value) any { return on(f) }
	lists := func(f func(t *thread, l *list, a []value) value) any { return on(f) }
	maps := func(f func(t *thread, m *mapObject, a []value) value) any { return on(f) }
	sorted := func(f func(t *thread, m *treeMap, a []value) value) any {
		return on(func(t *thread, o object, a []value) value {
			if s, ok := o.(*set); ok {
				return f(t, s.m.(*treeMap), a)
			}
			return f(t, o.(*mapObject).mapping.(*treeMap), a)
		})
	}
	return []declaration{
		{classCollection, "interface java.util.Collection<E> extends Iterable<E>", []native{
			{"int size()", collections(func(_ *thread, c collection, _ []value) value { return integer(c.size()) })},
			{"boolean isEmpty()", collections(func(_ *thread, c collection, _ []value) value { return boolean(c.size() == 0) })},
			{"boolean contains(Object)", collections(func(t *thread, c collection, a []value) value {
				return boolean(c.contains(t, a[0].r))
			})},
			{"boolean add(E)", collections(func(t *thread, c collection, a []value) value { return boolean(c.add(t, a[0].r)) })},
			{"boolean remove(Object)", collections(func(t *thread, c collection, a []value) value {
				return boolean(c.removeObject(t, a[0].r))
			})},
			{"void clear()", collections(func(t *thread, c collection, _ []value) value {
				c.clear(t)
				return value{}
			})},
			{"boolean addAll(Collection<E>)", collections(addAll)},
			{"boolean containsAll(Collection<Object>)", collections(func(t *thread, c collection, a []value) value {
				for s := to[collection](a[0]).iterate(); s.hasNext(); {
					if !c.contains(t, s.next(t)) {
						return boolean(false)
					}
				}
				return boolean(true)
			})},
			{"boolean removeAll(Collection<Object>)", collections(func(t *thread, c collection, a []value) value {
				return keepIf(t, c, to[collection](a[0]), false)
			})},
			{"boolean retainAll(Collection<Object>)", collections(func(t *thread, c collection, a []value) value {
				return keepIf(t, c, to[collection](a[0]), true)
			})},
			{"Object[] toArray()", collections(func(t *thread, c collection, _ []value) value {
				return reference(&array{elem: classObject.typ(), r: elements(t, c)})
			})},
			{"<T> T[] toArray(T[])", collections(func(t *thread, c collection, a []value) value {
				all := elements(t, c)
				into := to[*array](a[0])
				if len(into.r) < len(all) {
					into = t.newArray(into.elem, len(all))
				}
				for i, o := range all {
					into.store(int64(i), o)
				}
				if len(into.r) > len(all) {
					into.r[len(all)] = nil
				}
				return reference(into)
			})},
		}, nil},
		{classList, "interface java.util.List<E> extends Collection<E>", []native{
			{"E get(int)", lists(func(_ *thread, l *list, a []value) value { return reference(l.items[l.check(a[0].int())]) })},
			{"E set(int, E)", lists(func(_ *thread, l *list, a []value) value {
				if l.kind >= bare {
					throwPlain(classUnsupported)
				}
				i := l.check(a[0].int())
				old := l.items[i]
				l.items[i] = a[1].r
				return reference(old)
			})},
			{"void add(int, E)", lists(func(t *thread, l *list, a []value) value {
				l.insert(t, a[0].int(), a[1].r)
				return value{}
			})},
			{"E remove(int)", lists(func(t *thread, l *list, a []value) value { return reference(l.removeAt(t, a[0].int())) })},
			{"int indexOf(Object)", lists(func(t *thread, l *list, a []value) value { return integer(l.index(t, a[0].r)) })},
			{"int lastIndexOf(Object)", lists(func(t *thread, l *list, a []value) value {
				return integer(l.lastIndex(t, a[0].r))
			})},
			{"boolean addAll(int, Collection<E>)", lists(func(t *thread, l *list, a []value) value {
				i := a[0].int()
				all := elements(t, to[collection](a[1]))
				for k, o := range all {
					l.insert(t, i+k, o)
				}
				return boolean(len(all) > 0)
			})},
			{"List<E> subList(int, int)", lists(func(t *thread, l *list, a []value) value {
				i, j := a[0].int(), a[1].int()
				switch {
				case i < 0:
					throw(classIndexOutOfBounds, "fromIndex = "+strconv.Itoa(i))
				case j > len(l.items):
					throw(classIndexOutOfBounds, "toIndex = "+strconv.Itoa(j))
				case i > j:
					throw(classIllegalArgument, "fromIndex("+strconv.Itoa(i)+") > toIndex("+strconv.Itoa(j)+")")
				}
				part := t.newList(classList)
				part.kind = readOnly
				t.grow(j-i, 16)
				part.items = slices.Clone(l.items[i:j])
				return reference(part)
			})},
			{"void sort(Comparator<E>)", lists(func(t *thread, l *list, a []value) value {
				order, _ := a[0].r.(*comparator)
				l.sort(t, order)
				return value{}
			})},
			{"static <E> List<E> of(E...)", func(t *thread, a []value) value {
				l := t.newList(classList)
				l.kind = immutable
				for _, o := range to[*array](a[0]).r {
					if o == nil {
						throwPlain(classNullPointerException)
					}
				}
				t.grow(len(a[0].r.(*array).r), 16)
				l.items = slices.Clone(a[0].r.(*array).r)
				return reference(l)
			}},
			{"static <E> List<E> copyOf(Collection<E>)", func(t *thread, a []value) value {
				l := t.newList(classList)
				l.kind, l.items = immutable, elements(t, to[collection](a[0]))
				if slices.Contains(l.items, nil) {
					throwPlain(classNullPointerException)
				}
				return reference(l)
			}},
		}, nil},
		listClass(classArrayList, "class java.util.ArrayList<E> implements List<E>",
			native{"ArrayList(int)", func(t *thread, a []value) value {
				if a[0].int() < 0 {
					throw(classIllegalArgument, "Illegal Capacity: "+strconv.Itoa(a[0].int()))
				}
				return reference(t.newList(classArrayList))
			}},
			native{"void ensureCapacity(int)", func(*thread, []value) value { return value{} }},
			native{"void trimToSize()", func(*thread, []value) value { return value{} }}),
		listClass(classLinkedList, "class java.util.LinkedList<E> implements List<E>", dequeMethods()...),
		{classSet, "interface java.util.Set<E> extends Collection<E>", nil, nil},
		{classSortedSet, "interface java.util.SortedSet<E> extends Set<E>", []native{
			{"E first()", sorted(func(_ *thread, m *treeMap, _ []value) value { return reference(m.end(false, true).key) })},
			{"E last()", sorted(func(_ *thread, m *treeMap, _ []value) value { return reference(m.end(true, true).key) })},
		}, nil},
		setClass(classHashSet, "class java.util.HashSet<E> implements Set<E>", false),
		setClass(classLinkedHashSet, "class java.util.LinkedHashSet<E> extends HashSet<E>", true),
		{classTreeSet, "class java.util.TreeSet<E> implements SortedSet<E>", []native{
			{"TreeSet()", func(t *thread, _ []value) value { return reference(t.newTreeSet(nil)) }},
			{"TreeSet(Comparator<E>)", func(t *thread, a []value) value { return reference(t.newTreeSet(a[0].r)) }},
			{"TreeSet(Collection<E>)", func(t *thread, a []value) value {
				s := t.newTreeSet(nil)
				copied[collection](a[0], "Collection.size()", "c")
				addAll(t, s, a)
				return reference(s)
			}},
			{"E floor(E)", sorted(near(-1, true, true))},
			{"E ceiling(E)", sorted(near(1, true, true))},
			{"E lower(E)", sorted(near(-1, false, true))},
			{"E higher(E)", sorted(near(1, false, true))},
			{"E pollFirst()", sorted(poll(false, true))},
			{"E pollLast()", sorted(poll(true, true))},
		}, nil},
		{classEntry, "interface java.util.Map.Entry<K, V>", []native{
			{"K getKey()", on(func(_ *thread, e *entry, _ []value) value { return reference(e.key) })},
			{"V getValue()", on(func(_ *thread, e *entry, _ []value) value { return reference(e.value) })},
			{"V setValue(V)", on(func(_ *thread, e *entry, a []value) value {
				old := e.value
				e.value = a[0].r
				return reference(old)
			})},
		}, nil},
		{classMap, "interface java.util.Map<K, V>", []native{
			{"int size()", maps(func(_ *thread, m *mapObject, _ []value) value { return integer(m.size()) })},
			{"boolean isEmpty()", maps(func(_ *thread, m *mapObject, _ []value) value { return boolean(m.size() == 0) })},
			{"V get(Object)", maps(func(t *thread, m *mapObject, a []value) value {
				if e := m.find(t, a[0].r); e != nil {
					return reference(e.value)
				}
				return value{}
			})},
			{"V getOrDefault(Object, V)", maps(func(t *thread, m *mapObject, a []value) value {
				if e := m.find(t, a[0].r); e != nil {
					return reference(e.value)
				}
				return a[1]
			})},
			{"boolean containsKey(Object)", maps(func(t *thread, m *mapObject, a []value) value {
				return boolean(m.find(t, a[0].r) != nil)
			})},
			{"boolean containsValue(Object)", maps(func(t *thread, m *mapObject, a []value) value {
				return boolean((&view{m: m, what: viewValues}).contains(t, a[0].r))
			})},
			{"V put(K, V)", maps(func(t *thread, m *mapObject, a []value) value {
				m.changing()
				return reference(m.put(t, a[0].r, a[1].r))
			})},
			{"V putIfAbsent(K, V)", maps(func(t *thread, m *mapObject, a []value) value {
				m.changing()
				if e := m.find(t, a[0].r); e != nil && e.value != nil {
					return reference(e.value)
				}
				return reference(m.put(t, a[0].r, a[1].r))
			})},
			{"V replace(K, V)", maps(func(t *thread, m *mapObject, a []value) value {
				m.changing()
				if e := m.find(t, a[0].r); e != nil {
					old := e.value
					e.value = a[1].r
					return reference(old)
				}
				return value{}
			})},
			{"V remove(Object)", maps(func(t *thread, m *mapObject, a []value) value {
				if m.bare && m.find(t, a[0].r) == nil {
					return value{}
				}
				m.changing()
				if e := m.remove(t, a[0].r); e != nil {
					return reference(e.value)
				}
				return value{}
			})},
			{"void putAll(Map<K, V>)", maps(func(t *thread, m *mapObject, a []value) value {
				m.changing()
				m.putAll(t, to[*mapObject](a[0]))
				return value{}
			})},
			{"void clear()", maps(func(t *thread, m *mapObject, _ []value) value {
				(&view{m: m}).clear(t)
				return value{}
			})},
			{"Set<K> keySet()", maps(func(t *thread, m *mapObject, _ []value) value { return t.newView(m, viewKeys) })},
			{"Collection<V> values()", maps(func(t *thread, m *mapObject, _ []value) value { return t.newView(m, viewValues) })},
			{"Set<Map.Entry<K, V>> entrySet()", maps(func(t *thread, m *mapObject, _ []value) value {
				return t.newView(m, viewEntries)
			})},
		}, nil},
		{classSortedMap, "interface java.util.SortedMap<K, V> extends Map<K, V>", []native{
			{"K firstKey()", sorted(func(_ *thread, m *treeMap, _ []value) value { return reference(m.end(false, true).key) })},
			{"K lastKey()", sorted(func(_ *thread, m *treeMap, _ []value) value { return reference(m.end(true, true).key) })},
		}, nil},
		mapClass(classHashMap, "class java.util.HashMap<K, V> implements Map<K, V>", false),
		mapClass(classLinkedHashMap, "class java.util.LinkedHashMap<K, V> extends HashMap<K, V>", true),
		{classTreeMap, "class java.util.TreeMap<K, V> implements SortedMap<K, V>", []native{
			{"TreeMap()", func(t *thread, _ []value) value { return reference(t.newTreeMap(nil)) }},
			{"TreeMap(Comparator<K>)", func(t *thread, a []value) value { return reference(t.newTreeMap(a[0].r)) }},
			{"TreeMap(Map<K, V>)", func(t *thread, a []value) value {
				m := t.newTreeMap(nil)
				m.putAll(t, copied[*mapObject](a[0], "Map.size()", "map"))
				return reference(m)
			}},
			{"Map.Entry<K, V> firstEntry()", sorted(func(_ *thread, m *treeMap, _ []value) value {
				return entryValue(m.end(false, false))
			})},
			{"Map.Entry<K, V> lastEntry()", sorted(func(_ *thread, m *treeMap, _ []value) value {
				return entryValue(m.end(true, false))
			})},
			{"Map.Entry<K, V> pollFirstEntry()", sorted(poll(false, false))},
			{"Map.Entry<K, V> pollLastEntry()", sorted(poll(true, false))},
			{"K floorKey(K)", sorted(near(-1, true, true))},
			{"K ceilingKey(K)", sorted(near(1, true, true))},
			{"K lowerKey(K)", sorted(near(-1, false, true))},
			{"K higherKey(K)", sorted(near(1, false, true))},
			{"Map.Entry<K, V> floorEntry(K)", sorted(near(-1, true, false))},
			{"Map.Entry<K, V> ceilingEntry(K)", sorted(near(1, true, false))},
			{"Map.Entry<K, V> lowerEntry(K)", sorted(near(-1, false, false))},
			{"Map.Entry<K, V> higherEntry(K)", sorted(near(1, false, false))},
		}, nil},
		{classIterator, "interface java.util.Iterator<E>", []native{
			{"boolean hasNext()", on(func(_ *thread, i *iterator, _ []value) value { return boolean(i.source.hasNext()) })},
			{"E next()", on(func(t *thread, i *iterator, _ []value) value { return reference(i.source.next(t)) })},
			{"void remove()", on(func(t *thread, i *iterator, _ []value) value {
				i.source.remove(t)
				return value{}
			})},
		}, nil},
		{classComparator, "interface java.util.Comparator<T>", []native{
			{"int compare(T, T)", on(func(t *thread, c *comparator, a []value) value {
				return integer(c.compareTwo(t, a[0].r, a[1].r))
			})},
			{"Comparator<T> reversed()", on(func(_ *thread, c *comparator, _ []value) value {
				return reference(&comparator{kind: c.kind, reverse: !c.reverse})
			})},
			{"static <T> Comparator<T> naturalOrder()", func(*thread, []value) value { return reference(&comparator{}) }},
			{"static <T> Comparator<T> reverseOrder()", func(*thread, []value) value {
				return reference(&comparator{reverse: true})
			}},
		}, nil},
		{classCollections, "class java.util.Collections", collectionsMethods(), nil},
		{classArrays, "class java.util.Arrays", arraysMethods(), nil},
	}
}

func (t *thread) newView(m *mapObject, what viewWhat) value {
	t.alloc(32)
	return reference(&view{m: m, what: what})
}

func addAll(t *thread, c collection, a []value) value {
	from := to[collection](a[0])
	changed := false
	for _, o := range elements(t, from) {
		changed = c.add(t, o) || changed
	}
	return boolean(changed)
}

// copied is the argument of a method that makes a copy, or the exception of its first call of a method of null.
func copied[T any](v value, method, name string) T {
	if v.r == nil {
		throw(classNullPointerException, `Cannot invoke "java.util.`+method+`" because "`+name+`" is null`)
	}
	return v.r.(T)
}

// keepIf keeps the elements of c that others contains, or removes them.
func keepIf(t *thread, c, others collection, keep bool) value {
	changed := false
	if l, ok := c.(*list); ok {
		if l.kind >= immutable {
			throwPlain(classUnsupported)
		}
		kept := l.items[:0:0]
		t.grow(len(l.items), 16)
		for _, o := range l.items {
			t.step()
			if others.contains(t, o) == keep {
				kept = append(kept, o)
			}
		}
		if changed = len(kept) != len(l.items); changed {
			if l.kind == fixedSize {
				throw(classUnsupported, "remove")
			}
			l.changing()
			l.items = kept
		}
		return boolean(changed)
	}
	for s := c.iterate(); s.hasNext(); {
		if others.contains(t, s.next(t)) != keep {
			s.remove(t)
			changed = true
		}
	}
	return boolean(changed)
}

func (l *list) sort(t *thread, order *comparator) {
	if l.kind >= immutable || l.kind == bare && len(l.items) > 1 {
		throwPlain(classUnsupported)
	}
	sortObjects(t, l.items, order)
	if l.kind == growing {
		l.mods++
	}
}

func sortObjects(t *thread, items []object, order *comparator) {
	compare := func(a, b object) int { return compareObjects(t, a, b) }
	if order != nil {
		compare = func(a, b object) int { return order.compareTwo(t, a, b) }
	}
	slices.SortStableFunc(items, compare)
}

func listClass(c *class, head string, more ...native) declaration {
	return declaration{c, head, append([]native{
		{c.simple() + "()", func(t *thread, _ []value) value { return reference(t.newList(c)) }},
		{c.simple() + "(Collection<E>)", func(t *thread, a []value) value {
			l := t.newList(c)
			l.items = elements(t, copied[collection](a[0], "Collection.toArray()", "c"))
			return reference(l)
		}},
	}, more...), nil}
}

// dequeMethods are the methods of LinkedList that List does not have.
func dequeMethods() []native {
	take := func(last, remove bool, empty func()) any {
		return on(func(t *thread, l *list, _ []value) value {
			if len(l.items) == 0 {
				if empty != nil {
					empty()
				}
				return value{}
			}
			i := 0
			if last {
				i = len(l.items) - 1
			}
			if remove {
				return reference(l.removeAt(t, i))
			}
			return reference(l.items[i])
		})
	}
	put := func(first bool) any {
		return on(func(t *thread, l *list, a []value) value {
			if first {
				l.insert(t, 0, a[0].r)
			} else {
				l.add(t, a[0].r)
			}
			return boolean(true)
		})
	}
	missing := func() { throwPlain(classNoSuchElement) }
	return []native{
		{"void addFirst(E)", put(true)},
		{"void push(E)", put(true)},
		{"boolean offerFirst(E)", put(true)},
		{"void addLast(E)", put(false)},
		{"boolean offer(E)", put(false)},
		{"boolean offerLast(E)", put(false)},
		{"E getFirst()", take(false, false, missing)},
		{"E element()", take(false, false, missing)},
		{"E getLast()", take(true, false, missing)},
		{"E peek()", take(false, false, nil)},
		{"E peekFirst()", take(false, false, nil)},
		{"E peekLast()", take(true, false, nil)},
		{"E removeFirst()", take(false, true, missing)},
		{"E remove()", take(false, true, missing)},
		{"E pop()", take(false, true, missing)},
		{"E removeLast()", take(true, true, missing)},
		{"E poll()", take(false, true, nil)},
		{"E pollFirst()", take(false, true, nil)},
		{"E pollLast()", take(true, true, nil)},
	}
}

func (t *thread) newSet(of *class, linked bool, capacity int) *set {
	if capacity >= 0 && !linked {
		t.grow(tableSize(min(capacity, 1<<30)), 8) // Java allocates it with the first element
	}
	t.alloc(96)
	return &set{of: of, m: newHashMap(linked, capacity)}
}

func checkCapacity(n int) {
	if n < 0 {
		throw(classIllegalArgument, "Illegal initial capacity: "+strconv.Itoa(n))
	}
}

func setClass(c *class, head string, linked bool) declaration {
	return declaration{c, head, []native{
		{c.simple() + "()", func(t *thread, _ []value) value { return reference(t.newSet(c, linked, -1)) }},
		{c.simple() + "(int)", func(t *thread, a []value) value {
			checkCapacity(a[0].int())
			return reference(t.newSet(c, linked, a[0].int()))
		}},
		{c.simple() + "(Collection<E>)", func(t *thread, a []value) value {
			n := copied[collection](a[0], "Collection.size()", "c").size()
			s := t.newSet(c, linked, max(int(float32(n)/0.75)+1, 16))
			addAll(t, s, a)
			return reference(s)
		}},
	}, nil}
}

func mapClass(c *class, head string, linked bool) declaration {
	made := func(t *thread, capacity int) *mapObject {
		if capacity >= 0 {
			t.grow(tableSize(min(capacity, 1<<30)), 8)
		}
		t.alloc(96)
		return &mapObject{mapping: newHashMap(linked, capacity), of: c}
	}
	return declaration{c, head, []native{
		{c.simple() + "()", func(t *thread, _ []value) value { return reference(made(t, -1)) }},
		{c.simple() + "(int)", func(t *thread, a []value) value {
			checkCapacity(a[0].int())
			return reference(made(t, a[0].int()))
		}},
		{c.simple() + "(Map<K, V>)", func(t *thread, a []value) value {
			from := copied[*mapObject](a[0], "Map.size()", "m")
			m := made(t, -1)
			m.putAll(t, from)
			return reference(m)
		}},
	}, nil}
}

func (m *mapObject) putAll(t *thread, from *mapObject) {
	if h, ok := m.mapping.(*hashMap); ok {
		h.reserve(t, from.size())
	}
	if from == m {
		return
	}
	for s := from.entries(); s.hasNext(); {
		e := s.nextEntry(t)
		m.put(t, e.key, e.value)
	}
}

func (t *thread) newTreeSet(order object) *set {
	t.alloc(96)
	c, _ := order.(*comparator)
	return &set{of: classTreeSet, m: &treeMap{order: c}}
}

func (t *thread) newTreeMap(order object) *mapObject {
	t.alloc(96)
	c, _ := order.(*comparator)
	return &mapObject{mapping: &treeMap{order: c}, of: classTreeMap}
}

// end is the first or the last entry.
func (m *treeMap) end(last, must bool) *entry {
	switch {
	case len(m.sorted) == 0:
		if must {
			throwPlain(classNoSuchElement)
		}
		return nil
	case last:
		return m.sorted[len(m.sorted)-1]
	}
	return m.sorted[0]
}

func entryValue(e *entry) value {
	if e == nil {
		return value{}
	}
	return reference(e)
}

// entryOrKey is the result of a method that looks for an entry.
func entryOrKey(e *entry, key bool) value {
	if e != nil && key {
		return reference(e.key)
	}
	return entryValue(e)
}

// near finds the entry next to a key, above or below it, or with it if equal.
func near(direction int, equal, key bool) func(t *thread, m *treeMap, a []value) value {
	return func(t *thread, m *treeMap, a []value) value {
		if len(m.sorted) == 0 {
			return value{}
		}
		i, found := m.place(t, a[0].r)
		switch {
		case found && equal:
		case direction < 0:
			i--
		case found:
			i++
		}
		if i < 0 || i >= len(m.sorted) {
			return value{}
		}
		return entryOrKey(m.sorted[i], key)
	}
}

func poll(last, key bool) func(t *thread, m *treeMap, a []value) value {
	return func(t *thread, m *treeMap, _ []value) value {
		e := m.end(last, false)
		if e == nil {
			return value{}
		}
		i := 0
		if last {
			i = len(m.sorted) - 1
		}
		return entryOrKey(m.removeAt(t, i), key)
	}
}

func collectionsMethods() []native {
	extreme := func(sign int, ordered bool) nativeFunc {
		return func(t *thread, a []value) value {
			var order *comparator
			if ordered {
				order, _ = a[1].r.(*comparator)
			}
			s := to[collection](a[0]).iterate()
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
	emptySet := func() *set { return &set{of: classSet, m: newHashMap(true, -1), readOnly: true, bare: true} }
	emptyMap := func() *mapObject {
		return &mapObject{mapping: newHashMap(true, -1), of: classMap, readOnly: true, bare: true}
	}
	return []native{
		{"static <T> void sort(List<T>)", func(t *thread, a []value) value {
			to[*list](a[0]).sort(t, nil)
			return value{}
		}},
		{"static <T> void sort(List<T>, Comparator<T>)", func(t *thread, a []value) value {
			order, _ := a[1].r.(*comparator)
			to[*list](a[0]).sort(t, order)
			return value{}
		}},
		{"static <T> void reverse(List<T>)", func(t *thread, a []value) value {
			l := to[*list](a[0])
			if l.kind >= bare && len(l.items) > 1 {
				throwPlain(classUnsupported)
			}
			t.charge(len(l.items))
			slices.Reverse(l.items)
			return value{}
		}},
		{"static <T> void swap(List<T>, int, int)", func(_ *thread, a []value) value {
			l := to[*list](a[0])
			i, j := l.check(a[1].int()), l.check(a[2].int())
			if l.kind >= bare {
				throwPlain(classUnsupported)
			}
			l.items[i], l.items[j] = l.items[j], l.items[i]
			return value{}
		}},
		{"static <T> T max(Collection<T>)", extreme(1, false)},
		{"static <T> T min(Collection<T>)", extreme(-1, false)},
		{"static <T> T max(Collection<T>, Comparator<T>)", extreme(1, true)},
		{"static <T> T min(Collection<T>, Comparator<T>)", extreme(-1, true)},
		{"static int frequency(Collection<Object>, Object)", func(t *thread, a []value) value {
			n := 0
			for s := to[collection](a[0]).iterate(); s.hasNext(); {
				if equalObjects(t, a[1].r, s.next(t)) {
					n++
				}
			}
			return integer(n)
		}},
		{"static <T> boolean addAll(Collection<T>, T...)", func(t *thread, a []value) value {
			changed := false
			for _, o := range to[*array](a[1]).r {
				changed = to[collection](a[0]).add(t, o) || changed
			}
			return boolean(changed)
		}},
		{"static boolean disjoint(Collection<Object>, Collection<Object>)", func(t *thread, a []value) value {
			for s := to[collection](a[0]).iterate(); s.hasNext(); {
				if to[collection](a[1]).contains(t, s.next(t)) {
					return boolean(false)
				}
			}
			return boolean(true)
		}},
		{"static <T> List<T> nCopies(int, T)", func(t *thread, a []value) value {
			n := a[0].int()
			if n < 0 {
				throw(classIllegalArgument, "List length = "+strconv.Itoa(n))
			}
			t.grow(n, 16)
			return reference(listOf(t, bare, slices.Repeat([]object{a[1].r}, n)...))
		}},
		{"static <T> List<T> emptyList()", func(t *thread, _ []value) value { return reference(listOf(t, bare)) }},
		{"static <T> Set<T> emptySet()", func(t *thread, _ []value) value { return reference(emptySet()) }},
		{"static <K, V> Map<K, V> emptyMap()", func(t *thread, _ []value) value { return reference(emptyMap()) }},
		{"static <T> List<T> singletonList(T)", func(t *thread, a []value) value {
			return reference(listOf(t, bare, a[0].r))
		}},
		{"static <T> Set<T> singleton(T)", func(t *thread, a []value) value {
			s := emptySet()
			s.m.put(t, a[0].r, boxTrue)
			return reference(s)
		}},
		{"static <K, V> Map<K, V> singletonMap(K, V)", func(t *thread, a []value) value {
			m := emptyMap()
			m.put(t, a[0].r, a[1].r)
			return reference(m)
		}},
		// Java's are views. The collection that one is made of does not change afterwards in bodies that mean it so.
		{"static <T> List<T> unmodifiableList(List<T>)", func(t *thread, a []value) value {
			l := to[*list](a[0])
			return reference(listOf(t, readOnly, slices.Clone(l.items)...))
		}},
		{"static <T> Set<T> unmodifiableSet(Set<T>)", func(t *thread, a []value) value {
			s := emptySet()
			s.bare = false
			for _, o := range elements(t, to[collection](a[0])) {
				s.m.put(t, o, boxTrue)
			}
			return reference(s)
		}},
		{"static <T> Collection<T> unmodifiableCollection(Collection<T>)", func(t *thread, a []value) value {
			return reference(listOf(t, readOnly, elements(t, to[collection](a[0]))...))
		}},
		{"static <K, V> Map<K, V> unmodifiableMap(Map<K, V>)", func(t *thread, a []value) value {
			m := emptyMap()
			m.bare = false
			m.putAll(t, to[*mapObject](a[0]))
			return reference(m)
		}},
		{"static <T> Comparator<T> reverseOrder()", func(*thread, []value) value {
			return reference(&comparator{reverse: true})
		}},
		{"static <T> Comparator<T> reverseOrder(Comparator<T>)", func(_ *thread, a []value) value {
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
		{"static <T> List<T> asList(T...)", func(t *thread, a []value) value {
			l := t.newList(classList)
			l.kind, l.items = fixedSize, to[*array](a[0]).r
			return reference(l)
		}},
		{"static <T> T[] copyOf(T[], int)", copyRange},
		{"static <T> T[] copyOfRange(T[], int, int)", copyRange},
		{"static void sort(Object[])", func(t *thread, a []value) value {
			sortObjects(t, to[*array](a[0]).r, nil)
			return value{}
		}},
		{"static <T> void sort(T[], Comparator<T>)", func(t *thread, a []value) value {
			order, _ := a[1].r.(*comparator)
			sortObjects(t, to[*array](a[0]).r, order)
			return value{}
		}},
		{"static String deepToString(Object[])", func(t *thread, a []value) value {
			return reference(arrayText(t, a[0], true))
		}},
	}
	for _, e := range strings.Fields("Object boolean byte short char int long float double") {
		all = append(all,
			native{"static String toString(" + e + "[])", func(t *thread, a []value) value {
				return reference(arrayText(t, a[0], false))
			}},
			native{"static void fill(" + e + "[], " + e + ")", func(t *thread, a []value) value {
				x := to[*array](a[0])
				t.charge(x.length())
				for i := range x.n {
					x.n[i] = a[1].n
				}
				for i := range x.r {
					x.store(int64(i), a[1].r)
				}
				return value{}
			}},
			native{"static boolean equals(" + e + "[], " + e + "[])", func(t *thread, a []value) value {
				return boolean(equalArrays(t, a[0], a[1]))
			}},
			native{"static int hashCode(" + e + "[])", func(t *thread, a []value) value {
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
			native{"static " + e + "[] copyOf(" + e + "[], int)", copyRange},
			native{"static " + e + "[] copyOfRange(" + e + "[], int, int)", copyRange},
		)
		if e == "boolean" {
			continue
		}
		all = append(all, native{"static void sort(" + e + "[])", func(t *thread, a []value) value {
			x := to[*array](a[0])
			t.charge(len(x.n) * 4)
			if x.elem.floating() {
				slices.SortFunc(x.n, func(a, b int64) int { return compareFloats(value{n: a}.floating(), value{n: b}.floating()) })
			} else {
				slices.Sort(x.n)
			}
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
