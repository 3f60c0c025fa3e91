// Package control lets a test control a server: move its clock (clock.go), make requests fail (faults.go, acts.go),
// list the statements of clients (record.go), and restore an earlier state of the server (snapshot.go).
//
// A Controls has all of them for one server. Package cqltest gives it to tests in Go. For tests in other languages
// tables.go makes tables of it, in keyspace cqld_control, and package endpoints below this one serves them as JSON.
package control

import (
	"context"
	"sync"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/protocol"
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
	intercept func(context.Context, *Request) Act
}

// SetInterceptor sets a function that chooses the act for each request, before the faults do. It is called once,
// before the server serves.
func (c *Controls) SetInterceptor(fn func(context.Context, *Request) Act) {
	c.intercept = fn
	c.update()
}

// New returns the controls of a server, whose store takes the time from the clock.
func New(srv *server.Server, st *store.Store, clock *Clock) *Controls {
	c := &Controls{Clock: clock, server: srv, store: st}
	c.Faults.controls, c.Record.controls = c, c
	return c
}

// SetupDriver is the name that a driver gives itself in STARTUP whose requests prepare a test: faults do not apply to
// them, and they are not recorded.
const SetupDriver = "cqltest"

// inspector looks at requests for the faults and the record of statements.
type inspector struct{ *Controls }

// update puts the inspector in place, or removes it: only while there are faults, an interceptor, or statements are
// recorded, because requests cost more then.
func (c *Controls) update() {
	c.placing.Lock()
	defer c.placing.Unlock()
	if len(c.Faults.List()) > 0 || c.intercept != nil || c.Record.isOn.Load() {
		c.server.Inspect(inspector{c})
	} else {
		c.server.Inspect(nil)
	}
}

// isExempt reports whether a request prepares a test, or is about the controls themselves: a fault must not keep the
// test from removing it.
func isExempt(r *server.Inspected) bool {
	if r.Options[protocol.OptionDriverName] == SetupDriver {
		return true
	}
	for _, p := range r.Parts {
		if p.Keyspace != schema.ControlKeyspace {
			return false
		}
	}
	return len(r.Parts) > 0
}

// Before asks the interceptor and applies the faults.
func (i inspector) Before(ctx context.Context, r *server.Inspected) error {
	if isExempt(r) {
		return nil
	}
	r.WantsValues = i.Record.valueBytes.Load() > 0
	if i.intercept != nil {
		if act := i.intercept(ctx, requestOf(r)); act.kind != actNothing {
			return act.before(r)
		}
	}
	return i.Faults.before(ctx, r)
}

// After applies the faults that come after a request was served, and records the request.
func (i inspector) After(r *server.Inspected) error {
	if isExempt(r) {
		return nil
	}
	err := i.Faults.after(r)
	if i.Record.isOn.Load() {
		i.Record.add(r, err)
	}
	return err
}
