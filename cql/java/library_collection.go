package java

import (
	"slices"
	"strconv"
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
			{"int size()", fixed, collections(func(_ *thread, c collection, _ []value) value { return integer(c.size()) })},
			{"boolean isEmpty()", fixed, collections(func(_ *thread, c collection, _ []value) value {
				return boolean(c.size() == 0)
			})},
			{"boolean contains(Object)", asItGoes, collections(func(t *thread, c collection, a []value) value {
				return boolean(c.contains(t, a[0].r))
			})},
			{"boolean add(E)", asItGoes, collections(func(t *thread, c collection, a []value) value {
				return boolean(c.add(t, a[0].r))
			})},
			{"boolean remove(Object)", asItGoes, collections(func(t *thread, c collection, a []value) value {
				return boolean(c.removeObject(t, a[0].r))
			})},
			{"void clear()", asItGoes, collections(func(t *thread, c collection, _ []value) value {
				c.clear(t)
				return value{}
			})},
			{"boolean addAll(Collection<E>)", asItGoes, collections(addAll)},
			{"boolean containsAll(Collection<Object>)", asItGoes, collections(func(t *thread, c collection, a []value) value {
				for s := to[collection](a[0]).iterate(t); s.hasNext(); {
					if !c.contains(t, s.next(t)) {
						return boolean(false)
					}
				}
				return boolean(true)
			})},
			{"boolean removeAll(Collection<Object>)", asItGoes, collections(func(t *thread, c collection, a []value) value {
				return keepIf(t, c, to[collection](a[0]), false)
			})},
			{"boolean retainAll(Collection<Object>)", asItGoes, collections(func(t *thread, c collection, a []value) value {
				return keepIf(t, c, to[collection](a[0]), true)
			})},
			{"Object[] toArray()", asItGoes, collections(func(t *thread, c collection, _ []value) value {
				return reference(&array{elem: classObject.typ(), r: elements(t, c)})
			})},
			{"<T> T[] toArray(T[])", asItGoes, collections(func(t *thread, c collection, a []value) value {
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
			{"E get(int)", fixed, lists(func(_ *thread, l *list, a []value) value {
				return reference(l.items[l.check(a[0].int())])
			})},
			{"E set(int, E)", fixed, lists(func(_ *thread, l *list, a []value) value {
				if l.kind >= bare {
					throwPlain(classUnsupported)
				}
				i := l.check(a[0].int())
				old := l.items[i]
				l.items[i] = a[1].r
				return reference(old)
			})},
			{"void add(int, E)", asItGoes, lists(func(t *thread, l *list, a []value) value {
				l.insert(t, a[0].int(), a[1].r)
				return value{}
			})},
			{"E remove(int)", asItGoes, lists(func(t *thread, l *list, a []value) value {
				return reference(l.removeAt(t, a[0].int()))
			})},
			{"int indexOf(Object)", asItGoes, lists(func(t *thread, l *list, a []value) value {
				return integer(l.index(t, a[0].r))
			})},
			{"int lastIndexOf(Object)", asItGoes, lists(func(t *thread, l *list, a []value) value {
				return integer(l.lastIndex(t, a[0].r))
			})},
			{"boolean addAll(int, Collection<E>)", asItGoes, lists(func(t *thread, l *list, a []value) value {
				i := a[0].int()
				all := elements(t, to[collection](a[1]))
				for k, o := range all {
					l.insert(t, i+k, o)
				}
				return boolean(len(all) > 0)
			})},
			{"List<E> subList(int, int)", asItGoes, lists(func(t *thread, l *list, a []value) value {
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
			{"void sort(Comparator<E>)", asItGoes, lists(func(t *thread, l *list, a []value) value {
				order, _ := a[0].r.(*comparator)
				l.sort(t, order)
				return value{}
			})},
			{"static <E> List<E> of(E...)", asItGoes, func(t *thread, a []value) value {
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
			{"static <E> List<E> copyOf(Collection<E>)", asItGoes, func(t *thread, a []value) value {
				l := t.newList(classList)
				l.kind, l.items = immutable, elements(t, to[collection](a[0]))
				if slices.Contains(l.items, nil) {
					throwPlain(classNullPointerException)
				}
				return reference(l)
			}},
		}, nil},
		listClass(classArrayList, "class java.util.ArrayList<E> implements List<E>",
			native{"ArrayList(int)", fixed, func(t *thread, a []value) value {
				if a[0].int() < 0 {
					throw(classIllegalArgument, "Illegal Capacity: "+strconv.Itoa(a[0].int()))
				}
				return reference(t.newList(classArrayList))
			}},
			native{"void ensureCapacity(int)", fixed, func(*thread, []value) value { return value{} }},
			native{"void trimToSize()", fixed, func(*thread, []value) value { return value{} }}),
		listClass(classLinkedList, "class java.util.LinkedList<E> implements List<E>", dequeMethods()...),
		{classSet, "interface java.util.Set<E> extends Collection<E>", nil, nil},
		{classSortedSet, "interface java.util.SortedSet<E> extends Set<E>", []native{
			{"E first()", fixed, sorted(func(_ *thread, m *treeMap, _ []value) value {
				return reference(m.end(false, true).key)
			})},
			{"E last()", fixed, sorted(func(_ *thread, m *treeMap, _ []value) value {
				return reference(m.end(true, true).key)
			})},
		}, nil},
		setClass(classHashSet, "class java.util.HashSet<E> implements Set<E>", false),
		setClass(classLinkedHashSet, "class java.util.LinkedHashSet<E> extends HashSet<E>", true),
		{classTreeSet, "class java.util.TreeSet<E> implements SortedSet<E>", []native{
			{"TreeSet()", fixed, func(t *thread, _ []value) value { return reference(t.newTreeSet(nil)) }},
			{"TreeSet(Comparator<E>)", fixed, func(t *thread, a []value) value { return reference(t.newTreeSet(a[0].r)) }},
			{"TreeSet(Collection<E>)", asItGoes, func(t *thread, a []value) value {
				s := t.newTreeSet(nil)
				copied[collection](a[0], "Collection.size()", "c")
				addAll(t, s, a)
				return reference(s)
			}},
			{"E floor(E)", asItGoes, sorted(near(-1, true, true))},
			{"E ceiling(E)", asItGoes, sorted(near(1, true, true))},
			{"E lower(E)", asItGoes, sorted(near(-1, false, true))},
			{"E higher(E)", asItGoes, sorted(near(1, false, true))},
			{"E pollFirst()", asItGoes, sorted(poll(false, true))},
			{"E pollLast()", asItGoes, sorted(poll(true, true))},
		}, nil},
		{classEntry, "interface java.util.Map.Entry<K, V>", []native{
			{"K getKey()", fixed, on(func(_ *thread, e *entry, _ []value) value { return reference(e.key) })},
			{"V getValue()", fixed, on(func(_ *thread, e *entry, _ []value) value { return reference(e.value) })},
			{"V setValue(V)", fixed, on(func(_ *thread, e *entry, a []value) value {
				old := e.value
				e.value = a[0].r
				return reference(old)
			})},
		}, nil},
		{classMap, "interface java.util.Map<K, V>", []native{
			{"int size()", fixed, maps(func(_ *thread, m *mapObject, _ []value) value { return integer(m.size()) })},
			{"boolean isEmpty()", fixed, maps(func(_ *thread, m *mapObject, _ []value) value { return boolean(m.size() == 0) })},
			{"V get(Object)", asItGoes, maps(func(t *thread, m *mapObject, a []value) value {
				if e := m.find(t, a[0].r); e != nil {
					return reference(e.value)
				}
				return value{}
			})},
			{"V getOrDefault(Object, V)", asItGoes, maps(func(t *thread, m *mapObject, a []value) value {
				if e := m.find(t, a[0].r); e != nil {
					return reference(e.value)
				}
				return a[1]
			})},
			{"boolean containsKey(Object)", asItGoes, maps(func(t *thread, m *mapObject, a []value) value {
				return boolean(m.find(t, a[0].r) != nil)
			})},
			{"boolean containsValue(Object)", asItGoes, maps(func(t *thread, m *mapObject, a []value) value {
				return boolean((&view{m: m, what: viewValues}).contains(t, a[0].r))
			})},
			{"V put(K, V)", asItGoes, maps(func(t *thread, m *mapObject, a []value) value {
				m.changing()
				return reference(m.put(t, a[0].r, a[1].r))
			})},
			{"V putIfAbsent(K, V)", asItGoes, maps(func(t *thread, m *mapObject, a []value) value {
				m.changing()
				if e := m.find(t, a[0].r); e != nil && e.value != nil {
					return reference(e.value)
				}
				return reference(m.put(t, a[0].r, a[1].r))
			})},
			{"V replace(K, V)", asItGoes, maps(func(t *thread, m *mapObject, a []value) value {
				m.changing()
				if e := m.find(t, a[0].r); e != nil {
					old := e.value
					e.value = a[1].r
					return reference(old)
				}
				return value{}
			})},
			{"V remove(Object)", asItGoes, maps(func(t *thread, m *mapObject, a []value) value {
				if m.bare && m.find(t, a[0].r) == nil {
					return value{}
				}
				m.changing()
				if e := m.remove(t, a[0].r); e != nil {
					return reference(e.value)
				}
				return value{}
			})},
			{"void putAll(Map<K, V>)", asItGoes, maps(func(t *thread, m *mapObject, a []value) value {
				m.changing()
				m.putAll(t, to[*mapObject](a[0]))
				return value{}
			})},
			{"void clear()", asItGoes, maps(func(t *thread, m *mapObject, _ []value) value {
				(&view{m: m}).clear(t)
				return value{}
			})},
			{"Set<K> keySet()", fixed, maps(func(t *thread, m *mapObject, _ []value) value { return t.newView(m, viewKeys) })},
			{"Collection<V> values()", fixed, maps(func(t *thread, m *mapObject, _ []value) value {
				return t.newView(m, viewValues)
			})},
			{"Set<Map.Entry<K, V>> entrySet()", fixed, maps(func(t *thread, m *mapObject, _ []value) value {
				return t.newView(m, viewEntries)
			})},
		}, nil},
		{classSortedMap, "interface java.util.SortedMap<K, V> extends Map<K, V>", []native{
			{"K firstKey()", fixed, sorted(func(_ *thread, m *treeMap, _ []value) value {
				return reference(m.end(false, true).key)
			})},
			{"K lastKey()", fixed, sorted(func(_ *thread, m *treeMap, _ []value) value {
				return reference(m.end(true, true).key)
			})},
		}, nil},
		mapClass(classHashMap, "class java.util.HashMap<K, V> implements Map<K, V>", false),
		mapClass(classLinkedHashMap, "class java.util.LinkedHashMap<K, V> extends HashMap<K, V>", true),
		{classTreeMap, "class java.util.TreeMap<K, V> implements SortedMap<K, V>", []native{
			{"TreeMap()", fixed, func(t *thread, _ []value) value { return reference(t.newTreeMap(nil)) }},
			{"TreeMap(Comparator<K>)", fixed, func(t *thread, a []value) value { return reference(t.newTreeMap(a[0].r)) }},
			{"TreeMap(Map<K, V>)", asItGoes, func(t *thread, a []value) value {
				m := t.newTreeMap(nil)
				m.putAll(t, copied[*mapObject](a[0], "Map.size()", "map"))
				return reference(m)
			}},
			{"Map.Entry<K, V> firstEntry()", fixed, sorted(func(_ *thread, m *treeMap, _ []value) value {
				return entryValue(m.end(false, false))
			})},
			{"Map.Entry<K, V> lastEntry()", fixed, sorted(func(_ *thread, m *treeMap, _ []value) value {
				return entryValue(m.end(true, false))
			})},
			{"Map.Entry<K, V> pollFirstEntry()", asItGoes, sorted(poll(false, false))},
			{"Map.Entry<K, V> pollLastEntry()", asItGoes, sorted(poll(true, false))},
			{"K floorKey(K)", asItGoes, sorted(near(-1, true, true))},
			{"K ceilingKey(K)", asItGoes, sorted(near(1, true, true))},
			{"K lowerKey(K)", asItGoes, sorted(near(-1, false, true))},
			{"K higherKey(K)", asItGoes, sorted(near(1, false, true))},
			{"Map.Entry<K, V> floorEntry(K)", asItGoes, sorted(near(-1, true, false))},
			{"Map.Entry<K, V> ceilingEntry(K)", asItGoes, sorted(near(1, true, false))},
			{"Map.Entry<K, V> lowerEntry(K)", asItGoes, sorted(near(-1, false, false))},
			{"Map.Entry<K, V> higherEntry(K)", asItGoes, sorted(near(1, false, false))},
		}, nil},
		{classIterator, "interface java.util.Iterator<E>", []native{
			{"boolean hasNext()", fixed, on(func(_ *thread, i *iterator, _ []value) value {
				return boolean(i.source.hasNext())
			})},
			{"E next()", asItGoes, on(func(t *thread, i *iterator, _ []value) value { return reference(i.source.next(t)) })},
			{"void remove()", asItGoes, on(func(t *thread, i *iterator, _ []value) value {
				i.source.remove(t)
				return value{}
			})},
		}, nil},
		{classComparator, "interface java.util.Comparator<T>", []native{
			{"int compare(T, T)", asItGoes, on(func(t *thread, c *comparator, a []value) value {
				return integer(c.compareTwo(t, a[0].r, a[1].r))
			})},
			{"Comparator<T> reversed()", fixed, on(func(_ *thread, c *comparator, _ []value) value {
				return reference(&comparator{kind: c.kind, reverse: !c.reverse})
			})},
			{"static <T> Comparator<T> naturalOrder()", fixed, func(*thread, []value) value { return reference(&comparator{}) }},
			{"static <T> Comparator<T> reverseOrder()", fixed, func(*thread, []value) value {
				return reference(&comparator{reverse: true})
			}},
		}, nil},
		{classCollections, "class java.util.Collections", collectionsMethods(), nil},
		{classArrays, "class java.util.Arrays", arraysMethods(), nil},
	}
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
	for s := c.iterate(t); s.hasNext(); {
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
	t.charge(len(items))
	compare := func(a, b object) int { return compareObjects(t, a, b) }
	if order != nil {
		compare = func(a, b object) int { return order.compareTwo(t, a, b) }
	}
	slices.SortStableFunc(items, compare)
}

func listClass(c *class, head string, more ...native) declaration {
	return declaration{c, head, append([]native{
		{c.simple() + "()", fixed, func(t *thread, _ []value) value { return reference(t.newList(c)) }},
		{c.simple() + "(Collection<E>)", asItGoes, func(t *thread, a []value) value {
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
		{"void addFirst(E)", asItGoes, put(true)},
		{"void push(E)", asItGoes, put(true)},
		{"boolean offerFirst(E)", asItGoes, put(true)},
		{"void addLast(E)", asItGoes, put(false)},
		{"boolean offer(E)", asItGoes, put(false)},
		{"boolean offerLast(E)", asItGoes, put(false)},
		{"E getFirst()", fixed, take(false, false, missing)},
		{"E element()", fixed, take(false, false, missing)},
		{"E getLast()", fixed, take(true, false, missing)},
		{"E peek()", fixed, take(false, false, nil)},
		{"E peekFirst()", fixed, take(false, false, nil)},
		{"E peekLast()", fixed, take(true, false, nil)},
		{"E removeFirst()", asItGoes, take(false, true, missing)},
		{"E remove()", asItGoes, take(false, true, missing)},
		{"E pop()", asItGoes, take(false, true, missing)},
		{"E removeLast()", asItGoes, take(true, true, missing)},
		{"E poll()", asItGoes, take(false, true, nil)},
		{"E pollFirst()", asItGoes, take(false, true, nil)},
		{"E pollLast()", asItGoes, take(true, true, nil)},
	}
}

func (t *thread) newSet(of *class, linked bool, capacity int) *set {
	t.alloc(128)
	return &set{of: of, m: newHashMap(linked, capacity)}
}

func checkCapacity(n int) {
	if n < 0 {
		throw(classIllegalArgument, "Illegal initial capacity: "+strconv.Itoa(n))
	}
}

func setClass(c *class, head string, linked bool) declaration {
	return declaration{c, head, []native{
		{c.simple() + "()", fixed, func(t *thread, _ []value) value { return reference(t.newSet(c, linked, -1)) }},
		{c.simple() + "(int)", fixed, func(t *thread, a []value) value {
			checkCapacity(a[0].int())
			return reference(t.newSet(c, linked, a[0].int()))
		}},
		{c.simple() + "(Collection<E>)", asItGoes, func(t *thread, a []value) value {
			n := copied[collection](a[0], "Collection.size()", "c").size()
			s := t.newSet(c, linked, max(int(float32(n)/0.75)+1, 16))
			addAll(t, s, a)
			return reference(s)
		}},
	}, nil}
}
