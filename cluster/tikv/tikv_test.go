package tikv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/tikvrpc"

	"github.com/cqld/cqld/cluster/tikv/tikvtest"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens an engine of a cluster, which is closed with the test if the test has not closed it.
func open(t *testing.T, store *tikv.KVStore) *Engine {
	t.Helper()
	o := Options{Prefix: "test", KeepVersions: true, Patience: 6 * time.Second, Log: zerolog.Nop()}
	e, err := Open(store, o, enginetest.Union)
	must(t, err)
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func put(key, value string) engine.Op {
	return engine.Op{Kind: engine.Put, Key: []byte(key), Value: []byte(value)}
}

func merge(key, delta string) engine.Op {
	return engine.Op{Kind: engine.Merge, Key: []byte(key), Value: []byte(delta)}
}

func del(key string) engine.Op { return engine.Op{Kind: engine.Delete, Key: []byte(key)} }

// commit commits and waits.
func commit(e *Engine, ops ...engine.Op) error {
	done := make(chan error, 1)
	e.Commit(ops, func(err error) { done <- err })
	return <-done
}

// value is what a key holds, "" for nothing.
func value(t *testing.T, r engine.Reader, key string) (v string) {
	t.Helper()
	_, err := r.Get([]byte(key), func(b []byte) error {
		v = string(b)
		return nil
	})
	must(t, err)
	return v
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// harness runs the suite on clusters that prepare makes ready.
func harness(prepare func(*testing.T, *tikvtest.Cluster)) enginetest.Harness {
	var mu sync.Mutex
	clusters := map[engine.Engine]*tikvtest.Cluster{}
	open := func(t *testing.T, c *tikvtest.Cluster, fold engine.Fold) engine.Engine {
		e, err := Open(c.Connect(t), Options{Prefix: "test", Log: zerolog.Nop()}, fold)
		must(t, err)
		mu.Lock()
		defer mu.Unlock()
		clusters[e] = c
		return e
	}
	return enginetest.Harness{
		Open: func(t *testing.T, fold engine.Fold) engine.Engine {
			c := tikvtest.New(t, 3)
			prepare(t, c)
			return open(t, c, fold)
		},
		Reopen: func(t *testing.T, e engine.Engine, fold engine.Fold) engine.Engine {
			must(t, e.Close())
			return open(t, clusters[e], fold)
		},
	}
}

func TestContract(t *testing.T) {
	t.Parallel()
	enginetest.Run(t, harness(func(*testing.T, *tikvtest.Cluster) {}))
}

// TestContractWhileRegionsMove runs the suite while regions split between and inside of rows, leaders change, and
// stores stop for a moment.
func TestContractWhileRegionsMove(t *testing.T) {
	t.Parallel()
	every := 10 * time.Millisecond
	if full {
		every = 2 * time.Millisecond
	}
	enginetest.Run(t, harness(func(t *testing.T, c *tikvtest.Cluster) {
		ctx, stop := context.WithCancel(context.Background())
		var moving sync.WaitGroup
		moving.Go(func() {
			random := rand.New(rand.NewPCG(1, 2))
			for splits := 0; ctx.Err() == nil; sleep(ctx, every) {
				switch n := random.IntN(20); {
				case n < 4 && splits < 40:
					key := fmt.Sprintf("%c%d", 'a'+rune(random.IntN(26)), random.IntN(10))
					at := appendKey([]byte("test\x00d"), []byte(key[:1+random.IntN(2)]))
					if random.IntN(2) == 0 {
						at = append(at, 1) // between a value and its deltas
					}
					c.SplitAt(at)
					splits++
				case n < 19:
					c.MoveLeader(random)
				default:
					c.StopForAMoment(random, 5*time.Millisecond)
				}
			}
		})
		t.Cleanup(func() {
			stop()
			moving.Wait()
		})
	}))
}

// TestKeys encodes keys, compares them and takes them apart again.
func TestKeys(t *testing.T) {
	keys := []string{
		"\x00", "\x00\x00", "\x00\x00\x00\x00\x00\x00\x00\x00", "\x00\x00\x00\x00\x00\x00\x00\x00\x00", "\x00\xff",
		"a", "a\x00", "aaaaaaa", "aaaaaaaa", "aaaaaaaa\x00", "aaaaaaaaa", "aaaaaaab", "b", "\xff", "\xff\xff\xff\xff\xff\xff\xff\xff\xff",
	}
	slices.Sort(keys)
	var before []byte
	for _, key := range keys {
		encoded := appendKey(nil, []byte(key))
		if bytes.Compare(before, encoded) >= 0 {
			t.Errorf("%q is not behind the key before it", key)
		}
		delta := deltaKey(slices.Clone(encoded), 7)
		if before = delta; bytes.Compare(delta, after(encoded)) >= 0 {
			t.Errorf("a delta of %q is not in front of what is behind it", key)
		}
		got, rest, err := splitKey(nil, delta)
		if err != nil || string(got) != key || len(rest) != stampBytes {
			t.Errorf("%q is taken apart as %q and %d bytes, error %v", key, got, len(rest), err)
		}
	}
	for _, broken := range []string{"", "a", "aaaaaaaa", "aaaaaaaa\xff", "aaaaaaaa\x01"} {
		if _, _, err := splitKey(nil, []byte(broken)); err == nil {
			t.Errorf("%q is taken apart", broken)
		}
	}
}

// stored is how many keys of the cluster an engine has in its area of data.
func stored(t *testing.T, e *Engine) (n int) {
	t.Helper()
	ts, err := e.now()
	must(t, err)
	from, to := e.bounds(nil, nil)
	it, err := e.cluster.GetSnapshot(ts).Iter(from, to)
	must(t, err)
	for ; it.Valid(); n++ {
		must(t, it.Next())
	}
	return n
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

// TestDeltasAreCompacted merges into a key until a reader has its deltas written as a value.
func TestDeltasAreCompacted(t *testing.T) {
	c := tikvtest.New(t, 1)
	e := open(t, c.Connect(t))
	var want []string
	for i := range 2 * manyDeltas {
		word := fmt.Sprintf("w%02d", i)
		must(t, commit(e, merge("k", word)))
		want = append(want, word)
	}
	if n := stored(t, e); n != 2*manyDeltas {
		t.Errorf("%d keys are stored before a read, want %d", n, 2*manyDeltas)
	}
	expect(t, "merged", value(t, e, "k"), strings.Join(want, " "))
	until(t, "the compaction", func() bool { return stored(t, e) == 1 })
	expect(t, "compacted", value(t, e, "k"), strings.Join(want, " "))
	must(t, commit(e, put("k", "new")))
	must(t, commit(e, merge("k", "word")))
	expect(t, "replaced", value(t, e, "k"), "new word")
	must(t, commit(e, del("k")))
	if n := stored(t, e); n != 0 {
		t.Errorf("%d keys are stored after the deletion", n)
	}
}

// TestRoundTrips counts the requests that reads and writes make, to stores and for timestamps.
func TestRoundTrips(t *testing.T) {
	c := tikvtest.New(t, 1)
	e := open(t, c.Connect(t))
	must(t, commit(e, put("a", "1"), merge("a", "2")))
	for _, x := range []struct {
		name               string
		run                func() error
		stores, timestamps int64
	}{
		{"get", func() error { value(t, e, "a"); return nil }, 1, 0},
		{"view", func() error { return e.View(func(r engine.Reader) error { value(t, r, "a"); return nil }) }, 1, 1},
		// The cluster in this process has neither commits with one request nor such that are answered before the
		// second, and asks for a timestamp in between.
		{"merge", func() error { return commit(e, merge("a", "3")) }, 2, 2},
		{"put", func() error { return commit(e, put("a", "3")) }, 2, 2},
		{"update", func() error {
			return engine.Update(context.Background(), e, []byte("g"), func(x engine.Txn) error {
				value(t, x, "a")
				x.Merge([]byte("a"), []byte("4"))
				return nil
			})
		}, 3, 2},
	} {
		must(t, x.run()) // regions are looked up
		stores, timestamps := c.Requests.Load(), c.Timestamps.Load()
		must(t, x.run())
		stores, timestamps = c.Requests.Load()-stores, c.Timestamps.Load()-timestamps
		if stores != x.stores || timestamps != x.timestamps {
			t.Errorf("%s makes %d requests and asks for %d timestamps, want %d and %d",
				x.name, stores, timestamps, x.stores, x.timestamps)
		}
	}
}

// TestSeveralEngines counts under guards on three engines of one cluster at a time, and merges into the same keys.
func TestSeveralEngines(t *testing.T) {
	const workers, each = 2, 8 // the cluster in this process lets those wait long who do not get a lock
	c := tikvtest.New(t, 3)
	var working sync.WaitGroup
	var all []*Engine
	for n := range 3 {
		e := open(t, c.Connect(t))
		all = append(all, e)
		for w := range workers {
			working.Go(func() {
				for i := range each {
					err := errors.New("not yet")
					for err != nil && !t.Failed() {
						err = engine.Update(context.Background(), e, []byte("count"), func(x engine.Txn) error {
							n, _ := strconv.Atoi(value(t, x, "count"))
							x.Put([]byte("count"), []byte(strconv.Itoa(n+1)))
							return nil
						})
						if err != nil && !errors.Is(err, engine.ErrConflict) {
							t.Error(err)
						}
					}
					if err := commit(e, merge("words", fmt.Sprintf("%d.%d.%d", n, w, i))); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	working.Wait()
	for _, e := range all {
		expect(t, "count", value(t, e, "count"), strconv.Itoa(len(all)*workers*each))
		if n := len(strings.Fields(value(t, e, "words"))); n != len(all)*workers*each {
			t.Errorf("%d words are left, want %d", n, len(all)*workers*each)
		}
	}
}

// TestMergeBehindPut has an update get its guard when a value was put that its transaction began before. It reads the
// value, and what it merges counts on it.
func TestMergeBehindPut(t *testing.T) {
	c := tikvtest.New(t, 1)
	e := open(t, c.Connect(t))
	update, err := e.begin()
	must(t, err)
	update.SetPessimistic(true)
	must(t, commit(e, put("a", "put")))
	ts, err := e.now()
	must(t, err)
	must(t, e.viewAt(ts, func(v *view) error {
		x := newTxn(v)
		expect(t, "what the update reads", value(t, x, "a"), "put")
		x.Merge([]byte("a"), []byte("merged"))
		return errors.Join(x.Err, x.stage(t.Context(), update), e.finish(update))
	}))
	expect(t, "a", value(t, e, "a"), "merged put")
}

// TestDeathBeforeCommit has an engine that loses its cluster between the two phases of a commit. It does not know how
// the commit ends, and another one sees all of it or nothing.
func TestDeathBeforeCommit(t *testing.T) {
	for _, lost := range []struct {
		name    string
		arrives bool // the request arrives, and its answer is lost
	}{{"the request", false}, {"the answer", true}} {
		t.Run(lost.name, func(t *testing.T) {
			t.Parallel()
			c := tikvtest.New(t, 3)
			c.SplitAt(appendKey([]byte("test\x00d"), []byte("b")))
			var dead atomic.Bool
			dying := open(t, c.ConnectThrough(t, func(r *tikvrpc.Request, send func() error) error {
				if !dead.Load() && r.Type == tikvrpc.CmdCommit {
					if lost.arrives {
						_ = send()
					}
					dead.Store(true)
				}
				if dead.Load() {
					return errors.New("the node is dead")
				}
				return send()
			}))
			survivor := open(t, c.Connect(t))
			must(t, commit(survivor, put("a", "old"), put("b", "old")))
			outcome := make(chan error, 1)
			dying.Commit([]engine.Op{put("a", "new"), put("b", "new")}, func(err error) { outcome <- err })
			until(t, "the death", dead.Load)
			want := map[bool]string{false: "old", true: "new"}[lost.arrives]
			expect(t, "b", value(t, survivor, "b"), want) // which resolves the locks
			expect(t, "a", value(t, survivor, "a"), want)
			must(t, commit(survivor, put("a", "newest"), put("b", "newest")))
			expect(t, "a", value(t, survivor, "a"), "newest")
			if err := <-outcome; !errors.Is(err, engine.ErrUnknown) {
				t.Errorf("the commit ends with %v", err)
			}
		})
	}
}

// TestStoreStops has commits and reads wait while the only store is down.
func TestStoreStops(t *testing.T) {
	c := tikvtest.New(t, 1)
	e := open(t, c.Connect(t))
	must(t, commit(e, put("a", "1")))
	c.Stop(0)
	outcome := make(chan error, 1)
	e.Commit([]engine.Op{merge("a", "2")}, func(err error) { outcome <- err })
	requests := c.Requests.Load()
	until(t, "a repetition", func() bool { return c.Requests.Load() > requests+3 })
	select {
	case err := <-outcome:
		t.Fatalf("a commit ends while the store is down: %v", err)
	default:
	}
	c.Start(0)
	must(t, <-outcome)
	expect(t, "a", value(t, e, "a"), "1 2")
}

// TestPrefixes has two engines beside each other that do not see each other's keys.
func TestPrefixes(t *testing.T) {
	c := tikvtest.New(t, 1)
	one := open(t, c.Connect(t))
	other, err := Open(c.Connect(t), Options{Prefix: "test2"}, enginetest.Union)
	must(t, err)
	defer func() { must(t, other.Close()) }()
	must(t, commit(one, put("a", "1")))
	must(t, commit(other, put("b", "2")))
	must(t, other.DeleteRange(nil, nil))
	expect(t, "one", value(t, one, "a"), "1")
	if _, err := Open(c.Connect(t), Options{Prefix: "a/b"}, enginetest.Union); err == nil {
		t.Error("a prefix with a slash is taken")
	}
}

// TestAwaitStores waits for the only store, until it is there or there is no time left.
func TestAwaitStores(t *testing.T) {
	c := tikvtest.New(t, 1)
	e := open(t, c.Connect(t))
	c.Stop(0)
	gone, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := e.AwaitStores(gone); err == nil {
		t.Error("a store that is down is there")
	}
	waited := make(chan error, 1)
	go func() { waited <- e.AwaitStores(t.Context()) }()
	c.Start(0)
	must(t, <-waited)
}
