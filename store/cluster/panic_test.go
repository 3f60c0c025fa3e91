package cluster

import (
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// panicking are definitions whose questions panic for a while.
type panicking struct {
	fixed
	armed atomic.Bool
}

func (p *panicking) Settled() bool {
	if p.armed.Load() {
		panic("planted")
	}
	return true
}

// text is a log.
type text struct {
	mu  sync.Mutex
	all strings.Builder
}

func (l *text) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(line)
}

func (l *text) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// TestTickPanics panics when a node renews its lease: the node loses the lease, has it again when the panics end, and
// is closed.
func TestTickPanics(t *testing.T) {
	source := newClocked()
	log, definitions := new(text), new(panicking)
	n, err := Join(t.Context(), source, Options{
		Address: netip.MustParseAddrPort("192.0.2.1:1"), Lease: 200 * time.Millisecond, DownAfter: time.Second,
		Log: zerolog.New(log),
	})
	if err == nil {
		err = n.Start(definitions)
	}
	if err != nil {
		t.Fatal(err)
	}
	definitions.armed.Store(true)
	for n.Holds() {
		time.Sleep(time.Millisecond)
	}
	if all := log.String(); strings.Count(all, "panic: planted") != 1 || !strings.Contains(all, "panicking).Settled") {
		t.Errorf("the log does not have the panic once, with its stack: %s", all)
	}
	definitions.armed.Store(false)
	if err := n.Await(t.Context()); err != nil {
		t.Error(err)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}
