package cqltest

import (
	"fmt"
	"testing"

	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/server/control"
)

// Snapshot is the state of a server at one time: rows, definitions, and the setting of its clock. It never changes,
// and stays valid when its server is stopped. A Template keeps one for the tests of a package.
//
// It shares all unchanged data, so it, Restore and Fork take no longer for many rows than for few.
type Snapshot struct {
	held  *control.Snapshot
	nodes []server.RingNode // the nodes of the server's ring; none: it has none
}

// Snapshot returns the state of the server. A request under way is in it as a whole, or not at all.
func (s *Server) Snapshot() *Snapshot {
	held, err := s.controls.TakeSnapshot()
	if err != nil { // its engine is ours
		panic(fmt.Sprintf("cqltest: make a snapshot: %v", err))
	}
	return &Snapshot{held, s.ringNodes()}
}

// Restore restores the state of a snapshot, of this server or of another one, with the setting of the clock.
// Connections stay, and so do the nodes of a ring. Drivers get the changes of the schema as events, and prepare
// statements again that the server does not know any more. The server must not be stopped.
func (s *Server) Restore(snapshot *Snapshot) {
	if err := s.controls.RestoreSnapshot(snapshot.held); err != nil {
		panic(fmt.Sprintf("cqltest: restore a snapshot: %v", err))
	}
}

// Fork starts another server with the same state, which stops with the test t. From then on they are independent: each
// has its own port, clock, faults and host id, so that drivers take them for two clusters. The fork of a ring is a
// ring with as many nodes, which have the same tokens and are all up, unless an option makes it another one.
func (s *Server) Fork(t testing.TB, options ...Option) *Server {
	t.Helper()
	return s.Snapshot().Fork(t, options...)
}

// Fork starts a server that begins with the state of the snapshot and stops with the test t.
func (s *Snapshot) Fork(t testing.TB, options ...Option) *Server {
	t.Helper()
	return run(t, s, options)
}
