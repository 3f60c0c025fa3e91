// Package nodes runs several servers over one engine in a test, as nodes of a cluster. Each has its own store, server
// and port; they share only the engine. A test can pause a node, as if its process did not run, and kill a node
// without notice to the others.
package nodes

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/internal/tso"
	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/cluster"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/memory"
)

// Options configure the nodes.
type Options struct {
	Open   func(engine.Fold) engine.Engine // the engine that they share; nil: one in memory
	Lease  time.Duration                   // 0: 200 ms
	Down   time.Duration                   // after which a silent node is down; 0: a second
	Forget time.Duration                   // after which a node that is down is removed; 0: 10 minutes
	Apart  time.Duration                   // by which the clock of each node's machine is ahead of that of the node before
	Lag    time.Duration                   // of the clock that they share
	Server func(*server.Options)           // changes the options of each server
	Log    zerolog.Logger
}

// Cluster is some nodes, their engine and their clock.
type Cluster struct {
	Clock tso.Oracle // stands in for PD's: a test can change its leader

	t       testing.TB
	options Options
	opening sync.Once
	engine  engine.Engine
	nodes   []*Node
}

// Node is a server.
type Node struct {
	cluster *Cluster
	number  int
	address string

	access *access
	store  *store.Store
	server *server.Server
	ended  chan struct{} // is closed when the server does not serve any more
}

// clockStep is PD's default.
const clockStep = 50 * time.Millisecond

// RunT starts nodes, which are stopped when the test ends.
func RunT(t testing.TB, count int, o Options) *Cluster {
	t.Helper()
	if o.Lease == 0 {
		o.Lease = 200 * time.Millisecond
	}
	if o.Down == 0 {
		o.Down = time.Second
	}
	c := &Cluster{t: t, options: o, Clock: tso.Oracle{Step: clockStep, Lag: o.Lag}}
	t.Cleanup(func() {
		for _, n := range c.nodes {
			n.Stop()
		}
		if c.engine != nil {
			if err := c.engine.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	for range count {
		c.Add()
	}
	return c
}

// Add starts another node.
func (c *Cluster) Add() *Node {
	c.t.Helper()
	n := &Node{cluster: c, number: len(c.nodes), address: "127.0.0.1:0"}
	n.Start()
	c.nodes = append(c.nodes, n)
	return n
}

// Node returns a node: 0 is the first.
func (c *Cluster) Node(i int) *Node { return c.nodes[i] }

// Nodes returns all nodes.
func (c *Cluster) Nodes() []*Node { return c.nodes }

// open returns an access to the engine.
func (c *Cluster) open(fold engine.Fold) *access {
	c.opening.Do(func() {
		if c.options.Open != nil {
			c.engine = c.options.Open(fold)
		} else {
			c.engine = memory.Open(fold)
		}
	})
	return newAccess(c.engine, &c.Clock)
}

// Addr is the address that clients connect to.
func (n *Node) Addr() string { return n.address }

// Store is the store of the node.
func (n *Node) Store() *store.Store { return n.store }

// Running reports whether the node was started and neither stopped nor killed.
func (n *Node) Running() bool { return n.server != nil }

// Start starts the node at the address that it had before.
func (n *Node) Start() {
	t, c := n.cluster.t, n.cluster
	t.Helper()
	l, err := net.Listen("tcp", n.address)
	if err != nil {
		t.Fatal(err)
	}
	n.address = l.Addr().String()
	n.store, err = store.Open(store.Options{
		Engine: func(fold engine.Fold) (engine.Engine, error) {
			n.access = c.open(fold)
			return n.access, nil
		},
		System: server.SystemKeyspaces(),
		Now:    func() time.Time { return time.Now().Add(time.Duration(n.number) * c.options.Apart) },
		Log:    c.options.Log,
		Shared: &cluster.Options{
			Address: netip.MustParseAddrPort(n.address), Datacenter: "datacenter1", Rack: "rack1", Release: "test",
			Tokens: server.ClusterTokens, Lease: c.options.Lease, DownAfter: c.options.Down,
			ForgetAfter: c.options.Forget, Log: c.options.Log,
		},
	})
	if err != nil {
		_ = l.Close()
		t.Fatal(err)
	}
	o := server.Options{Store: n.store, Log: c.options.Log, Datacenter: "datacenter1", Rack: "rack1"}
	if c.options.Server != nil {
		c.options.Server(&o)
	}
	s, err := server.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	n.server, n.ended = s, ended
	go func() {
		defer close(ended)
		if err := s.Serve(l); err != nil && !errors.Is(err, server.ErrClosed) { // stopped before it began
			t.Error(err)
		}
	}()
}

// Pause stops the node as SIGSTOP would stop its process: nothing that it wants of the engine goes on, and no answer
// of the engine reaches it, until Resume.
func (n *Node) Pause() { n.access.pause() }

// Stopped returns how many writes have been stopped on their way to the engine.
func (n *Node) Stopped() int {
	n.access.mu.Lock()
	defer n.access.mu.Unlock()
	return n.access.stopped
}

// Resume lets a stopped node go on.
func (n *Node) Resume() { n.access.resume() }

// Kill ends the node at once: nothing that it wants of the engine is done any more, and the others are not told.
func (n *Node) Kill() {
	n.access.kill()
	n.end()
}

// Stop ends the node as it should end.
func (n *Node) Stop() {
	if n.Running() {
		n.access.resume()
		n.end()
	}
}

// end shuts the server and the store down.
func (n *Node) end() {
	gone, cancel := context.WithCancel(context.Background())
	if n.access.killed() {
		cancel()
	}
	_ = n.server.Shutdown(gone) // requests of a node that was killed are abandoned
	<-n.ended
	err := n.store.Close()
	if err != nil && !n.access.killed() {
		n.cluster.t.Error(err)
	}
	cancel()
	n.server = nil
}
