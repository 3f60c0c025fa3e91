package statements

import "testing"

func cached(c *cache[string], keys ...string) (got string) {
	for _, key := range keys {
		if c.get(key) != nil {
			got += key
		}
	}
	return got
}

// What was used lately stays when there is no room.
func TestStatementCacheEvicts(t *testing.T) {
	c := newCache[string](300)
	put := func(keys ...string) {
		for _, key := range keys {
			c.put(key, &Statement{Text: key, size: 100})
		}
	}
	put("a", "b", "c")
	if got := cached(c, "a", "c"); got != "ac" {
		t.Fatalf("kept %q", got)
	}
	put("d")
	if got := cached(c, "a", "b", "c", "d"); got != "acd" {
		t.Errorf("kept %q, want b gone", got)
	}
	put("d", "d")
	if n, bytes, evicted := c.usage(); n != 3 || bytes != 300 || evicted != 1 {
		t.Errorf("%d statements of %d bytes, %d evicted", n, bytes, evicted)
	}
	c.put("large", &Statement{size: 301})
	if got := cached(c, "a", "c", "d", "large"); got != "acd" {
		t.Errorf("kept %q", got)
	}
	for _, key := range []string{"e", "f", "g", "h", "i"} {
		put(key)
		if got := cached(c, key); got != key {
			t.Errorf("%s was not kept", key)
		}
	}
}

func TestStatementCacheDrops(t *testing.T) {
	c := newCache[string](1000)
	a, b := &Statement{Text: "a", size: 10}, &Statement{Text: "b", size: 10}
	c.put("a", a)
	c.put("b", b)
	c.put("b2", b)
	c.drop("a", b) // somebody put another one there
	if got := cached(c, "a", "b", "b2"); got != "abb2" {
		t.Errorf("kept %q", got)
	}
	c.drop("a", a)
	c.prune(func(st *Statement) bool { return st == b })
	if n, bytes, _ := c.usage(); n != 0 || bytes != 0 {
		t.Errorf("%d statements of %d bytes", n, bytes)
	}
	c.put("a", a)
	if got := cached(c, "a"); got != "a" {
		t.Error("the cache does not work when it was empty")
	}
}

func TestStatementCacheLookupAllocatesNothing(t *testing.T) {
	c := newCache[ID](1000)
	id := idOf("SELECT", "")
	c.put(id, &Statement{size: 10})
	b := id[:]
	if n := testing.AllocsPerRun(100, func() { c.get(ID(b)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A statement under two keys is counted once, as long as it is under one of them.
func TestStatementCacheCountsOnce(t *testing.T) {
	c := newCache[string](300)
	st := &Statement{size: 200}
	c.put("a", st)
	c.put("b", st)
	if n, bytes, evicted := c.usage(); n != 2 || bytes != 200 || evicted != 0 {
		t.Errorf("%d places of %d bytes, %d evicted", n, bytes, evicted)
	}
	c.drop("a", st)
	if _, bytes, _ := c.usage(); bytes != 200 {
		t.Errorf("%d bytes after the first place is given up", bytes)
	}
	c.put("b", st)
	c.drop("b", st)
	if _, bytes, _ := c.usage(); bytes != 0 {
		t.Errorf("%d bytes in the end", bytes)
	}
}
