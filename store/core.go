package store

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/cluster"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/tombstones"
	"github.com/cqld/cqld/store/usage"
)

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

// ErrUnknown says that a write may or may not have been stored, as a whole.
var ErrUnknown = engine.ErrUnknown

var (
	errRestored  = errors.New("the store was restored")
	errRestoring = errors.New("the store is being restored")
	errTruncated = errors.New("the table is being truncated") // it got another number before its rows were read
	errUnmarked  = errors.New("the table is not marked")      // as it must be before mutations are written

	// errLapsed is the error of requests while the node does not know whether its definitions are the newest.
	errLapsed = cqlerr.Overloadedf("This node has lost touch with its cluster. Nothing was done.")
)

const (
	chunkRows     = 1000 // the bounds of a chunk of background work
	chunkBytes    = 1 << 20
	purgeAgain    = 10 * time.Second // until background work is retried after an error, such as a full disk
	maxSuspension = 30 * time.Second // of statements, during a TRUNCATE on another node
)

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

// Catalog is the current snapshot of all definitions.
func (s *core) Catalog() *schema.Catalog { return s.current().catalog }

// HostID names this store for ever: it is drawn when a store is created, or when it first becomes a node of a cluster.
func (s *core) HostID() [16]byte { return s.host }

// Cluster is the node that the store is; nil: its engine is not shared.
func (s *core) Cluster() *cluster.Node { return s.cluster }

// Version is the version of the definitions in use, and the one that drivers see.
func (s *core) Version() (number uint64, seen [16]byte) {
	now := s.state.Load()
	return now.version, now.catalog.Version()
}

// current is the state, when Restore does not replace it.
func (s *core) current() *state {
	if now := s.state.Load(); now.restoring == nil && !s.lapsed() {
		return now
	}
	if s.cluster != nil {
		_ = s.cluster.Await(s.closing) // the users of the state check the lease
		return s.state.Load()
	}
	return s.restored()
}

func (s *core) restored() *state {
	for {
		now := s.state.Load()
		if now.restoring == nil {
			return now
		}
		<-now.restoring
	}
}

// step runs a step of background work. era is the number of restores when the work began: after another one step
// fails, because the findings of the work are invalid.
func (s *core) step(era uint64, fn func() error) error {
	s.background.RLock()
	defer s.background.RUnlock()
	if s.restores.Load() != era {
		return errRestored
	}
	return fn()
}

// view runs fn on a snapshot of the engine and the definitions that belong to it.
func (s *core) view(fn func(engine.Reader, *state) error) error {
	s.defining.Lock()
	unlock := s.defining.Unlock
	defer func() { unlock() }()
	return s.engine.View(func(src engine.Reader) error {
		now := s.state.Load()
		unlock() // definitions may change from here on: this snapshot does not have that
		unlock = func() {}
		return fn(src, now)
	})
}

// wakePurge makes the purge look for dropped tables and for definitions to undo.
func (s *core) wakePurge() {
	select {
	case s.purge <- struct{}{}:
	default:
	}
}

// awaitDefinition waits for the Define that is under way, which waits for writes that do not know of it.
func (s *core) awaitDefinition() *state {
	s.defining.Lock()
	defer s.defining.Unlock()
	return s.state.Load()
}

func (s *core) wakeIndexing() {
	select {
	case s.indexing <- struct{}{}:
	default:
	}
}

// Remote reports whether the data is on other machines, for which reads and decisions wait.
func (s *core) Remote() bool {
	r, ok := s.engine.(engine.Remote)
	return ok && r.Remote()
}

// staleEntry is an entry whose row had not its value when a read came by.
type staleEntry struct {
	index  *index.Index
	key    []byte
	prefix int // how much of the key comes in front of that of the row
}

// leads reports whether background work is this store's: it is alone, or its node leads.
func (s *core) leads() bool { return s.cluster == nil || s.cluster.Leads() }

// settle waits until all nodes use the definitions that this store uses, or newer ones.
func (s *core) settle() error {
	if s.cluster == nil {
		return nil
	}
	version := s.state.Load().version
	if version <= s.settled.Load() {
		return nil
	}
	if err := s.cluster.Barrier(s.closing, version); err != nil {
		return err
	}
	for {
		known := s.settled.Load()
		if version <= known || s.settled.CompareAndSwap(known, version) {
			return nil
		}
	}
}

// lapsed reports whether the store does not know whether its definitions are the newest.
func (s *core) lapsed() bool { return s.cluster != nil && !s.cluster.Holds() }

// moved reports whether findings under a state may be invalid, because other nodes may have changed definitions.
func (s *core) moved(was *state) bool {
	return s.cluster != nil && (s.state.Load() != was || !s.cluster.Holds())
}

// usable returns the newest state, in which a table is not being truncated.
func (s *core) usable(ctx context.Context, table [16]byte) (*state, error) {
	if s.cluster == nil {
		return s.current(), nil
	}
	for end := time.Now().Add(maxSuspension); ; {
		if s.lapsed() {
			if err := s.cluster.Await(ctx); errors.Is(err, cluster.ErrLapsed) {
				return nil, errLapsed
			} else if err != nil {
				return nil, err
			}
		}
		now := s.state.Load()
		switch {
		case now.suspended[table] == 0:
			return now, nil
		case time.Now().After(end):
			return nil, cqlerr.Overloadedf("The table is being truncated. Nothing was done.")
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
		time.Sleep(time.Millisecond)
	}
}

// isRefused reports whether the engine takes no commits at the moment and has applied nothing.
func isRefused(err error) bool {
	return (errors.Is(err, engine.ErrFull) || errors.Is(err, engine.ErrRefused)) && !errors.Is(err, engine.ErrUnknown)
}

// notWritten tells a client why nothing was written, as on a full disk.
func notWritten(err error) error {
	if errors.Is(err, engine.ErrBehind) {
		return cqlerr.Overloadedf("Nothing was written: %v", err)
	}
	return cqlerr.Serverf("Nothing was written: %v", err)
}
