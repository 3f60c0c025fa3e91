package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/cluster"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
	"github.com/cqld/cqld/store/tombstones"
)

// Options open a Store.
type Options struct {
	Engine func(engine.Fold) (engine.Engine, error)
	System []*schema.Keyspace // the keyspaces that come with the server; they are not persisted
	Now    func() time.Time   // nil: time.Now

	// Image is the initial content. System is needed only for the tables that control this server, and Engine only
	// to wrap the engine that Image.Engine opens.
	Image *Image

	// Shared makes the store a node of a cluster of stores that share the engine, which must be an engine.Clock;
	// nil: the engine is not shared. Now and Image are unused then.
	Shared *cluster.Options

	SweepEvery time.Duration // how often tables are looked at that may have something to purge; 0: 10 seconds
	Still      bool          // nothing is built, purged or swept in the background

	// TombstoneFilters is how much memory the filters of tombstones may take: reads look for tombstones in tables whose
	// filter finds no room. 0: 32 MiB.
	TombstoneFilters int64

	Log zerolog.Logger
}

// Store keeps partitions of rows on an engine. It is made of rooms that share its core: each does one kind of work,
// and knows the others only as far as it has a pointer to them.
type Store struct {
	core
	definer      // replaces the definitions
	builder      // builds indexes and views
	graphBuilder // makes graphs of vectors
	sweeper      // purges and counts rows
	dropper      // removes the rows of dropped tables
	writer       // applies mutations

	closeOne sync.Once
}

var _ engine.Fold = rows.Fold

// Open opens the engine, checks its format and loads the catalog.
func Open(o Options) (*Store, error) {
	if o.Engine == nil {
		o.Engine = o.Image.Engine
	}
	e, err := o.Engine(rows.Fold)
	if err != nil {
		return nil, err
	}
	s := new(Store)
	s.core.start(e, o)
	s.definer = definer{core: &s.core, toTell: make(chan struct{}, 1)}
	s.builder.core, s.builder.definer = &s.core, &s.definer
	s.graphBuilder.core, s.graphBuilder.definer = &s.core, &s.definer
	s.sweeper.core, s.sweeper.recount = &s.core, make(chan struct{}, 1)
	s.writer = writer{core: &s.core, definer: &s.definer}
	s.dropper = dropper{core: &s.core, definer: &s.definer}
	s.minGraphed.Store(minGraphed)
	s.minAdded.Store(minAdded)
	load := func() error { return s.load(o.System) }
	if o.Image != nil {
		load = func() error { return s.loadImage(o.Image, o.System) }
	}
	if o.Shared != nil {
		load = func() error { return s.join(*o.Shared, o.System) }
	}
	if err := load(); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	if o.SweepEvery == 0 {
		o.SweepEvery = defaultSweepEvery
	}
	if o.Still {
		return s, nil
	}
	s.wakeIndexing()
	s.running.Add(4)
	panics.Go(&s.log, s.keepIndexes)
	panics.Go(&s.log, s.purgeTables)
	panics.Go(&s.log, s.followPurgeHints)
	panics.Go(&s.log, func() { s.sweepTables(o.SweepEvery) })
	s.running.Add(1)
	if s.cluster != nil {
		panics.Go(&s.log, (&recovery{definer: &s.definer}).watch)
	} else {
		panics.Go(&s.log, s.keepGraphs) // nodes would replace each other's
	}
	s.wakePurge()
	return s, nil
}

// load reads the store's own records, or writes them into an empty engine, then the catalog. The tombstones are read
// in the background.
func (s *Store) load(system []*schema.Keyspace) error {
	sound, err := s.compareKept()
	if err != nil {
		return err
	}
	found, err := s.meta.load(s.engine)
	if err != nil {
		return err
	}
	if !found {
		s.meta = meta{next: schema.FirstUserStoreID}
		if err := s.meta.drawHost(); err != nil {
			return err
		}
		if err := errors.Join(s.commit([]engine.Op{s.meta.op()}), s.engine.Sync()); err != nil { // before its copy
			return fmt.Errorf("write the store's first record: %w", err)
		}
	}
	s.host = s.meta.host
	if err := s.loadTimestampBound(); err != nil {
		return err
	}
	catalog, err := s.loadCatalog(system)
	if err != nil {
		return err
	}
	first := newState(catalog)
	repair, err := s.repaired()
	if err != nil {
		return err
	}
	if err := s.loadIndexes(first, repair != nil); err != nil {
		return fmt.Errorf("load the indexes: %w", err)
	}
	if repair != nil {
		if err := s.endRepair(repair, first, sound); err != nil {
			return fmt.Errorf("end the repair: %w", err)
		}
	}
	if err := s.keepDefinitions(nil); err != nil {
		return err
	}
	s.state.Store(first)
	some, err := tombstones.TablesWithAny(s.engine, first.ids)
	if err != nil {
		return fmt.Errorf("load the tombstones: %w", err)
	}
	s.deletions.Reset(some)
	s.running.Add(1)
	panics.Go(&s.log, func() {
		defer s.running.Done()
		s.makeFilters(some)
	})
	return nil
}

// Close finishes the writes under way and closes the engine.
func (s *Store) Close() error {
	err := engine.ErrClosed
	s.closeOne.Do(func() {
		s.stop()
		s.running.Wait()
		if err := s.undoDefinitions(); err != nil {
			s.log.Error().Err(err).Msg("a definition that failed may be there when the data is opened again")
		}
		if s.cluster != nil {
			err = s.cluster.Close()
		} else {
			err = nil
		}
		err = errors.Join(err, s.engine.Close())
	})
	return err
}

// Define replaces the catalog by the one that change returns. Definitions run one at a time. When Define returns, the
// new catalog is visible and safe from a power cut, before its tables can have rows: a table's number is never reused.
// If change returns the same catalog nothing happens. Users' tables whose StoreID is 0 get a number. If Define fails,
// its records are removed from the engine. Define waits until views of small tables have all rows.
func (s *Store) Define(change func(*schema.Catalog) (*schema.Catalog, error)) error {
	define, before, failed := s.define, s.current(), s.unbuilt.Load()
	if s.cluster != nil {
		define = s.defineShared
	}
	if err := define(change); err != nil {
		return err
	}
	s.awaitViews(before, s.current(), failed)
	return nil
}

// Truncate removes all rows of a table. A user's table gets another number, and its old rows are removed
// in the background.
func (s *Store) Truncate(ctx context.Context, t *schema.Table) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if v, ok := s.current().virtual[t.ID]; ok && v.receiver() != nil {
		return v.receiver().Truncate()
	}
	if schema.IsSystem(t.Keyspace) {
		return s.deleteRows(ctx, t)
	}
	return s.Define(func(c *schema.Catalog) (*schema.Catalog, error) {
		current := c.Table(t.Keyspace, t.Name)
		if current == nil || current.ID != t.ID {
			return nil, noTable(t)
		}
		return c.WithTable(current.WithStoreID(0)), nil
	})
}

// deleteRows empties a system table, which keeps its number for ever. A read meanwhile sees some of its rows.
func (s *Store) deleteRows(ctx context.Context, t *schema.Table) error {
	id, err := s.current().writableID(t)
	if err != nil {
		return err
	}
	start := rows.AppendArea(nil, id, rows.AreaTombstones)
	end := rows.Successor(rows.AppendArea(nil, id, rows.AreaRows))
	for {
		var ops []engine.Op
		err := s.engine.Scan(start, end, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
			ops = append(ops, engine.Op{Kind: engine.Delete, Key: bytes.Clone(key)})
			return len(ops) < min(1000, s.limits.CommitOps), ctx.Err()
		})
		if err != nil || len(ops) == 0 {
			return err
		}
		last := ops[len(ops)-1].Key
		if err := s.commit(ops); err != nil {
			return err
		}
		start = append(last, 0)
	}
}

// maxGathered is how many rows an index read gathers at a time.
const maxGathered = 20_000

// start prepares the core of a store that is being opened.
func (s *core) start(e engine.Engine, o Options) {
	s.engine, s.limits, s.now, s.log, s.still, s.gathered = e, e.Limits(), o.Now, o.Log, o.Still, maxGathered
	if s.now == nil {
		s.now = time.Now
	}
	s.deletions.Init(o.TombstoneFilters, o.Shared != nil)
	s.closing, s.stop = context.WithCancel(context.Background())
	s.purgeHints, s.stale = make(chan tombstones.PurgeHint, 16), make(chan staleEntry, 1024)
	s.indexing, s.purge = make(chan struct{}, 1), make(chan struct{}, 1)
}
