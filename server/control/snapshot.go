package control

import (
	"errors"
	"time"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
)

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

// snapshotTable has snapshots by name:
//
//	INSERT INTO cqld_control.snapshots (name) VALUES ('migrated')
//	UPDATE cqld_control.snapshots SET restore = true WHERE name = 'migrated'
//	DELETE FROM cqld_control.snapshots WHERE name = 'migrated'
type snapshotTable struct {
	controls *Controls
	named    map[string]*namedSnapshot
}

// namedSnapshot is a snapshot with its columns in the table.
type namedSnapshot struct {
	*Snapshot
	taken    time.Time
	restored int64
}

func (t *snapshotTable) rows() (all []Row) {
	for name, s := range t.named {
		all = append(all, Row{textKey(name), values{
			"taken": types.EncodeTimestamp(s.taken), "restored": types.EncodeBigInt(s.restored),
		}})
	}
	return all
}

// Write takes a snapshot, in place of one of that name, or restores it.
func (t *snapshotTable) Write(key []byte, change map[string][]byte) error {
	if err := readOnly(change, "restore"); err != nil {
		return err
	}
	name := string(key)
	restore := change["restore"]
	if restore == nil {
		return t.take(name)
	}
	s := t.named[name]
	switch {
	case !types.DecodeBoolean(restore):
		return errCannot("restore can only be set to true")
	case s == nil:
		return errCannot("There is no snapshot '%s'", name)
	}
	if err := t.controls.RestoreSnapshot(s.Snapshot); err != nil {
		return err
	}
	s.restored++
	return nil
}

func (t *snapshotTable) take(name string) error {
	taken, err := t.controls.TakeSnapshot()
	if errors.Is(err, store.ErrNoImage) {
		return errCannot("Snapshots are of data in memory, and this server keeps its data on disk: start it with --memory")
	}
	if err != nil {
		return err
	}
	t.named[name] = &namedSnapshot{Snapshot: taken, taken: t.controls.Clock.Now()}
	return nil
}

// Delete forgets a snapshot.
func (t *snapshotTable) Delete(key []byte) error {
	delete(t.named, string(key))
	return nil
}

// Truncate forgets all snapshots.
func (t *snapshotTable) Truncate() error {
	clear(t.named)
	return nil
}
