// Package control lets a test control a server: move its clock (clock.go), make requests fail (faults.go, acts.go),
// list the statements of clients (record.go), and restore an earlier state of the server (snapshot.go).
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

// SetInterceptor sets a function that chooses the act for each request, before the faults do. It is called once,
// before the server serves.
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
