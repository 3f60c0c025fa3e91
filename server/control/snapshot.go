package control

import "github.com/cqld/cqld/store"

// Snapshot is the state of a server at one time: rows, definitions, and the setting of its clock. It never changes,
// and shares all data that has not changed since.
type Snapshot struct {
	Image *store.Image
	Clock *Clock
}

// TakeSnapshot returns the state of the server. A request under way is in it as a whole, or not at all. It fails with
// store.ErrNoImage if the data is not in memory.
func (c *Controls) TakeSnapshot() (*Snapshot, error) {
	image, err := c.store.Image()
	if err != nil {
		return nil, err
	}
	return &Snapshot{Image: image, Clock: c.Clock.Copy()}, nil
}

// RestoreSnapshot restores the state of a snapshot, of this server or of another one, with the setting of the clock.
// Connections, faults and the record of statements stay.
func (c *Controls) RestoreSnapshot(s *Snapshot) error {
	c.Clock.follow(s.Clock)
	return c.server.Restore(s.Image)
}
