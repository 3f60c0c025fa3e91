// Package control is what a test can do to a server besides sending requests: move its clock (clock.go), have requests
// fail (faults.go, acts.go), see what clients have run (record.go), and go back to what the server held (snapshot.go).
//
// A Controls has all of them for one server. Package cqltest gives it to tests in Go. For tests in other languages
// tables.go makes tables of it, in keyspace cqld_control, and package endpoints below this one serves them as JSON.
package control

import (
	"context"
	"sync"

	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/store"
)

// Controls are the controls of one server.
type Controls struct {
	Clock  *Clock
	Faults Faults
	Record Record

	server    *server.Server
	store     *store.Store
	placing   sync.Mutex // held to put the inspector in place
	intercept func(context.Context, *server.Inspected) Act
}

// SetInterceptor has a function see requests before they are served and say what is done to them, before the faults
// do. It is called once, before the server serves.
func (c *Controls) SetInterceptor(fn func(context.Context, *server.Inspected) Act) {
	c.intercept = fn
	c.update()
}

// New returns the controls of a server, whose store takes the time from the clock.
func New(srv *server.Server, st *store.Store, clock *Clock) *Controls {
	c := &Controls{Clock: clock, server: srv, store: st}
	c.Faults.controls, c.Record.controls = c, c
	return c
}
