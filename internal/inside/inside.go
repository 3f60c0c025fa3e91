// Package inside gives the tests of this repository access to the internals of a cqltest server, which cqltest does
// not export: its server.Server, its store, and more options.
//
// Options are functions on Config and are passed like the options of cqltest:
// cqltest.RunT(t, cqltest.WithAuth(), inside.Limits(limits)). Of returns the internals of a running server.
package inside

import (
	"context"
	"sync"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/server/control"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine"
)

// Config is the configuration of a server.
type Config struct {
	Server   server.Options
	Clock    *control.Clock
	Settings map[string]string

	Engine    func(engine.Engine) engine.Engine // wraps the engine in memory; nil: it is used as it is
	Intercept func(context.Context, *control.Request) control.Act
	Inspector server.Inspector // nil: there is none

	Record   bool // statements, from the start
	Controls bool // has the tables of keyspace cqld_control

	From   *control.Snapshot // nil: it begins empty
	Nodes  []server.RingNode // of the ring of the server that From is of; none: it has no ring
	Layout string            // of the ring; "": that of Nodes

	Shown       int  // statements that are shown of a test that fails
	ShownValues bool // and their bound values

	TLS                bool // connections are encrypted
	ClientCertificates bool // and clients show certificates
}

// Limits bounds the memory and the time that clients can take.
func Limits(l server.Limits) func(*Config) { return func(c *Config) { c.Server.Limits = l } }

// Log makes the server log.
func Log(log zerolog.Logger) func(*Config) { return func(c *Config) { c.Server.Log = log } }

// Intercept lets a test see, delay and fail all requests, including Exec and PREPARE. Faults replace it.
func Intercept(fn func(context.Context, *server.Inspected) error) func(*Config) {
	return func(c *Config) { c.Inspector = interceptor(fn) }
}

type interceptor func(context.Context, *server.Inspected) error

// Before calls the function.
func (i interceptor) Before(ctx context.Context, r *server.Inspected) error { return i(ctx, r) }

// After does nothing.
func (i interceptor) After(*server.Inspected) error { return nil }

// TLS is the server's configuration of encrypted connections.
func TLS(o *server.TLS) func(*Config) { return func(c *Config) { c.Server.TLS = o } }

// Engine lets a test wrap the engine of the store, to delay reads and writes or make them fail. Snapshots are taken of
// the wrapped engine.
func Engine(wrap func(engine.Engine) engine.Engine) func(*Config) {
	return func(c *Config) { c.Engine = wrap }
}

// Parts are the parts of a server.
type Parts struct {
	*server.Server
	Store *store.Store
}

// servers has the parts of the servers that run.
var servers sync.Map

// Put makes the parts of a server known until Forget.
func Put(server any, p Parts) { servers.Store(server, p) }

// Forget forgets the parts of a server that is stopped.
func Forget(server any) { servers.Delete(server) }

// Of returns the parts of a *cqltest.Server that runs.
func Of(server any) Parts {
	p, ok := servers.Load(server)
	if !ok {
		panic("inside: there is no such server, or it is stopped")
	}
	return p.(Parts)
}
