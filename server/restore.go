package server

import (
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store"
)

// Restore makes the server's store hold what an image has. Clients that have registered for schema changes are told
// what has changed, so that drivers forget what they know of it. Statements that do not fit the restored definitions
// are forgotten: to execute one answers UNPREPARED, and drivers prepare it again.
func (s *Server) Restore(i *store.Image) error {
	before, err := s.store.Restore(i)
	if err != nil {
		return err
	}
	if s.roles != nil {
		s.roles.Changed()
	}
	changes := schema.Difference(before, s.store.Catalog())
	s.schemaChanged(changes)
	s.publish(changes)
	return nil
}
