package server_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/store/engine"
)

// heldEngine is an engine that tests make slow: what takes long then takes no processor.
type heldEngine struct {
	engine.Engine
	perKey  atomic.Int64 // nanoseconds that a scan waits at each key
	scanned atomic.Int64 // keys at which it did
	keys    atomic.Int64 // that scans have come to

	mu       sync.Mutex
	holding  bool
	stalling bool
	held     []func() // what tells the outcomes of commits and updates, and begins updates
}

// withHeldEngine makes a server use one.
func withHeldEngine() (*heldEngine, cqltest.Option) {
	h := new(heldEngine)
	return h, inside.Engine(func(e engine.Engine) engine.Engine {
		h.Engine = e
		return h
	})
}

// slow makes scans wait at each key.
func (h *heldEngine) slow(perKey time.Duration) { h.perKey.Store(int64(perKey)) }

func (h *heldEngine) View(fn func(engine.Reader) error) error {
	return h.Engine.View(func(r engine.Reader) error { return fn(heldReader{r, h}) })
}

type heldReader struct {
	engine.Reader
	engine *heldEngine
}

func (r heldReader) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	return r.Reader.Scan(start, end, o, func(key, value []byte) (bool, error) {
		r.engine.keys.Add(1)
		if d := r.engine.perKey.Load(); d > 0 {
			time.Sleep(time.Duration(d))
			r.engine.scanned.Add(1)
		}
		return fn(key, value)
	})
}

// hold keeps back what commits and updates come to until release is called.
func (h *heldEngine) hold() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holding = true
}

// stall keeps updates from beginning until release is called.
func (h *heldEngine) stall() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stalling = true
}

func (h *heldEngine) release() {
	h.mu.Lock()
	held := h.held
	h.holding, h.stalling, h.held = false, false, nil
	h.mu.Unlock()
	for _, tell := range held {
		tell()
	}
}

func (h *heldEngine) Commit(ops []engine.Op, done func(error)) {
	h.Engine.Commit(ops, h.tell(done))
}

func (h *heldEngine) Update(ctx context.Context, guards [][]byte, fn func(engine.Txn) error, done func(error)) {
	update := func() { h.Engine.Update(ctx, guards, fn, h.tell(done)) }
	h.mu.Lock()
	if h.stalling {
		guards = slices.Clone(guards)
		for i, guard := range guards {
			guards[i] = bytes.Clone(guard)
		}
		h.held = append(h.held, update)
		h.mu.Unlock()
		return
	}
	h.mu.Unlock()
	update()
}

// tell returns what tells an outcome, at once or when it is not held any more.
func (h *heldEngine) tell(done func(error)) func(error) {
	return func(err error) {
		h.mu.Lock()
		if h.holding {
			h.held = append(h.held, func() { done(err) })
			h.mu.Unlock()
			return
		}
		h.mu.Unlock()
		done(err)
	}
}

// fill makes ks.wide (p int, c int, n int, v blob, PRIMARY KEY (p, c)) with so many rows of a size in partition 1.
func fill(t *testing.T, s *cqltest.Server, rows, size int) {
	t.Helper()
	c := connect(t, s, client.Options{Version: protocol.V4})
	defer c.Close()
	run(t, c, "CREATE TABLE ks.wide (p int, c int, n int, v blob, PRIMARY KEY (p, c))")
	insert := prepare(t, c, "INSERT INTO ks.wide (p, c, n, v) VALUES (1, ?, ?, ?)", "")
	v := types.Value{Bytes: make([]byte, size)}
	perBatch := max(1, min(100, 128<<10/(size+40)))
	for i := 0; i < rows; {
		var children []protocol.BatchChild
		for ; i < rows && len(children) < perBatch; i++ {
			children = append(children, protocol.BatchChild{
				Prepared: true, ID: insert.ID, Values: []types.Value{intValue(i), intValue(i), v},
			})
		}
		if _, err := c.Batch(testContext(t), protocol.UnloggedBatch, children, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// sendAll sends n times a statement without reading an answer, until the connection ends.
func sendAll(t *testing.T, c *client.Conn, n int, m protocol.Request) {
	t.Helper()
	for i := range n {
		if err := c.Send(testContext(t), int16(i), 0, nil, m); err != nil {
			return
		}
	}
}

// queryOf is a QUERY with a page size, if that is not 0.
func queryOf(pageSize int32, format string, args ...any) *protocol.Query {
	m := &protocol.Query{Query: fmt.Sprintf(format, args...)}
	m.Parameters.Consistency = cqlerr.One
	if pageSize > 0 {
		m.Parameters.Flags, m.Parameters.PageSize = protocol.WithPageSize, pageSize
	}
	return m
}

func values(v ...types.Value) []types.Value { return v }
