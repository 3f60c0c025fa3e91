package badger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// TestTails does the same at random to an engine whose values all have tails and to the plainest engine: whatever is
// read on the way and after the folder is opened again is the same.
func TestTails(t *testing.T) {
	for _, size := range []int64{0, tinyCache, -1} {
		t.Run(fmt.Sprint("cache ", size), func(t *testing.T) {
			for seed := range uint64(4) {
				o := Options{LongValue: 1 + int(seed%3)*20, CacheSize: size}
				if seed%2 == 0 {
					o.Dir = t.TempDir()
				}
				x := tailsPlayer{
					r: rand.New(rand.NewPCG(seed, 1)), plain: enginetest.NewMemory(enginetest.Union, false),
					long: openWith(t, o, enginetest.Union),
				}
				for round := range 120 {
					x.write(t)
					x.compare(t)
					if o.Dir != "" && round%40 == 39 {
						must(t, x.long.Close())
						x.long = openWith(t, o, enginetest.Union)
						x.compare(t)
					}
				}
				must(t, x.long.DeleteRange([]byte("a"), []byte("c")))
				must(t, x.plain.DeleteRange([]byte("a"), []byte("c")))
				x.compare(t)
				must(t, x.long.DeleteRange(nil, nil))
				if n := keysIn(t, x.long, tailPrefix, tailsEnd); n > 0 {
					t.Errorf("%d tails are left of keys that are gone", n)
				}
				must(t, x.long.Close())
			}
		})
	}
}

// tailsPlayer plays with two engines.
type tailsPlayer struct {
	r     *rand.Rand
	plain engine.Engine
	long  *Engine
}

func (x *tailsPlayer) key() []byte { return []byte{'a' + byte(x.r.IntN(4)), '0' + byte(x.r.IntN(2))} }

func (x *tailsPlayer) word() []byte { return fmt.Appendf(nil, "w%03d", x.r.IntN(1000)) }

// op draws one operation, most often a merge.
func (x *tailsPlayer) op() engine.Op {
	op := engine.Op{Kind: engine.Merge, Key: x.key(), Value: x.word()}
	switch x.r.IntN(12) {
	case 0:
		op.Kind, op.Value = engine.Delete, nil
	case 1:
		op.Kind = engine.Put
	}
	return op
}

// write commits a few operations, together or one by one, or has an update do them and read in between.
func (x *tailsPlayer) write(t *testing.T) {
	var ops []engine.Op
	for range 1 + x.r.IntN(5) {
		ops = append(ops, x.op())
	}
	if x.r.IntN(3) > 0 {
		for _, e := range []engine.Engine{x.plain, x.long} {
			results := make(chan error, len(ops))
			if len(ops)%2 == 0 {
				e.Commit(ops, func(err error) { results <- err })
				must(t, <-results)
				continue
			}
			for i := range ops { // on one engine they are applied one after the other, perhaps in one batch
				e.Commit(ops[i:i+1], func(err error) { results <- err })
			}
			for range ops {
				must(t, <-results)
			}
		}
		return
	}
	var seen [2]string
	fails := x.r.IntN(4) == 0
	for i, e := range []engine.Engine{x.plain, x.long} {
		err := engine.Update(context.Background(), e, []byte("guard"), func(txn engine.Txn) error {
			seen[i] = ""
			for _, op := range ops {
				switch op.Kind {
				case engine.Put:
					txn.Put(op.Key, op.Value)
				case engine.Delete:
					txn.Delete(op.Key)
				case engine.Merge:
					txn.Merge(op.Key, op.Value)
				}
				seen[i] += dump(t, txn)
			}
			if fails {
				return errors.ErrUnsupported
			}
			return nil
		})
		if fails != (err != nil) {
			t.Fatal(err)
		}
	}
	if seen[0] != seen[1] {
		t.Fatalf("an update sees\n%s\ninstead of\n%s", seen[1], seen[0])
	}
}

// compare reads both engines in all ways.
func (x *tailsPlayer) compare(t *testing.T) {
	t.Helper()
	if want, got := dump(t, x.plain), dump(t, x.long); want != got {
		t.Fatalf("there is\n%s\ninstead of\n%s", got, want)
	}
}

// dump is what scans in both directions and gets show.
func dump(t *testing.T, r engine.Reader) string {
	t.Helper()
	var out strings.Builder
	for _, reverse := range []bool{false, true} {
		for _, keysOnly := range []bool{false, true} {
			for _, bounds := range [][2]string{{"", ""}, {"!", "z"}, {"b", "d"}, {"a0", "a1"}} {
				err := r.Scan([]byte(bounds[0]), []byte(bounds[1]), engine.ScanOptions{Reverse: reverse, KeysOnly: keysOnly},
					func(key, value []byte) (bool, error) {
						fmt.Fprintf(&out, "%s=%s ", key, value)
						return true, nil
					})
				must(t, err)
				out.WriteByte('\n')
			}
		}
	}
	for a := range 4 {
		for b := range 2 {
			key := []byte{'a' + byte(a), '0' + byte(b)}
			found, err := r.Get(key, func(value []byte) error {
				fmt.Fprintf(&out, "%s: %s\n", key, value)
				return nil
			})
			must(t, err)
			if !found {
				fmt.Fprintf(&out, "no %s\n", key)
			}
		}
	}
	return out.String()
}

// keysIn counts Badger's keys.
func keysIn(t *testing.T, e *Engine, start, end string) (n int) {
	t.Helper()
	err := e.View(func(r engine.Reader) error {
		return r.(*snapshot).scan([]byte(start), []byte(end), engine.ScanOptions{KeysOnly: true},
			func(_, _ []byte) (bool, error) {
				n++
				return true, nil
			})
	})
	must(t, err)
	return n
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestMergesAreCheap merges a few bytes into a value many times: what is folded for each does not grow with the value.
func TestMergesAreCheap(t *testing.T) {
	const n, size = 20000, 30
	folded := 0
	e := openWith(t, Options{}, func(_, existing, delta []byte) ([]byte, error) {
		folded += len(existing) + len(delta)
		return append(bytes.Clone(existing), delta...), nil
	})
	defer e.Close()
	delta := bytes.Repeat([]byte("x"), size)
	result := make(chan error, 1)
	for range n {
		e.Commit([]engine.Op{{Kind: engine.Merge, Key: []byte("key"), Value: delta}}, func(err error) { result <- err })
		must(t, <-result)
	}
	if folded/n > leastLong {
		t.Errorf("%d bytes are folded for each merge", folded/n)
	}
	found, err := e.Get([]byte("key"), func(value []byte) error {
		if len(value) != n*size {
			t.Errorf("the value has %d of %d bytes", len(value), n*size)
		}
		return nil
	})
	if !found || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
}
