// Package cqltest runs a CQL server inside a test: in memory, on a free port, gone when the test ends.
//
//	func TestUsers(t *testing.T) {
//		srv := cqltest.RunT(t)
//		session, err := gocql.NewCluster(srv.Addr()).CreateSession()
//		...
//	}
//
// Any driver can connect; nothing but the address is needed. Time can be moved with WithClock, and
// WithInterceptor lets a test delay requests or have them fail as a cluster in trouble would:
//
//	srv := cqltest.RunT(t, cqltest.WithInterceptor(func(ctx context.Context, r server.Intercepted) error {
//		if r.Opcode == "EXECUTE" {
//			return cqlerr.NotEnoughReplicas(cqlerr.Quorum, 2, 1)
//		}
//		return nil
//	}))
package cqltest

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/memory"
)

// Server is a running server with its store.
type Server struct {
	*server.Server
	Store *store.Store

	listener net.Listener
	served   chan error
	stopOnce sync.Once
}

// config is what the options say.
type config struct {
	server server.Options
	now    func() time.Time
	engine func(engine.Engine) engine.Engine
}

// Option changes what RunT starts.
type Option func(*config)

// WithClock makes the server take the time from now: for write times, TTLs and functions such as now().
func WithClock(now func() time.Time) Option { return func(c *config) { c.now = now } }

// WithInterceptor lets the test see, delay and fail requests.
func WithInterceptor(i server.Interceptor) Option {
	return func(c *config) { c.server.Intercept = i }
}

// WithStrictReplicas makes the server answer Unavailable where a consistency level needs more replicas than one node,
// as a Cassandra of one node does.
func WithStrictReplicas() Option { return func(c *config) { c.server.StrictReplicas = true } }

// WithLimits bounds what clients can make the server hold.
func WithLimits(l server.Limits) Option { return func(c *config) { c.server.Limits = l } }

// WithEngine lets the test stand between the store and its engine, to delay what is read and written or have it fail.
func WithEngine(wrap func(engine.Engine) engine.Engine) Option {
	return func(c *config) { c.engine = wrap }
}

// WithLog makes the server log. Without it, it logs warnings and errors to the test.
func WithLog(log zerolog.Logger) Option { return func(c *config) { c.server.Log = log } }

// stopTime is how long requests that are running when the test ends may take to finish.
const stopTime = 5 * time.Second

// RunT starts a server on 127.0.0.1 that stops with the test. It fails the test if that is impossible.
func RunT(t testing.TB, options ...Option) *Server {
	t.Helper()
	c := config{server: server.Options{Log: zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.WarnLevel)}}
	for _, o := range options {
		o(&c)
	}
	s, err := start(c)
	if err != nil {
		t.Fatalf("start a CQL server: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTime)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Errorf("stop the CQL server: %v", err)
		}
	})
	return s
}

// start opens a store in memory and serves it.
func start(c config) (*Server, error) {
	data, err := store.Open(store.Options{
		Engine: func(fold engine.Fold) (engine.Engine, error) {
			if c.engine == nil {
				return memory.Open(fold), nil
			}
			return c.engine(memory.Open(fold)), nil
		},
		System: server.SystemKeyspaces(),
		Now:    c.now,
		Log:    c.server.Log,
	})
	if err != nil {
		return nil, err
	}
	c.server.Store = data
	s := &Server{Store: data, served: make(chan error, 1)}
	if s.Server, err = server.New(c.server); err != nil {
		return nil, closeStore(data, err)
	}
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, closeStore(data, err)
	}
	go func() { s.served <- s.Serve(s.listener) }()
	return s, nil
}

// closeStore closes the store of a server that could not be started, and returns why it could not.
func closeStore(data *store.Store, reason error) error {
	if err := data.Close(); err != nil {
		return err
	}
	return reason
}

// Addr is the address to connect to, as host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Stop stops the server before the test ends: requests under way are answered, then connections and store
// are closed. ctx bounds how long that may take. Only the first call does anything.
func (s *Server) Stop(ctx context.Context) (err error) {
	s.stopOnce.Do(func() {
		err = s.Shutdown(ctx)
		if served := <-s.served; err == nil && !errors.Is(served, server.ErrClosed) {
			err = served
		}
		if closed := s.Store.Close(); err == nil {
			err = closed
		}
	})
	return err
}
