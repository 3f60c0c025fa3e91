package tikv

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/cqld/cqld/cluster/tikv/tikvtest"
	"github.com/cqld/cqld/store/engine"
)

// TestUpdatesTogether has updates wait for a guard that another one has. They run in their order, in one transaction:
// what those that fail have written is not there, and each of the others sees what the ones before it have written.
func TestUpdatesTogether(t *testing.T) {
	c := tikvtest.New(t, 1)
	e := open(t, c.Connect(t))
	guard, key := []byte("g"), []byte("a")
	began, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	outcomes := make(chan error, 1)
	go e.Update(t.Context(), [][]byte{guard}, func(x engine.Txn) error {
		once.Do(func() { close(began) })
		<-goOn
		x.Put(key, []byte("0"))
		return nil
	}, func(err error) { outcomes <- err })
	<-began
	add := func(x engine.Txn) error {
		n, err := strconv.Atoi(value(t, x, "a"))
		x.Put(key, []byte(strconv.Itoa(n+1)))
		return err
	}
	wrong := errors.New("wrong")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	err := engine.Update(canceled, e, guard, func(engine.Txn) error { panic("an update runs whose context has ended") })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("an update whose context has ended ends with %v", err)
	}
	waiting := []struct {
		fn   func(engine.Txn) error
		want error
	}{
		{add, nil},
		{func(x engine.Txn) error {
			x.Put(key, []byte("100"))
			return wrong
		}, wrong},
		{func(x engine.Txn) error {
			x.Put([]byte("b"), bytes.Repeat([]byte{1}, maxValue+1))
			return nil
		}, engine.ErrTooLarge},
		{add, nil},
		{add, nil},
	}
	var ended sync.WaitGroup
	for i, w := range waiting {
		ended.Go(func() {
			if err := engine.Update(t.Context(), e, guard, w.fn); !errors.Is(err, w.want) {
				t.Errorf("update %d ends with %v, want %v", i, err, w.want)
			}
		})
		for waitingFor(e, guard) <= i {
			time.Sleep(time.Millisecond)
		}
	}
	before := c.Requests.Load()
	close(goOn)
	ended.Wait()
	must(t, <-outcomes)
	made := c.Requests.Load() - before
	expect(t, "the sum", value(t, e, "a"), "3")
	expect(t, "what was too large", value(t, e, "b"), "")
	// A read and a commit in two phases of the first update, of those behind it up to the one that is too large, and of
	// the others.
	if made > 9 {
		t.Errorf("%d updates make %d requests", 1+len(waiting), made)
	}
}

// waitingFor is how many updates wait for a guard.
func waitingFor(e *Engine, guard []byte) int {
	e.guards.mu.Lock()
	defer e.guards.mu.Unlock()
	return len(e.guards.held[string(guard)].waiting)
}
