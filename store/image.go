package store

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/snapshot"
	"github.com/cqld/cqld/store/usage"
)

// Image is the content of a store at one moment: rows, definitions, and the estimates of tables. It never changes, can
// be restored repeatedly, and other stores can be opened with it (Options.Image). The time all this takes does not
// depend on the number of rows.
type Image struct {
	rows       engine.Snapshot
	state      *state
	usages     map[uint32]*usage.Table
	tombstones []uint32 // the tables that may have tombstones of partitions or ranges
	next       uint32   // the next table's number
	last       int64    // no timestamp is later
}

// ErrNoImage says that the store's engine has no snapshots to return to.
var ErrNoImage = errors.New("this engine makes no snapshots")

// Engine opens an engine with the rows of the image.
func (i *Image) Engine(fold engine.Fold) (engine.Engine, error) { return i.rows.Open(fold), nil }

// Image returns the current content of the store.
func (s *definer) Image() (*Image, error) {
	e, ok := s.engine.(engine.Snapshotter)
	if !ok {
		return nil, ErrNoImage
	}
	s.defining.Lock()
	defer s.defining.Unlock()
	i := &Image{rows: e.Snapshot(), state: s.state.Load(), usages: map[uint32]*usage.Table{}, next: s.meta.next}
	for _, id := range i.state.ids {
		i.usages[id] = s.usages.Of(id).Copy()
		if s.deletions.FilterOf(id, s.deletions.Clock()).Any() { // a tombstone is in there before it is in the engine
			i.tombstones = append(i.tombstones, id)
		}
	}
	i.last = s.last.Load()
	return i, nil
}

// Restore replaces the content of the store by an image, of this store or of another one, and returns the catalog of
// before. The store's id stays. Timestamps continue after the last one of the image. A concurrent read or write
// happens either before or after.
//
// Background work on rows ends with its current step, and begins anew with the restored rows.
func (s *definer) Restore(i *Image) (before *schema.Catalog, err error) {
	e, ok := s.engine.(engine.Snapshotter)
	if !ok {
		return nil, ErrNoImage
	}
	s.defining.Lock()
	defer s.defining.Unlock()
	s.background.Lock()
	defer s.background.Unlock()
	s.restores.Add(1)

	old := s.state.Load()
	next := *i.state
	next.virtual = old.virtual
	next.catalog = withControls(next.catalog, old.catalog.Keyspace(schema.ControlKeyspace))
	between := state{catalog: next.catalog, virtual: old.virtual, restoring: make(chan struct{})}
	s.state.Store(&between)
	defer close(between.restoring)
	s.usages.AwaitWrites()
	if err := e.Restore(i.rows); err != nil {
		s.state.Store(old)
		return nil, err
	}
	s.meta.next = max(s.meta.next, i.next)
	s.toUndo = nil
	s.restoreUsages(old, i)
	s.restoreTombstones(i)
	err = s.continueFrom(i)
	s.state.Store(&next)
	s.restores.Add(1) // who saw the state of before must notice
	s.wakePurge()
	s.wakeIndexing()
	return old.catalog, err
}

// loadImage is load for a store that begins as an image.
func (s *definer) loadImage(i *Image, system []*schema.Keyspace) error {
	s.meta = meta{next: i.next}
	if err := s.meta.drawHost(); err != nil {
		return err
	}
	s.host = s.meta.host
	first := *i.state
	first.virtual = nil // show another server
	var controls *schema.Keyspace
	for _, k := range system {
		if k.Name == schema.ControlKeyspace {
			controls = k
		}
	}
	first.catalog = withControls(first.catalog, controls)
	s.state.Store(&first)
	s.restoreUsages(new(state), i)
	s.restoreTombstones(i)
	return s.continueFrom(i)
}

// withControls returns a catalog with the tables that control a server, or without them if k is nil: they are of the
// server and not of the image.
func withControls(c *schema.Catalog, k *schema.Keyspace) *schema.Catalog {
	switch had := c.Keyspace(schema.ControlKeyspace) != nil; {
	case k != nil && !had:
		return c.WithKeyspace(k)
	case k == nil && had:
		return c.WithoutKeyspace(schema.ControlKeyspace)
	}
	return c
}

// continueFrom writes the store's own records into restored rows, and makes timestamps continue after theirs.
func (s *definer) continueFrom(i *Image) error {
	bound := i.last + boundMargin
	s.last.Store(i.last)
	s.bound.Store(bound)
	return s.commit([]engine.Op{s.meta.op(), boundOp(bound)})
}

// restoreUsages restores the estimates of an image.
func (s *definer) restoreUsages(old *state, i *Image) {
	for _, id := range old.ids {
		if i.usages[id] == nil {
			s.usages.Drop(id)
		}
	}
	for id, u := range i.usages {
		s.usages.Of(id).Restore(u)
	}
}

// restoreTombstones makes known which tables may have tombstones. Their filters are made in the background.
func (s *definer) restoreTombstones(i *Image) {
	s.deletions.Reset(i.tombstones)
	s.uncollected.Store(&i.tombstones)
}

// Snapshot calls fn with the blocks of a snapshot. Writes and definitions go on meanwhile, and are not in it. A block
// is valid until fn returns.
func (s *core) Snapshot(ctx context.Context, fn func(block []byte) error) error {
	return s.view(func(src engine.Reader, state *state) error {
		head := snapshot.Head{Format: snapshot.Format, Host: fmt.Sprintf("%x", s.host), Taken: s.now().UTC()}
		for id := range state.live {
			e := s.usages.Of(id).Estimate()
			head.Bytes += e.Bytes
		}
		block, err := json.Marshal(head)
		if err != nil {
			return err
		}
		if err := fn(block); err != nil {
			return err
		}
		block = block[:0]
		err = src.Scan(nil, nil, engine.ScanOptions{}, func(key, value []byte) (bool, error) {
			block = append(binary.AppendUvarint(block, uint64(len(key))), key...)
			block = append(binary.AppendUvarint(block, uint64(len(value))), value...)
			if len(block) < snapshot.BlockSize {
				return true, nil
			}
			if err := errors.Join(ctx.Err(), s.closing.Err()); err != nil {
				return false, err
			}
			err := fn(block)
			block = block[:0]
			return true, err
		})
		if err == nil && len(block) > 0 {
			err = fn(block)
		}
		return err
	})
}
