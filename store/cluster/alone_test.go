package cluster

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fixed are definitions that nobody changes.
type fixed struct{}

func (fixed) Version() (number uint64, schema [16]byte) { return 0, [16]byte{} }
func (fixed) Follow() error                             { return nil }
func (fixed) Settled() bool                             { return true }

// startNode starts a node on a port.
func startNode(t *testing.T, source *clocked, port uint16) *Node {
	t.Helper()
	o := Options{
		Address: netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, 1}), port),
		Lease:   200 * time.Millisecond, DownAfter: time.Second,
	}
	n, err := Join(t.Context(), source, o)
	if err == nil {
		err = n.Start(fixed{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// answering takes timestamps of a node that are answered at once, until it is stopped.
type answering struct {
	last    atomic.Int64
	stopped chan struct{}
	ended   sync.WaitGroup
}

func answer(n *Node) *answering {
	a := &answering{stopped: make(chan struct{})}
	a.ended.Go(func() {
		for {
			select {
			case <-a.stopped:
				return
			default:
			}
			if ts, ok := n.ownTimestamp(); ok && n.isAlone() {
				a.last.Store(ts)
			}
			time.Sleep(50 * time.Microsecond)
		}
	})
	return a
}

func (a *answering) stop() {
	close(a.stopped)
	a.ended.Wait()
}

// TestAlone has a node that is alone answer at once, while others join and go.
func TestAlone(t *testing.T) {
	source := newClocked()
	first := startNode(t, source, 1)
	defer first.Close()
	a := answer(first)
	defer a.stop()
	for i := range uint16(5) {
		for end := time.Now().Add(time.Minute); !first.isAlone(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the first node waits though it is alone")
			}
		}
		source.clock.Transfer(time.Duration(i) * 30 * time.Millisecond) // and stands
		second := startNode(t, source, 2+i%2)
		answered := a.last.Load()
		if ts, err := second.Timestamp(t.Context()); err != nil || ts <= answered {
			t.Errorf("a node has joined, and takes %d, %v when another one has answered %d", ts, err, answered)
		}
		if first.isAlone() {
			t.Error("the first node answers at once though it is not alone")
		}
		if err := second.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAloneDecides has a node that is alone answer writes whose timestamps are not its own: of decisions, each later
// than the row that it has read, or of clients. The next timestamp of the node is later, and that of a node that joins.
func TestAloneDecides(t *testing.T) {
	source := newClocked()
	source.clock.Transfer(time.Hour) // and stands
	first := startNode(t, source, 1)
	defer first.Close()
	for end := time.Now().Add(time.Minute); !first.isAlone(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the first node waits though it is alone")
		}
	}
	answered := int64(0)
	for range 10 {
		ts, err := first.Timestamp(t.Context())
		if err != nil || ts <= answered {
			t.Fatalf("the node takes %d, %v when it has answered %d", ts, err, answered)
		}
		for answered = ts; answered < ts+ownMicrosecond; answered++ {
			if !first.HasPassed(first.After(answered)) {
				t.Fatal("a node that is alone waits")
			}
		}
	}
	if later := answered + first.options.Lease.Microseconds(); first.HasPassed(later) {
		t.Error("a timestamp has passed that is later than those that the node may take")
	}
	source.clock.Transfer(first.ownLimit()) // so that the second node need not wait for an hour
	second := startNode(t, source, 2)
	defer second.Close()
	if ts, err := second.Timestamp(t.Context()); err != nil || ts <= answered {
		t.Errorf("a node has joined, and takes %d, %v when another one has answered %d", ts, err, answered)
	}
}

// TestAloneEnded has a node join while the record of another one says that this is alone, which was killed.
func TestAloneEnded(t *testing.T) {
	source := newClocked()
	first := startNode(t, source, 1)
	a := answer(first)
	first.cancel() // it renews its lease no more
	first.loop.Wait()
	second := startNode(t, source, 2)
	defer second.Close()
	answered := a.last.Load()
	if first.Holds() {
		t.Error("the node has joined before the lease of the first one has ended")
	}
	if ts, err := second.Timestamp(t.Context()); err != nil || ts <= answered {
		t.Errorf("the node takes %d, %v when the first one has answered %d", ts, err, answered)
	}
	a.stop()
	if first.Own().Alone == second.Own().Alone {
		t.Error("the second node takes itself to be alone while the first one may come back")
	}
}

// TestRejoin has a node come back that was down for so long that its record is removed.
func TestRejoin(t *testing.T) {
	source := newClocked()
	first := startNode(t, source, 1)
	defer first.Close()
	second := startNode(t, source, 2)
	defer second.Close()
	first.ticking.Lock() // as if the process were stopped
	for id := first.own.HostID; ; time.Sleep(time.Millisecond) {
		all, err := readMembers(source)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range second.Members() {
			if s.HostID == id && !s.Up {
				second.forget([]State{s}, monotonic()+time.Hour)
			}
		}
		if len(all) == 1 && all[0].Alone {
			break
		}
	}
	first.ticking.Unlock()
	for end := time.Now().Add(time.Minute); !first.Holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the first node does not come back")
		}
	}
	if second.isAlone() {
		t.Error("the second node answers at once when the first one is back")
	}
}
