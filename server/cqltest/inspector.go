package cqltest

import (
	"context"
	"sync"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/server"
)

// inspector looks at requests for the faults and the record of statements. It is in place only while there are faults
// or statements are recorded, because requests cost more then.
type inspector struct {
	server *server.Server
	faults Faults
	record record

	mu sync.Mutex // held to put it in place
}

func (i *inspector) init(s *server.Server) {
	i.server = s
	i.faults.inspector = i
}

// update puts the inspector in place, or removes it.
func (i *inspector) update() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.faults.List()) > 0 || i.record.on.Load() {
		i.server.Inspect(i)
	} else {
		i.server.Inspect(nil)
	}
}

// isSetup reports whether a request is of Exec or Load.
func isSetup(r *server.Inspected) bool { return r.Options[protocol.OptionDriverName] == setupName }

// Before applies the faults.
func (i *inspector) Before(ctx context.Context, r *server.Inspected) error {
	if isSetup(r) {
		return nil
	}
	return i.faults.before(ctx, r)
}

// After applies the faults that come after a request was served, and records the request.
func (i *inspector) After(r *server.Inspected) error {
	if isSetup(r) {
		return nil
	}
	err := i.faults.after(r)
	if i.record.on.Load() {
		i.record.add(r, err)
	}
	return err
}
