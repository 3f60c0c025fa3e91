package control

import "github.com/cqld/cqld/store"

// Snapshot is what a server held at one time: rows, definitions, and how its clock was set. It never changes, and
// shares all that has not changed since.
type Snapshot struct {
	Image *store.Image
	Clock *Clock
}

// TakeSnapshot returns what the server holds. Requests under way are in it or not, as a whole. It fails with
// store.ErrNoImage if the data is not in memory.
func (c *Controls) TakeSnapshot() (*Snapshot, error) {
	image, err := c.store.Image()
	if err != nil {
		return nil, err
	}
	return &Snapshot{Image: image, Clock: c.Clock.Copy()}, nil
}

// RestoreSnapshot makes the server hold what a snapshot has, of this server or of another one, and sets the clock as
// it was set. Connections stay, and so do faults and the record of statements.
func (c *Controls) RestoreSnapshot(s *Snapshot) error {
	c.Clock.follow(s.Clock)
	return c.server.Restore(s.Image)
}
