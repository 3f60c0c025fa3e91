package badger

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// cached is what a cache has for a key in a snapshot, "" for nothing.
func cached(c *cache, key string, version uint64) string {
	v, _ := c.get(hashKey([]byte(key)), []byte(key), version)
	return string(v)
}

// fillTwice gives a cache a value as two reads do: the first one is only noted.
func fillTwice(c *cache, hash uint64, key, value []byte, version uint64) {
	c.fill(hash, key, value, version)
	c.fill(hash, key, value, version)
}

func TestCacheVersions(t *testing.T) {
	c := newCache(1 << 20)
	fill := func(key, value string, version uint64) {
		fillTwice(c, hashKey([]byte(key)), []byte(key), []byte(value), version)
	}
	drop := func(key string, version uint64) { c.drop([]byte(key), version) }
	expect := func(what, key string, version uint64, want string) {
		t.Helper()
		if got := cached(c, key, version); got != want {
			t.Errorf("%s: %s at %d is %q, want %q", what, key, version, got, want)
		}
	}
	drop("a", 10)
	fill("a", "0", 9)
	expect("read before the last write", "a", 10, "")
	c.fill(hashKey([]byte("a")), []byte("a"), []byte("1"), 10)
	expect("read once", "a", 10, "")
	fill("a", "1", 10)
	expect("read again", "a", 10, "1")
	expect("an older snapshot", "a", 9, "")
	drop("a", 11)
	expect("changed", "a", 11, "")
	fill("a", "1", 10)
	expect("a slow reader", "a", 12, "")
	fill("a", strings.Repeat("x", maxCached+1), 13)
	expect("too long", "a", 13, "")
	fill("a", "3", 13)
	expect("read after the change", "a", 13, "3")
}

// TestCacheCollision gives two keys the same hash.
func TestCacheCollision(t *testing.T) {
	c := newCache(1 << 20)
	get := func(key string) string {
		v, _ := c.get(7, []byte(key), 1)
		return string(v)
	}
	fillTwice(c, 7, []byte("a"), []byte("1"), 1)
	if a, b := get("a"), get("b"); a != "1" || b != "" {
		t.Errorf("a is %q and b %q", a, b)
	}
	fillTwice(c, 7, []byte("b"), []byte("2"), 1)
	if a, b := get("a"), get("b"); a != "" || b != "2" {
		t.Errorf("a is %q and b %q", a, b)
	}
}

// TestCacheRoom fills a cache many times over, and reads one key again and again. Keys that are read once change
// nothing.
func TestCacheRoom(t *testing.T) {
	const size = 2 << 20
	c := newCache(size)
	if n := len(c.shards); n != 4 {
		t.Fatalf("%d shards, want 4", n)
	}
	hot := strings.Repeat("hot", 10)
	fillTwice(c, hashKey([]byte(hot)), []byte(hot), []byte("1"), 1)
	for i := range 50000 {
		key := fmt.Appendf(nil, "once %d", i)
		c.fill(hashKey(key), key, make([]byte, i%1000+1), 1)
	}
	if n := cachedKeys(c); n > 50 { // whose marks are those of others
		t.Errorf("%d keys that were read once are kept", n)
	}
	for i := range 50000 {
		key := fmt.Appendf(nil, "key %d", i)
		fillTwice(c, hashKey(key), key, make([]byte, i%1000+1), 1)
		if got := cached(c, hot, 1); got != "1" {
			t.Fatalf("after %d keys what is always used is %q", i, got)
		}
	}
	used := 0
	for i := range c.shards {
		s := &c.shards[i]
		sum := 0
		for j := range s.slots {
			if x := &s.slots[j]; x.key != nil {
				sum += x.size()
			}
		}
		if sum != s.size || sum > s.room || len(s.index)+len(s.unused) != len(s.slots) {
			t.Errorf("shard %d counts %d of %d bytes, has %d; %d slots, %d used, %d not",
				i, s.size, s.room, sum, len(s.slots), len(s.index), len(s.unused))
		}
		used += sum
	}
	if used < size*9/10 {
		t.Errorf("only %d of %d bytes are used", used, size)
	}
}

// cachedKeys is how many keys a cache has.
func cachedKeys(c *cache) (n int) {
	for i := range c.shards {
		n += len(c.shards[i].index)
	}
	return n
}

// TestReadsAreCached checks which reads put their value into the cache, and that a write drops it.
func TestReadsAreCached(t *testing.T) {
	e := openWith(t, Options{CacheSize: 1 << 20}, enginetest.Union)
	defer e.Close()
	expect := func(what, want string) {
		t.Helper()
		if got := cached(e.cache, "a", e.version.Load()); got != want {
			t.Errorf("%s: the cache has %q, want %q", what, got, want)
		}
	}
	a := []byte("a")
	write(t, e, engine.Op{Kind: engine.Merge, Key: a, Value: []byte("1")})
	expect("first write", "")
	s := e.Snapshot()
	if err := s.Scan(nil, nil, engine.ScanOptions{}, func(_, _ []byte) (bool, error) { return true, nil }); err != nil {
		t.Fatal(err)
	}
	expect("scan", "")
	get(t, s, "a")
	expect("one get", "")
	get(t, s, "a")
	expect("two gets", "1")
	write(t, e, engine.Op{Kind: engine.Merge, Key: a, Value: []byte("2")})
	expect("merge", "")
	get(t, s, "a")
	get(t, s, "a")
	expect("gets of an older snapshot", "")
	s.Release()
}

// TestFailedWrite takes the database away below the engine.
func TestFailedWrite(t *testing.T) {
	e := openWith(t, Options{CacheSize: 1 << 20}, enginetest.Union)
	write(t, e, engine.Op{Key: []byte("a"), Value: []byte("1")})
	s := e.Snapshot()
	get(t, s, "a")
	get(t, s, "a")
	if got := cached(e.cache, "a", ^uint64(0)); got != "1" {
		t.Fatalf("the cache has %q before", got)
	}
	if err := e.db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Write([]engine.Op{{Key: []byte("a"), Value: []byte("2")}}); !errors.Is(err, engine.ErrUnknown) {
		t.Errorf("write: %v", err)
	}
	if got := cached(e.cache, "a", ^uint64(0)); got != "" {
		t.Errorf("after a failed write the cache has %q", got)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
