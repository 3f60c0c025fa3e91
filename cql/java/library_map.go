package java

func (t *thread) newView(m *mapObject, what viewWhat) value {
	t.alloc(32)
	return reference(&view{m: m, what: what})
}

func mapClass(c *class, head string, linked bool) declaration {
	made := func(t *thread, capacity int) *mapObject {
		t.alloc(128)
		return &mapObject{mapping: newHashMap(linked, capacity), of: c}
	}
	return declaration{c, head, []native{
		{c.simple() + "()", fixed, func(t *thread, _ []value) value { return reference(made(t, -1)) }},
		{c.simple() + "(int)", fixed, func(t *thread, a []value) value {
			checkCapacity(a[0].int())
			return reference(made(t, a[0].int()))
		}},
		{c.simple() + "(Map<K, V>)", asItGoes, func(t *thread, a []value) value {
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
	for s := from.entries(t); s.hasNext(); {
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
