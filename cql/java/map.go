package java

import (
	"math/bits"
	"slices"
	"sort"
)

// mapping is a map of any kind. find returns nil if the key is not there.
type mapping interface {
	size() int
	find(t *thread, key object) *entry
	put(t *thread, key, value object) (old object)
	remove(t *thread, key object) *entry
	clear(t *thread)
	entries(t *thread) entrySource
}

// entry is an entry of a map.
type entry struct {
	key, value object
	code       int32  // the hash of the key, spread
	next       *entry // in its bucket
	before     *entry // in the order of a linked map
	after      *entry
}

func (*entry) class() *class { return classEntry }

func (e *entry) hash(t *thread) int32 {
	defer t.nest()()
	return hashOf(t, e.key) ^ hashOf(t, e.value)
}

func (e *entry) equals(t *thread, o object) bool {
	defer t.nest()()
	other, ok := o.(*entry)
	return ok && equalObjects(t, e.key, other.key) && equalObjects(t, e.value, other.value)
}

func (e *entry) text(t *thread) *str {
	defer t.nest()()
	var b builder
	b.add(t, t.textOf(e.key))
	b.addASCII(t, "=")
	b.add(t, t.textOf(e.value))
	return b.text(t)
}

// entrySource goes over the entries of a map.
type entrySource interface {
	hasNext() bool
	nextEntry(t *thread) *entry
	remove(t *thread)
}

// hashMap is Java's HashMap, with its buckets, as its order shows in results; a LinkedHashMap keeps the order of
// insertion.
type hashMap struct {
	linked     bool
	buckets    []*entry
	n          int
	threshold  int // the size at which it grows; before there are buckets, how many there will be
	head, tail *entry
	mods       int
}

// tableSize is the power of two that is at least n.
func tableSize(n int) int {
	if n <= 1 {
		return 1
	}
	return min(1<<bits.Len(uint(n-1)), 1<<30)
}

// newHashMap is a map with that capacity; a negative one is the default.
func newHashMap(linked bool, capacity int) *hashMap {
	m := &hashMap{linked: linked}
	if capacity >= 0 {
		m.threshold = tableSize(capacity)
	}
	return m
}

// reserve makes room as putAll does for that many entries.
func (m *hashMap) reserve(t *thread, n int) {
	if n == 0 {
		return
	}
	if m.buckets == nil {
		if wanted := int(float32(n)/0.75 + 1); wanted > m.threshold {
			m.threshold = tableSize(wanted)
		}
		return
	}
	for n > m.threshold && len(m.buckets) < 1<<30 {
		m.resize(t)
	}
}

func (m *hashMap) size() int { return m.n }

func spread(h int32) int32 { return h ^ int32(uint32(h)>>16) }

func (m *hashMap) find(t *thread, key object) *entry {
	if m.n == 0 {
		return nil
	}
	code := spread(hashOf(t, key))
	for e := m.buckets[int(code)&(len(m.buckets)-1)]; e != nil; e = e.next {
		t.step()
		if e.code == code && equalObjects(t, key, e.key) {
			return e
		}
	}
	return nil
}

func (m *hashMap) put(t *thread, key, value object) object {
	if m.buckets == nil {
		m.resize(t)
	}
	code := spread(hashOf(t, key))
	at := &m.buckets[int(code)&(len(m.buckets)-1)]
	for ; *at != nil; at = &(*at).next {
		t.step()
		if e := *at; e.code == code && equalObjects(t, key, e.key) {
			old := e.value
			e.value = value
			return old
		}
	}
	t.alloc(96)
	e := &entry{key: key, value: value, code: code}
	*at = e
	if m.linked {
		if e.before = m.tail; e.before == nil {
			m.head = e
		} else {
			e.before.after = e
		}
		m.tail = e
	}
	m.mods++
	if m.n++; m.n > m.threshold {
		m.resize(t)
	}
	return nil
}

// resize doubles the buckets. Entries keep their order within a bucket.
func (m *hashMap) resize(t *thread) {
	n := 2 * len(m.buckets)
	if n == 0 {
		if n = m.threshold; n == 0 {
			n = 16
		}
	}
	t.grow(n, 16)
	t.charge(m.n)
	old := m.buckets
	m.buckets = make([]*entry, n)
	m.threshold = n / 4 * 3
	if n < 4 {
		m.threshold = int(float32(n) * 0.75)
	}
	tails := make([]*entry, n)
	for _, e := range old {
		for e != nil {
			next := e.next
			e.next = nil
			i := int(e.code) & (n - 1)
			if tails[i] == nil {
				m.buckets[i] = e
			} else {
				tails[i].next = e
			}
			tails[i] = e
			e = next
		}
	}
}

func (m *hashMap) remove(t *thread, key object) *entry {
	if m.n == 0 {
		return nil
	}
	code := spread(hashOf(t, key))
	for at := &m.buckets[int(code)&(len(m.buckets)-1)]; *at != nil; at = &(*at).next {
		t.step()
		e := *at
		if e.code != code || !equalObjects(t, key, e.key) {
			continue
		}
		*at = e.next
		if m.linked {
			if e.before == nil {
				m.head = e.after
			} else {
				e.before.after = e.after
			}
			if e.after == nil {
				m.tail = e.before
			} else {
				e.after.before = e.before
			}
		}
		e.next, e.before, e.after = nil, nil, nil // so that an entry that is kept does not keep others
		m.n--
		m.mods++
		return e
	}
	return nil
}

func (m *hashMap) clear(t *thread) {
	m.mods++
	t.charge(len(m.buckets) / 8)
	clear(m.buckets)
	m.n, m.head, m.tail = 0, nil, nil
}

func (m *hashMap) entries(t *thread) entrySource {
	s := &hashSource{m: m, mods: m.mods, upcoming: m.head}
	if !m.linked {
		s.seek()
		t.charge(s.bucket / 8)
	}
	return s
}

type hashSource struct {
	m              *hashMap
	bucket         int // the next to look into
	upcoming, last *entry
	mods           int
}

// seek goes to the first entry of the next bucket that has one.
func (s *hashSource) seek() {
	for s.upcoming == nil && s.bucket < len(s.m.buckets) {
		s.upcoming = s.m.buckets[s.bucket]
		s.bucket++
	}
}

func (s *hashSource) hasNext() bool { return s.upcoming != nil }

func (s *hashSource) nextEntry(t *thread) *entry {
	if s.mods != s.m.mods {
		throwPlain(classConcurrent)
	}
	if s.upcoming == nil {
		throwPlain(classNoSuchElement)
	}
	e := s.upcoming
	s.last = e
	before := s.bucket
	if s.m.linked {
		s.upcoming = e.after
	} else {
		s.upcoming = e.next
		s.seek()
	}
	t.charge(1 + (s.bucket-before)/8)
	return e
}

func (s *hashSource) remove(t *thread) {
	if s.last == nil {
		throwPlain(classIllegalState)
	}
	if s.mods != s.m.mods {
		throwPlain(classConcurrent)
	}
	s.m.remove(t, s.last.key)
	s.last, s.mods = nil, s.m.mods
}

// treeMap is a TreeMap: entries in the order of their keys.
type treeMap struct {
	sorted []*entry
	order  *comparator // nil: the natural order
	mods   int
}

func (m *treeMap) size() int { return len(m.sorted) }

func (m *treeMap) compare(t *thread, a, b object) int {
	if m.order != nil {
		return m.order.compareTwo(t, a, b)
	}
	return compareObjects(t, a, b)
}

// place is where a key is or would be, and whether it is there.
func (m *treeMap) place(t *thread, key object) (int, bool) {
	if len(m.sorted) == 0 {
		m.compare(t, key, key) // refuses null and objects that cannot be ordered
	}
	found := false
	i := sort.Search(len(m.sorted), func(i int) bool {
		c := m.compare(t, key, m.sorted[i].key)
		found = found || c == 0
		return c <= 0
	})
	return i, found
}

func (m *treeMap) find(t *thread, key object) *entry {
	if len(m.sorted) == 0 && key != nil {
		return nil
	}
	if i, ok := m.place(t, key); ok {
		return m.sorted[i]
	}
	return nil
}

func (m *treeMap) put(t *thread, key, value object) object {
	i, ok := m.place(t, key)
	if ok {
		old := m.sorted[i].value
		m.sorted[i].value = value
		return old
	}
	t.alloc(96)
	t.charge((len(m.sorted) - i) / 8)
	m.sorted = append(m.sorted, nil)
	copy(m.sorted[i+1:], m.sorted[i:])
	m.sorted[i] = &entry{key: key, value: value}
	m.mods++
	return nil
}

func (m *treeMap) remove(t *thread, key object) *entry {
	i, ok := m.place(t, key)
	if !ok {
		return nil
	}
	return m.removeAt(t, i)
}

func (m *treeMap) removeAt(t *thread, i int) *entry {
	e := m.sorted[i]
	t.charge((len(m.sorted) - i) / 8)
	m.sorted = slices.Delete(m.sorted, i, i+1)
	m.mods++
	return e
}

func (m *treeMap) clear(*thread) {
	m.sorted = nil
	m.mods++
}

func (m *treeMap) entries(t *thread) entrySource { return &treeSource{m: m, mods: m.mods, last: -1} }

type treeSource struct {
	m        *treeMap
	at, last int
	mods     int
}

func (s *treeSource) hasNext() bool { return s.at < len(s.m.sorted) }

func (s *treeSource) nextEntry(t *thread) *entry {
	if s.at >= len(s.m.sorted) && s.mods == s.m.mods {
		throwPlain(classNoSuchElement)
	}
	if s.mods != s.m.mods {
		throwPlain(classConcurrent)
	}
	t.step()
	s.last = s.at
	s.at++
	return s.m.sorted[s.last]
}

func (s *treeSource) remove(t *thread) {
	if s.last < 0 {
		throwPlain(classIllegalState)
	}
	if s.mods != s.m.mods {
		throwPlain(classConcurrent)
	}
	s.m.removeAt(t, s.last)
	s.at, s.last, s.mods = s.last, -1, s.m.mods
}

// mapObject is a Map.
type mapObject struct {
	mapping
	of       *class
	readOnly bool
	bare     bool // and to remove a key is refused once it is found
}

func (m *mapObject) class() *class { return m.of }

func (m *mapObject) hash(t *thread) int32 {
	defer t.nest()()
	var h int32
	for s := m.entries(t); s.hasNext(); {
		h += s.nextEntry(t).hash(t)
	}
	return h
}

func (m *mapObject) equals(t *thread, o object) bool {
	other, ok := o.(*mapObject)
	if !ok || m.size() != other.size() {
		return false
	}
	defer t.nest()()
	for s := m.entries(t); s.hasNext(); {
		e := s.nextEntry(t)
		found := other.find(t, e.key)
		if found == nil || !equalObjects(t, e.value, found.value) {
			return false
		}
	}
	return true
}

func (m *mapObject) text(t *thread) *str {
	defer t.nest()()
	var b builder
	b.addASCII(t, "{")
	first := true
	for s := m.entries(t); s.hasNext(); first = false {
		if !first {
			b.addASCII(t, ", ")
		}
		e := s.nextEntry(t)
		for i, o := range []object{e.key, e.value} {
			if i == 1 {
				b.addASCII(t, "=")
			}
			if o == object(m) {
				b.addASCII(t, "(this Map)")
			} else {
				b.add(t, t.textOf(o))
			}
		}
	}
	b.addASCII(t, "}")
	return b.text(t)
}

func (m *mapObject) changing() {
	if m.readOnly {
		throwPlain(classUnsupported)
	}
}

// viewWhat tells the views of a map apart.
type viewWhat uint8

const (
	viewKeys viewWhat = iota
	viewValues
	viewEntries
)

// view is keySet(), values() or entrySet() of a map.
type view struct {
	m    *mapObject
	what viewWhat
}

func (v *view) class() *class {
	if v.what == viewValues {
		return classCollection
	}
	return classSet
}

func (v *view) size() int           { return v.m.size() }
func (v *view) text(t *thread) *str { return collectionText(t, v) }

func (v *view) hash(t *thread) int32 {
	if v.what == viewValues {
		return 1
	}
	defer t.nest()()
	var h int32
	for s := v.iterate(t); s.hasNext(); {
		h += hashOf(t, s.next(t))
	}
	return h
}

func (v *view) equals(t *thread, o object) bool {
	if v.what == viewValues {
		return o == object(v)
	}
	switch other := o.(type) {
	case *set:
		return equalSets(t, v, other)
	case *view:
		return other.what != viewValues && equalSets(t, v, other)
	}
	return false
}

func (v *view) contains(t *thread, o object) bool {
	switch v.what {
	case viewKeys:
		return v.m.find(t, o) != nil
	case viewEntries:
		e, ok := o.(*entry)
		if !ok {
			return false
		}
		found := v.m.find(t, e.key)
		return found != nil && equalObjects(t, e.value, found.value)
	}
	for s := v.iterate(t); s.hasNext(); {
		if equalObjects(t, o, s.next(t)) {
			return true
		}
	}
	return false
}

func (v *view) add(*thread, object) bool {
	throwPlain(classUnsupported)
	return false
}

func (v *view) removeObject(t *thread, o object) bool {
	if v.m.bare && !v.contains(t, o) {
		return false
	}
	v.m.changing()
	if v.what == viewKeys {
		return v.m.remove(t, o) != nil
	}
	for s := v.iterate(t); s.hasNext(); {
		if equalObjects(t, o, s.next(t)) {
			s.remove(t)
			return true
		}
	}
	return false
}

func (v *view) clear(t *thread) {
	if v.m.bare && v.size() == 0 {
		return
	}
	v.m.changing()
	v.m.clear(t)
}

func (v *view) iterate(t *thread) source { return &viewSource{v.m.entries(t), v} }

type viewSource struct {
	entrySource
	v *view
}

func (s *viewSource) next(t *thread) object {
	e := s.nextEntry(t)
	switch s.v.what {
	case viewKeys:
		return e.key
	case viewValues:
		return e.value
	}
	return e
}

func (s *viewSource) remove(t *thread) {
	s.v.m.changing()
	s.entrySource.remove(t)
}

// comparator is a Comparator.
type comparator struct {
	identity
	kind    orderKind
	reverse bool
}

type orderKind uint8

const (
	naturalOrder orderKind = iota
	ignoringCase
)

func (*comparator) class() *class                     { return classComparator }
func (c *comparator) equals(_ *thread, o object) bool { return o == object(c) }
func (c *comparator) text(t *thread) *str             { return plainText(t, c) }

func (c *comparator) compareTwo(t *thread, a, b object) int {
	if c.reverse {
		a, b = b, a
	}
	if c.kind == ignoringCase {
		checkCast(a, classString.typ())
		checkCast(b, classString.typ())
		return compareIgnoringCase(t, value{r: a}.str(), value{r: b}.str())
	}
	return compareObjects(t, a, b)
}
