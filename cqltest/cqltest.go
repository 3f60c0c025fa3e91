// Package cqltest runs a CQL server inside a test: in memory, on a free port, gone when the test ends.
//
//	func TestUsers(t *testing.T) {
//		srv := cqltest.RunT(t)
//		srv.LoadDir(t, "schema") // creates keyspace shop and its tables
//		session := gocqltest.Session(t, srv, func(c *gocql.ClusterConfig) { c.Keyspace = "shop" })
//		...
//	}
//
// Any driver can connect to Addr, with datacenter1 as its local datacenter. Session opens a session of any driver in a
// new keyspace. Packages gocqltest and gocqlv2test do so for the two lines of gocql; they are separate modules, so
// that this one requires no driver. Servers share nothing: hundreds of them may run at the same time.
//
// # Tests that have used a Cassandra
//
// A function that connects to the address of a Cassandra connects to Addr instead, or to Host and Port; the rest of
// the driver's configuration may stay. The server is one node of datacenter1 that needs no password. It answers at
// every consistency level, whatever the replication factor. WithStrictReplicas makes it refuse levels as a single
// Cassandra does, and Ring gives keyspaces the replicas that they ask for.
//
// Where TestMain starts the Cassandra for all tests, Start starts a server for all of them. Tests that had to run one
// after the other, or emptied tables for the next one, can each have a server: with RunT where they make the schema,
// or from a Template that has it.
//
// # Failed tests
//
// A test that has failed prints the last statements that its servers have run, without bound values unless
// WithFailureLog asks for them. With the flag -cqltest.keep, or CQLTEST_KEEP=1 where packages without this flag are
// tested too, its server stays up until the process is interrupted, and its address is printed: go test shows it only
// with -v.
//
// # Controlling the server
//
//   - Exec, LoadDir and LoadFS run statements and files of them; Query returns rows to compare, without a driver.
//   - Template makes a schema once for a package, and each test begins with it.
//   - Clock moves, stops and starts the clock of CQL: a TTL of an hour takes no time.
//   - Snapshot, Restore and Fork keep the state of the server, go back to it and start others from it, in a time that
//     does not depend on the number of rows.
//   - Faults make requests fail as in a cluster in trouble, while others go on with real data: every error of the
//     protocol with all its fields, delays, lost connections and answers, before or after a write is applied.
//   - Advise compares the tables and the recorded statements with rules of data modelling for Cassandra.
//   - Ring and RingOf make the server a cluster for drivers, whose nodes a test stops, slows and partitions: levels
//     that replicas cannot reach are answered Unavailable, or time out; recorded statements have their coordinators.
//   - Function makes a function of the test a user's function. Functions in Java need package cqltest/functions.
//   - Record and Statements list the statements of clients, with the partitions, rows and tombstones that they read;
//     AssertNoFullScan and AssertPrepared fail the test for statements that a cluster would suffer from.
//   - Dump and Diff print the definitions and rows as CQL, and compare two servers.
//
// Faults and the record of statements cost something only while there are any, and so does an interceptor
// (WithInterceptor), a function of the test.
package cqltest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/internal/certificates"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/server/control"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/memory"
)

// Server is a running server. RunT, Start and Fork start one.
type Server struct {
	server *server.Server
	store  *store.Store

	address  *net.TCPAddr // of the first node
	served   chan error
	stopOnce sync.Once
	recent   *server.RecentStatements

	controls  *control.Controls
	setup     setupConn
	stopped   atomic.Bool
	keyspaces atomic.Int64 // that Keyspace has created

	authority    *certificates.Authority // nil: connections are not encrypted
	serverTLS    *tls.Config
	setupOptions client.Options // of the connection of Exec and Query
}

// patience is how long a request may take. Machines that run many tests at a time are slow, and that is no reason for
// one of them to see a timeout.
const patience = time.Minute

// stopTime is how long requests that are running when the test ends may take to finish.
const stopTime = 5 * time.Second

// RunT starts a server on 127.0.0.1 that stops with the test. It fails the test if that is impossible.
func RunT(t testing.TB, options ...Option) *Server {
	t.Helper()
	return run(t, nil, options)
}

// Start starts a server that belongs to no test, for a TestMain whose tests share one. It runs until Stop is called,
// and logs warnings and errors to the standard error.
func Start(options ...Option) (*Server, error) {
	c := newConfig(os.Stderr)
	for _, o := range options {
		o(&c)
	}
	s, err := start(c)
	if err != nil {
		return nil, fmt.Errorf("start a CQL server: %w", err)
	}
	return s, nil
}

// newConfig is the configuration without options.
func newConfig(log io.Writer) inside.Config {
	return inside.Config{Clock: control.NewClock(nil), Server: server.Options{
		Log: zerolog.New(log).Level(zerolog.WarnLevel),
		Limits: server.Limits{
			ReadTimeout: patience, RangeTimeout: patience, WriteTimeout: patience, CounterTimeout: patience,
			CASTimeout: patience,
		},
	}}
}

// run is RunT for a server that begins with the state of a snapshot; nil: it begins empty.
func run(t testing.TB, from *Snapshot, options []Option) *Server {
	t.Helper()
	c := newConfig(zerolog.NewTestWriter(t))
	if _, benchmark := t.(*testing.B); !benchmark {
		c.Shown = shownStatements
	}
	if from != nil {
		c.From, c.Clock, c.Nodes = from.held, from.held.Clock.Copy(), from.nodes
	}
	for _, o := range options {
		o(&c)
	}
	s, err := start(c)
	if err != nil {
		t.Fatalf("start a CQL server: %v", err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			s.showFailure(t)
		}
		ctx, cancel := context.WithTimeout(context.Background(), stopTime)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Errorf("stop the CQL server: %v", err)
		}
	})
	return s
}

// start opens a store in memory and serves it.
func start(c inside.Config) (*Server, error) {
	settings, err := guardrail.Read(c.Settings)
	if err != nil {
		return nil, err
	}
	c.Server.Settings = settings
	o := store.Options{Now: c.Clock.Now, Log: c.Server.Log, Engine: opener(&c), System: server.SystemKeyspaces()}
	if c.From != nil {
		o.Image = c.From.Image
	}
	if c.Controls {
		o.System = append(o.System, control.Keyspace())
	}
	data, err := store.Open(o)
	if err != nil {
		return nil, err
	}
	c.Server.Store = data
	s := &Server{store: data, served: make(chan error, 1)}
	if c.Shown > 0 {
		s.recent = server.NewRecentStatements(c.Shown, c.ShownValues)
		c.Server.Recent = s.recent
	}
	if err := s.useTLS(&c); err != nil {
		return nil, closeStore(data, err)
	}
	nodes, err := openRing(&c)
	if err != nil {
		return nil, closeStore(data, err)
	}
	if nodes != nil {
		c.Server.Ring = &server.RingOptions{Nodes: nodes}
	}
	if s.server, err = server.New(c.Server); err != nil {
		for _, n := range nodes {
			err = errors.Join(err, n.Listener.Close())
		}
		return nil, closeStore(data, err)
	}
	s.controls = control.New(s.server, data, c.Clock)
	if c.Controls {
		s.controls.Register()
	}
	if c.Record {
		s.Record()
	}
	if c.Inspector != nil {
		s.server.Inspect(c.Inspector)
	}
	if c.Intercept != nil {
		s.controls.SetInterceptor(c.Intercept)
	}
	if err := s.serve(nodes); err != nil {
		return nil, closeStore(data, err)
	}
	inside.Put(s, inside.Parts{Server: s.server, Store: data})
	return s, nil
}

// opener opens the engine in memory, and wraps it if the test wants that.
func opener(c *inside.Config) func(engine.Fold) (engine.Engine, error) {
	return func(fold engine.Fold) (engine.Engine, error) {
		var own engine.Engine = memory.Open(fold)
		if c.From != nil {
			var err error
			if own, err = c.From.Image.Engine(fold); err != nil {
				return nil, err
			}
		}
		if c.Engine == nil {
			return own, nil
		}
		return interposed{c.Engine(own), own.(engine.Snapshotter)}, nil
	}
}

// interposed is an engine that a test has wrapped. Snapshots are taken of the wrapped engine.
type interposed struct {
	engine.Engine
	wrapped engine.Snapshotter
}

// Snapshot returns a snapshot of the wrapped engine.
func (i interposed) Snapshot() engine.Snapshot { return i.wrapped.Snapshot() }

// Restore restores a snapshot of the wrapped engine.
func (i interposed) Restore(s engine.Snapshot) error { return i.wrapped.Restore(s) }

// closeStore closes the store of a server that could not be started, and returns the reason.
func closeStore(data *store.Store, reason error) error {
	if err := data.Close(); err != nil {
		return err
	}
	return reason
}

// Addr is the address to connect to, as host:port.
func (s *Server) Addr() string { return s.address.String() }

// Host is the host of Addr: 127.0.0.1.
func (s *Server) Host() string { return s.address.IP.String() }

// Port is the port of Addr.
func (s *Server) Port() int { return s.address.Port }

// Stop stops the server: requests under way are answered, then connections and store are closed. ctx bounds how long
// that may take. Only the first call does anything. The end of the test calls it for a server of RunT.
func (s *Server) Stop(ctx context.Context) (err error) {
	s.stopOnce.Do(func() {
		s.stopped.Store(true)
		s.setup.close()
		defer inside.Forget(s)
		err = s.server.Shutdown(ctx)
		if served := <-s.served; err == nil && !errors.Is(served, server.ErrClosed) {
			err = served
		}
		if closed := s.store.Close(); err == nil {
			err = closed
		}
	})
	return err
}
