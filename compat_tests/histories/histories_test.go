package histories

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/cqld/cqld/compat_tests/process"
	"github.com/cqld/cqld/server/cqltest"
	"github.com/cqld/cqld/store/engine"
)

var (
	rounds  = flag.Int("rounds", 2, "how many histories of each kind are checked")
	seconds = flag.Float64("seconds", 0.3, "how long clients run for a history; on disk between two kills")
	seed    = flag.Uint64("seed", 0, "of what clients do; 0: another one each time")
)

// maxCheck is how long the search for an order may take.
const maxCheck = time.Minute

// session runs the clients for a time, or until the server is gone, and adds to the history.
func (r *recorder) session(ctx context.Context, t *testing.T, addr string, dying func() bool) {
	t.Helper()
	end := time.Now().Add(time.Duration(*seconds * float64(time.Second)))
	failed := make([]error, conditionalClients+plainClients)
	var running sync.WaitGroup
	for i := range conditionalClients {
		w := &worker{id: i, recorder: r, random: rand.New(rand.NewPCG(*seed, rand.Uint64()))}
		if *seed != 0 {
			w.random = rand.New(rand.NewPCG(*seed, uint64(i)))
		}
		running.Go(func() { failed[i] = w.run(ctx, addr, end, dying) })
	}
	for i := range plainClients {
		running.Go(func() { failed[conditionalClients+i] = runPlain(ctx, addr, firstPlainKey+i, end, dying) })
	}
	running.Wait()
	if err := errors.Join(failed...); err != nil {
		t.Fatal(err)
	}
}

// check looks for an order of the history. It returns the key of a partition that has none, or -1.
func (r *recorder) check(t *testing.T) (wrong int) {
	t.Helper()
	wrong = -1
	applied := 0
	for _, part := range model.Partition(r.all) {
		for _, o := range part {
			if o.Output.(answer).applied {
				applied++
			}
		}
		switch porcupine.CheckOperationsTimeout(model, part, maxCheck) {
		case porcupine.Illegal:
			wrong = part[0].Input.(request).key
		case porcupine.Unknown:
			t.Logf("no order was found or excluded within %v", maxCheck)
		}
	}
	t.Logf("%d requests, %d writes applied", len(r.all), applied)
	if applied == 0 {
		t.Error("no write was applied")
	}
	return wrong
}

func never() bool { return false }

// TestMemory checks histories of a server in memory.
func TestMemory(t *testing.T) {
	s := cqltest.RunT(t)
	if err := create(t.Context(), s.Addr()); err != nil {
		t.Fatal(err)
	}
	r := &recorder{began: time.Now()}
	for range *rounds {
		r.session(t.Context(), t, s.Addr(), never)
	}
	if key := r.check(t); key >= 0 {
		t.Errorf("no order of these requests explains their answers:\n%s", printHistory(r.all, key))
	}
}

// TestKilled checks histories of a server on disk that is killed while clients write to it, and started again.
func TestKilled(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "cqld")
	if err := process.Build(binary); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	r := &recorder{began: time.Now()}
	for round := range *rounds + 1 {
		p, err := process.Start(binary, "serve", "--listen", "127.0.0.1:0", "--data", data)
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			if err := create(t.Context(), p.Addr); err != nil {
				t.Fatal(errors.Join(err, p.Kill()))
			}
		}
		var dying atomic.Bool
		killed := make(chan error, 1)
		go func() {
			time.Sleep(time.Duration((0.3 + 0.7*rand.Float64()) * *seconds * float64(time.Second)))
			dying.Store(true)
			killed <- p.Kill()
		}()
		r.session(t.Context(), t, p.Addr, dying.Load)
		if err := <-killed; err != nil {
			t.Fatal(err)
		}
	}
	if key := r.check(t); key >= 0 {
		t.Errorf("no order of these requests explains their answers:\n%s", printHistory(r.all, key))
	}
}

// unguarded is an engine whose updates read a snapshot and commit later, so that others come in between.
type unguarded struct{ engine.Engine }

// collecting is a transaction that keeps what is written.
type collecting struct {
	engine.Reader
	ops []engine.Op
}

func (c *collecting) add(k engine.OpKind, key, value []byte) {
	own := engine.Op{Kind: k, Key: append([]byte(nil), key...), Value: append([]byte(nil), value...)}
	c.ops = append(c.ops, own)
}

func (c *collecting) Put(key, value []byte)   { c.add(engine.Put, key, value) }
func (c *collecting) Delete(key []byte)       { c.add(engine.Delete, key, nil) }
func (c *collecting) Merge(key, delta []byte) { c.add(engine.Merge, key, delta) }

// Update breaks the contract.
func (u unguarded) Update(_ context.Context, _ []byte, fn func(engine.Txn) error, done func(error)) {
	go func() {
		c := &collecting{}
		err := u.View(func(r engine.Reader) error {
			c.Reader = r
			return fn(c)
		})
		if err != nil || len(c.ops) == 0 {
			done(err)
			return
		}
		u.Commit(c.ops, done)
	}()
}

// TestUnguarded has the check find that conditional writes read outside their guard.
func TestUnguarded(t *testing.T) {
	s := cqltest.RunT(t, cqltest.WithEngine(func(e engine.Engine) engine.Engine { return unguarded{e} }))
	if err := create(t.Context(), s.Addr()); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		r := &recorder{began: time.Now()}
		r.session(t.Context(), t, s.Addr(), never)
		if r.check(t) >= 0 {
			return
		}
		if err := empty(t.Context(), s.Addr()); err != nil {
			t.Fatal(err)
		}
	}
	t.Error("nothing was found")
}
