package java

import (
	"slices"
	"strconv"
)

// iterable is an Iterable, which for-each goes over.
type iterable interface {
	object
	iterate(t *thread) source
}

// source yields the elements of a collection.
type source interface {
	hasNext() bool
	next(t *thread) object
	remove(t *thread)
}

// collection is a java.util.Collection.
type collection interface {
	iterable
	size() int
	contains(t *thread, o object) bool
	add(t *thread, o object) bool
	removeObject(t *thread, o object) bool
	clear(t *thread)
}

// iterator is a java.util.Iterator.
type iterator struct {
	identity
	source source
}

func (*iterator) class() *class                     { return classIterator }
func (i *iterator) equals(_ *thread, o object) bool { return o == object(i) }
func (i *iterator) text(t *thread) *str             { return plainText(t, i) }

// elements returns the elements of a collection, in its order.
func elements(t *thread, c iterable) []object {
	var all []object
	if l, ok := c.(*list); ok {
		t.grow(len(l.items), 16)
		return append(all, l.items...)
	}
	for s := c.iterate(t); s.hasNext(); {
		t.alloc(32)
		t.step()
		all = append(all, s.next(t))
	}
	return all
}

// collectionText is [a, b].
func collectionText(t *thread, c iterable) *str {
	defer t.nest()()
	var b builder
	b.addASCII(t, "[")
	first := true
	for s := c.iterate(t); s.hasNext(); first = false {
		if !first {
			b.addASCII(t, ", ")
		}
		if e := s.next(t); e == object(c) {
			b.addASCII(t, "(this Collection)")
		} else {
			b.add(t, t.textOf(e))
		}
	}
	b.addASCII(t, "]")
	return b.text(t)
}

// nest counts a level of collections inside collections, of which Java's stack allows only so many.
func (t *thread) nest() func() {
	if t.depth++; t.depth > 500 {
		throwPlain(classStackOverflow)
	}
	return func() { t.depth-- }
}

// listKind limits the changes of a list.
type listKind uint8

const (
	growing   listKind = iota
	fixedSize          // Arrays.asList: elements can be replaced
	bare               // Collections.singletonList and its siblings: to remove an element is refused once it is found
	immutable          // List.of and its siblings
	readOnly           // immutable, but may have null elements: Collections.unmodifiableList, parts of lists
)

// list is every List.
type list struct {
	of    *class
	kind  listKind
	items []object
	mods  int
}

func (t *thread) newList(of *class) *list {
	t.alloc(64)
	return &list{of: of}
}

func (l *list) class() *class { return l.of }
func (l *list) size() int     { return len(l.items) }

func (l *list) text(t *thread) *str { return collectionText(t, l) }

func (l *list) hash(t *thread) int32 {
	defer t.nest()()
	h := int32(1)
	for _, e := range l.items {
		h = 31*h + hashOf(t, e)
	}
	return h
}

func (l *list) equals(t *thread, o object) bool {
	other, ok := o.(*list)
	if !ok || len(l.items) != len(other.items) {
		return false
	}
	defer t.nest()()
	for i, e := range l.items {
		if !equalObjects(t, e, other.items[i]) {
			return false
		}
	}
	return true
}

// changing checks that elements can be added and removed, and tells iterators that they were.
func (l *list) changing() {
	if l.kind != growing {
		throwPlain(classUnsupported)
	}
	l.mods++
}

func (l *list) add(t *thread, o object) bool {
	l.changing()
	t.alloc(32)
	l.items = append(l.items, o)
	return true
}

func (l *list) insert(t *thread, i int, o object) {
	if l.kind == growing && (i < 0 || i > len(l.items)) {
		throw(classIndexOutOfBounds, "Index: "+strconv.Itoa(i)+", Size: "+strconv.Itoa(len(l.items)))
	}
	l.add(t, o)
	t.charge((len(l.items) - i) / 8)
	copy(l.items[i+1:], l.items[i:])
	l.items[i] = o
}

func (l *list) check(i int) int {
	if i < 0 || i >= len(l.items) {
		if l.kind == fixedSize {
			throw(classArrayIndex, "Index "+strconv.Itoa(i)+" out of bounds for length "+strconv.Itoa(len(l.items)))
		}
		if l.of == classLinkedList || l.kind == bare {
			throw(classIndexOutOfBounds, "Index: "+strconv.Itoa(i)+", Size: "+strconv.Itoa(len(l.items)))
		}
		throw(classIndexOutOfBounds, "Index "+strconv.Itoa(i)+" out of bounds for length "+strconv.Itoa(len(l.items)))
	}
	return i
}

func (l *list) removeAt(t *thread, i int) object {
	if l.kind != growing {
		throwPlain(classUnsupported)
	}
	o := l.items[l.check(i)]
	l.changing()
	t.charge((len(l.items) - i) / 8)
	l.items = slices.Delete(l.items, i, i+1)
	return o
}

func (l *list) index(t *thread, o object) int {
	for i, e := range l.items {
		if equalObjects(t, o, e) {
			return i
		}
	}
	return -1
}

func (l *list) lastIndex(t *thread, o object) int {
	for i := len(l.items) - 1; i >= 0; i-- {
		if equalObjects(t, o, l.items[i]) {
			return i
		}
	}
	return -1
}

func (l *list) contains(t *thread, o object) bool {
	if o == nil && l.kind == immutable {
		throwPlain(classNullPointerException)
	}
	return l.index(t, o) >= 0
}

func (l *list) removeObject(t *thread, o object) bool {
	i := l.index(t, o)
	if i < 0 && l.kind < immutable {
		return false
	}
	if l.kind == fixedSize {
		throw(classUnsupported, "remove")
	}
	l.removeAt(t, i)
	return true
}

func (l *list) clear(*thread) {
	if len(l.items) == 0 && (l.kind == fixedSize || l.kind == bare) {
		return
	}
	l.changing()
	l.items = nil
}

func (l *list) iterate(t *thread) source { return &listSource{l: l, mods: l.mods, last: -1} }

type listSource struct {
	l        *list
	at, last int
	mods     int
}

func (s *listSource) hasNext() bool { return s.at != len(s.l.items) }

func (s *listSource) next(t *thread) object {
	if s.mods != s.l.mods {
		throwPlain(classConcurrent)
	}
	if s.at >= len(s.l.items) {
		throwPlain(classNoSuchElement)
	}
	s.last = s.at
	s.at++
	t.step()
	return s.l.items[s.last]
}

func (s *listSource) remove(t *thread) {
	if s.l.kind == fixedSize {
		throw(classUnsupported, "remove")
	}
	if s.l.kind >= immutable {
		throwPlain(classUnsupported)
	}
	if s.last < 0 {
		throwPlain(classIllegalState)
	}
	if s.mods != s.l.mods {
		throwPlain(classConcurrent)
	}
	s.l.removeAt(t, s.last)
	s.at, s.last, s.mods = s.last, -1, s.l.mods
}

// set is a Set: the keys of a map.
type set struct {
	of       *class
	m        mapping
	readOnly bool
	bare     bool // and to remove an element is refused once it is found
}

func (s *set) class() *class { return s.of }
func (s *set) size() int     { return s.m.size() }

func (s *set) text(t *thread) *str { return collectionText(t, s) }

func (s *set) hash(t *thread) int32 {
	defer t.nest()()
	var h int32
	for it := s.iterate(t); it.hasNext(); {
		h += hashOf(t, it.next(t))
	}
	return h
}

func (s *set) equals(t *thread, o object) bool {
	switch other := o.(type) {
	case *set:
		return equalSets(t, s, other)
	case *view:
		return other.what != viewValues && equalSets(t, s, other)
	}
	return false
}

func equalSets(t *thread, a, b collection) bool {
	if a.size() != b.size() {
		return false
	}
	defer t.nest()()
	for it := b.iterate(t); it.hasNext(); {
		if !a.contains(t, it.next(t)) {
			return false
		}
	}
	return true
}

func (s *set) contains(t *thread, o object) bool { return s.m.find(t, o) != nil }

func (s *set) changing() {
	if s.readOnly {
		throwPlain(classUnsupported)
	}
}

func (s *set) add(t *thread, o object) bool {
	s.changing()
	n := s.m.size()
	if tree, ok := s.m.(*treeMap); !ok || tree.find(t, o) == nil {
		s.m.put(t, o, boxTrue)
	}
	return s.m.size() > n
}

func (s *set) removeObject(t *thread, o object) bool {
	if s.bare && !s.contains(t, o) {
		return false
	}
	s.changing()
	return s.m.remove(t, o) != nil
}

func (s *set) clear(t *thread) {
	if s.bare && s.size() == 0 {
		return
	}
	s.changing()
	s.m.clear(t)
}

func (s *set) iterate(t *thread) source {
	return &keySource{entrySource: s.m.entries(t), readOnly: s.readOnly}
}

// keySource yields the keys of a map.
type keySource struct {
	entrySource
	readOnly bool
}

func (s *keySource) next(t *thread) object { return s.nextEntry(t).key }

func (s *keySource) remove(t *thread) {
	if s.readOnly {
		throwPlain(classUnsupported)
	}
	s.entrySource.remove(t)
}
