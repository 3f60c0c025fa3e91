package histories

import (
	"context"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/cqld/cqld/compat_tests/process"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/internal/nodes"
	"github.com/cqld/cqld/store/engine"
)

var (
	rounds  = flag.Int("rounds", 2, "how many histories of each kind are checked")
	clients = flag.Int("clients", 8, "how many clients take part in a history")
	keys    = flag.Int("keys", 3, "how many partitions a history has")
	seconds = flag.Float64("seconds", 0.3, "how long clients run for a history; on disk between two kills")
	seed    = flag.Uint64("seed", 0, "of what clients do; 0: another one each time")
	at      = flag.String("at", "", "check histories of clients on the servers at these addresses, with commas between them")
)

// maxCheck is how long the search for an order may take.
const maxCheck = time.Minute

func newRecorder() *recorder {
	return &recorder{began: time.Now(), histories: map[int][]porcupine.Operation{}}
}

// session runs the clients for a time, or until their servers are gone, and adds to some histories. It calls began when
// all clients are connected, but for those whose servers may be gone already.
func (r *recorder) session(
	ctx context.Context, t *testing.T, addrs []string, began func(), dying func() bool, histories ...int,
) {
	t.Helper()
	workers := make([]*worker, *clients)
	for i := range workers {
		w := &worker{id: i, recorder: r, random: rand.New(rand.NewPCG(*seed, rand.Uint64())), histories: histories, seen: map[int]partition{}}
		if *seed != 0 {
			w.random = rand.New(rand.NewPCG(*seed, uint64(histories[0]**clients+i)))
		}
		workers[i] = w
	}
	each := func(do func(*worker) error) {
		t.Helper()
		failed := make([]error, len(workers))
		var running sync.WaitGroup
		for i, w := range workers {
			running.Go(func() { failed[i] = do(w) })
		}
		running.Wait()
		if err := errors.Join(failed...); err != nil {
			t.Fatal(err)
		}
	}
	each(func(w *worker) error {
		err := w.connect(ctx, addrs[w.id%len(addrs)], addrs[(w.id+1)%len(addrs)])
		w.absent = err != nil && dying()
		return unless(w.absent, err)
	})
	began()
	end := time.Now().Add(time.Duration(*seconds * float64(time.Second)))
	each(func(w *worker) error {
		defer w.disconnect()
		if w.absent {
			return nil
		}
		if w.id%plainShare == plainShare-1 {
			return w.runPlain(ctx, -1-w.id, end, dying)
		}
		return w.run(ctx, end, dying)
	})
}

// check looks for an order of a history, which it then forgets. It returns the operations of a partition that has no
// order, or none.
func (r *recorder) check(t *testing.T, number int) (wrong []porcupine.Operation) {
	t.Helper()
	all := r.histories[number]
	delete(r.histories, number)
	r.requests += len(all)
	for _, part := range model.Partition(all) {
		for _, o := range part {
			if o.Output.(answer).applied {
				r.applied++
			}
		}
		switch porcupine.CheckOperationsTimeout(model, part, maxCheck) {
		case porcupine.Illegal:
			wrong = part
		case porcupine.Unknown:
			r.undecided++
			t.Logf("no order was found or excluded within %v", maxCheck)
		}
	}
	return wrong
}

// mustCheck is check of a server that has to be linearizable.
func (r *recorder) mustCheck(t *testing.T, number int) {
	t.Helper()
	if wrong := r.check(t, number); wrong != nil {
		t.Errorf("no order of these requests explains their answers:\n%s", printHistory(wrong))
	}
}

// conclude prints the totals.
func (r *recorder) conclude(t *testing.T) {
	t.Helper()
	t.Logf("%d requests, %d writes applied, %d partitions undecided", r.requests, r.applied, r.undecided)
	if r.applied == 0 {
		t.Error("no write was applied")
	}
}

func never() bool { return false }

func nothing() {}

// TestMemory checks histories of a server in memory.
func TestMemory(t *testing.T) {
	s := cqltest.RunT(t)
	if err := create(t.Context(), s.Addr()); err != nil {
		t.Fatal(err)
	}
	r := newRecorder()
	for n := range *rounds {
		r.session(t.Context(), t, []string{s.Addr()}, nothing, never, n)
		r.mustCheck(t, n)
	}
	r.conclude(t)
}

// TestKilled checks histories of a server on disk that is killed while clients write to it, and started again. Each
// history goes on after one kill, beside the next history.
func TestKilled(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "cqld")
	if err := process.Build(binary); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	r := newRecorder()
	for n := range *rounds + 1 {
		p, err := process.Start(binary, "serve", "--listen", "127.0.0.1:0", "--data", data)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			if err := create(t.Context(), p.Addr); err != nil {
				t.Fatal(errors.Join(err, p.Kill()))
			}
		}
		var dying atomic.Bool
		killed := make(chan error, 1)
		kill := func() {
			time.Sleep(time.Duration((0.3 + 0.7*rand.Float64()) * *seconds * float64(time.Second)))
			dying.Store(true)
			killed <- p.Kill()
		}
		r.session(t.Context(), t, []string{p.Addr}, func() { go kill() }, dying.Load, n, max(n-1, 0))
		if err := <-killed; err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			r.mustCheck(t, n-1)
		}
	}
	r.conclude(t)
}

// TestNodes checks histories of clients on three nodes that share an engine. Nodes are stopped for longer than their
// leases, killed and started again meanwhile, and the leader of their clock changes again and again. Each history goes
// on after one kill, beside the next history.
func TestNodes(t *testing.T) {
	c := nodes.RunT(t, 3, nodes.Options{Lease: 100 * time.Millisecond, Apart: 2 * time.Second, Lag: 130 * time.Millisecond})
	if err := create(t.Context(), c.Node(0).Addr()); err != nil {
		t.Fatal(err)
	}
	var addrs []string
	for _, n := range c.Nodes() {
		addrs = append(addrs, n.Addr())
	}
	r := newRecorder()
	for n := range 2 * *rounds {
		var disturbed atomic.Bool
		over := make(chan struct{})
		victim, paused := c.Node(n%3), c.Node((n+1)%3)
		disturb := func() {
			defer close(over)
			span := time.Duration(*seconds * float64(time.Second))
			c.Clock.Transfer(rand.N(maxJump))
			time.Sleep(span / 3)
			disturbed.Store(true)
			paused.Pause()
			victim.Kill()
			time.Sleep(span / 4)
			c.Clock.Transfer(rand.N(maxJump))
			time.Sleep(span / 4)
			paused.Resume()
		}
		r.session(t.Context(), t, addrs, func() { go disturb() }, disturbed.Load, n, max(n-1, 0))
		<-over
		victim.Start()
		if n > 0 {
			r.mustCheck(t, n-1)
		}
	}
	r.conclude(t)
}

// maxJump is the most that PD's next leader begins later: its default tso-save-interval.
const maxJump = 5 * time.Second

// TestAt checks histories of clients on the servers at -at, which another program disturbs meanwhile. It ends with the
// standard input.
func TestAt(t *testing.T) {
	if *at == "" {
		t.Skip("-at names no servers")
	}
	addrs := strings.Split(*at, ",")
	if err := create(t.Context(), addrs[0]); err != nil {
		t.Fatal(err)
	}
	var over atomic.Bool
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		over.Store(true)
	}()
	r := newRecorder()
	n := 0
	for ; !over.Load(); n++ {
		r.session(t.Context(), t, addrs, nothing, always, n, max(n-1, 0))
		if n > 0 {
			r.mustCheck(t, n-1)
		}
		time.Sleep(pauseAt)
	}
	r.mustCheck(t, n-1)
	r.conclude(t)
}

// pauseAt is between two histories of TestAt, whose clients may find no server.
const pauseAt = 50 * time.Millisecond

func always() bool { return true }

// unguarded is an engine whose updates read a snapshot and commit later, so that other updates can come in between.
type unguarded struct{ engine.Engine }

// collecting is a transaction that collects its writes.
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
func (u unguarded) Update(_ context.Context, _ [][]byte, fn func(engine.Txn) error, done func(error)) {
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

// TestUnguarded checks that the test finds conditional writes that read outside their lock.
func TestUnguarded(t *testing.T) {
	s := cqltest.RunT(t, inside.Engine(func(e engine.Engine) engine.Engine { return unguarded{e} }))
	if err := create(t.Context(), s.Addr()); err != nil {
		t.Fatal(err)
	}
	r := newRecorder()
	for n, end := 0, time.Now().Add(3*time.Minute); time.Now().Before(end); n++ {
		r.session(t.Context(), t, []string{s.Addr()}, nothing, never, n)
		if r.check(t, n) != nil {
			t.Logf("found in history %d", n+1)
			return
		}
	}
	t.Error("nothing was found")
}
