package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/cluster"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/rows"
	"github.com/cqld/cqld/store/tombstones"
	"github.com/cqld/cqld/store/usage"
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

	closeOne sync.Once
}

// core is shared by all rooms: the engine, the definitions in use, and everything known about the stored rows.
type core struct {
	engine engine.Engine
	limits engine.Limits
	now    func() time.Time
	log    zerolog.Logger
	host   [16]byte
	still  bool // Options.Still

	last  atomic.Int64 // the last Timestamp
	bound atomic.Int64 // is stored: no decision has a later timestamp

	state     atomic.Pointer[state]
	defining  sync.Mutex // held to replace state
	deletions tombstones.Tracker
	usages    usage.Tables
	graphs    index.Graphs // of vectors

	cluster *cluster.Node // nil: the engine is not shared
	settled atomic.Uint64 // version of the definitions that all nodes have followed

	restores    atomic.Uint64            // number of times that a Restore has begun or ended
	background  sync.RWMutex             // held for reading by steps of background work, which Restore waits for
	uncollected atomic.Pointer[[]uint32] // tables whose filters have to be made after Restore

	// Messages of reads, writes and definitions to the rooms that work in the background.
	purgeHints chan tombstones.PurgeHint
	stale      chan staleEntry // entries of indexes to look at
	indexing   chan struct{}   // has an element when there may be indexes to build
	purge      chan struct{}   // has an element when there may be dropped tables

	gathered int // maxGathered, but in tests

	running sync.WaitGroup // goroutines of the rooms
	closing context.Context
	stop    context.CancelFunc
}

// state is the set of definitions that reads and writes use. It is replaced as a whole.
type state struct {
	catalog *schema.Catalog
	ids     map[[16]byte]uint32 // StoreIDs by table ID: a statement may hold a table as it was before TRUNCATE. Views too
	live    map[uint32]bool     // the StoreIDs
	virtual map[[16]byte]virtual
	indexes map[uint32][]*index.Index // of the tables, by their StoreIDs. Views too

	anyViews bool // there are views among the indexes

	sharedState

	restoring chan struct{} // is closed when Restore is over, which replaces this state; nil: no Restore is under way
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
	s.sweeper.core = &s.core
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
	go s.keepIndexes()
	go s.purgeTables()
	go s.followPurgeHints()
	go s.sweepTables(o.SweepEvery)
	s.running.Add(1)
	if s.cluster != nil {
		go s.recoverShared()
	} else {
		go s.keepGraphs() // nodes would replace each other's
	}
	s.wakePurge()
	return s, nil
}

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

// load reads the store's own records, or writes them into an empty engine, then the catalog. The tombstones are read
// in the background.
func (s *Store) load(system []*schema.Keyspace) error {
	found, err := s.meta.load(s.engine)
	if err != nil {
		return err
	}
	if !found {
		s.meta = meta{next: schema.FirstUserStoreID}
		if err := s.meta.drawHost(); err != nil {
			return err
		}
		if err := s.commit([]engine.Op{s.meta.op()}); err != nil {
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
	if err := s.loadIndexes(first); err != nil {
		return fmt.Errorf("load the indexes: %w", err)
	}
	s.state.Store(first)
	some, err := tombstones.TablesWithAny(s.engine, first.ids)
	if err != nil {
		return fmt.Errorf("load the tombstones: %w", err)
	}
	s.deletions.Reset(some)
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		s.makeFilters(some)
	}()
	return nil
}

// commit waits for a commit of the store's own records.
func (s *core) commit(ops []engine.Op) error {
	result := make(chan error, 1)
	s.engine.Commit(ops, func(err error) { result <- err })
	return <-result
}

// commitFreeing is commit of records that lead to space being freed.
func (s *core) commitFreeing(ops []engine.Op) error {
	result := make(chan error, 1)
	engine.CommitFreeing(s.engine, ops, func(err error) { result <- err })
	return <-result
}

// update runs an update of the engine again until it does not conflict.
func (s *core) update(ctx context.Context, guard []byte, fn func(engine.Txn) error) error {
	for {
		if err := engine.Update(ctx, s.engine, guard, fn); !errors.Is(err, engine.ErrConflict) {
			return err
		}
	}
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

// Catalog is the current snapshot of all definitions.
func (s *core) Catalog() *schema.Catalog { return s.current().catalog }

// HostID names this store for ever: it is drawn when a store is created, or when it first becomes a node of a cluster.
func (s *core) HostID() [16]byte { return s.host }
