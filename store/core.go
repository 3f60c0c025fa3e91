package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
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

// state is the set of definitions that reads and writes use. It is replaced as a whole.
type state struct {
	catalog *schema.Catalog
	ids     map[[16]byte]uint32 // StoreIDs by table ID: a statement may hold a table as it was before TRUNCATE. Views too
	live    map[uint32]bool     // the StoreIDs
	virtual map[[16]byte]virtualTable
	indexes map[uint32][]*index.Index // of the tables, by their StoreIDs. Views too

	anyViews bool // there are views among the indexes

	// Where nodes share the engine:
	version   uint64              // of the definitions
	suspended map[[16]byte]uint64 // the version since which a table, by its ID, is being truncated and not used
	marked    map[uint32]uint64   // the version since which a table, by its number, may have tombstones of many rows
	records   schema.Records      // that the catalog was made of
	writing   *atomic.Int64       // mutations that have begun under this state and are not answered

	restoring chan struct{} // is closed when Restore is over, which replaces this state; nil: no Restore is under way
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
	err := s.engine.View(func(src engine.Reader) error {
		now := s.state.Load()
		unlock() // definitions may change from here on: this snapshot does not have that
		unlock = func() {}
		return fn(src, now)
	})
	unlock()
	return err
}

func newState(c *schema.Catalog) *state {
	s := &state{catalog: c, ids: map[[16]byte]uint32{}, live: map[uint32]bool{}}
	for _, k := range c.Keyspaces() {
		for _, t := range k.Tables {
			if t.StoreID != 0 {
				s.ids[t.ID], s.live[uint32(t.StoreID)] = uint32(t.StoreID), true
			}
		}
	}
	return s
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

// sameIndexes reports whether two lists of indexes have the same numbers: writes add the same entries.
func sameIndexes(a, b []*index.Index) bool {
	return slices.EqualFunc(a, b, func(a, b *index.Index) bool { return a.ID == b.ID })
}

// Remote reports whether the data is on other machines, for which reads and decisions wait.
func (s *core) Remote() bool {
	r, ok := s.engine.(engine.Remote)
	return ok && r.Remote()
}

// writableID is the number of a table's keys at the moment. The table may be as it was before a TRUNCATE.
func (s *state) writableID(t *schema.Table) (uint32, error) {
	if id, ok := s.ids[t.ID]; ok {
		return id, nil
	}
	if s.catalog.Table(t.Keyspace, t.Name) != nil {
		return 0, fmt.Errorf("table %s.%s has no stored rows", t.Keyspace, t.Name)
	}
	return 0, noTable(t)
}

// noTable is the error for a table that was dropped after the statement was planned.
func noTable(t *schema.Table) error { return cqlerr.Invalidf("table %s does not exist", t.Name) }

// staleEntry is an entry whose row had not its value when a read came by.
type staleEntry struct {
	index  *index.Index
	key    []byte
	prefix int // how much of the key comes in front of that of the row
}

// errTruncated says that a table got another number before its rows were looked at.
var errTruncated = errors.New("the table is being truncated")

// purgeAgain is how long the purge waits after it failed, as on a full disk.
const purgeAgain = 10 * time.Second

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

// errLapsed is the error of requests while the node does not know whether its definitions are the newest.
var errLapsed = cqlerr.Overloadedf("This node has lost touch with its cluster. Nothing was done.")

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

// maxSuspension is how long statements wait for a TRUNCATE on another node.
const maxSuspension = 30 * time.Second

// ErrUnknown says that a write may or may not have been stored, as a whole.
var ErrUnknown = engine.ErrUnknown

// hasViews reports whether there is a view among indexes.
func hasViews(indexes []*index.Index) bool {
	return slices.ContainsFunc(indexes, func(x *index.Index) bool { return x.View != nil })
}

// numberOf is the number that a key begins with.
func numberOf(key []byte) uint32 { return binary.BigEndian.Uint32(key) >> 1 }

// viewsAmong returns the views among indexes.
func viewsAmong(indexes []*index.Index) []*index.Index {
	if !hasViews(indexes) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(indexes), func(x *index.Index) bool { return x.View == nil })
}

// hasViews reports whether a table has views.
func (s *state) hasViews(t *schema.Table) bool { return s.anyViews && hasViews(s.indexes[s.ids[t.ID]]) }

// viewOf returns the index.Index of a view, or nil.
func (s *state) viewOf(view *schema.Table) *index.Index {
	for _, x := range s.indexes[s.ids[view.View.BaseID]] {
		if x.View != nil && x.View.ID == view.ID {
			return x
		}
	}
	return nil
}

var (
	errRestored  = errors.New("the store was restored")
	errRestoring = errors.New("the store is being restored")
)

// Bounds of a chunk of background work.
const (
	chunkRows  = 1000
	chunkBytes = 1 << 20
)

// isRefused reports whether the engine takes no commits at the moment and has applied nothing.
func isRefused(err error) bool {
	return (errors.Is(err, engine.ErrFull) || errors.Is(err, engine.ErrRefused)) && !errors.Is(err, engine.ErrUnknown)
}

// notWritten tells a client why nothing was written, as on a full disk.
func notWritten(err error) error { return cqlerr.Serverf("Nothing was written: %v", err) }

// virtualTable is a table that exists only as code.
type virtualTable interface {
	read(Session, *schema.Catalog) (engine.Reader, error)
	receiver() VirtualWriter // nil: it takes no writes
}

// VirtualWriter receives writes to a table that exists only as code. Errors of package cqlerr reach the client.
type VirtualWriter interface {
	// Write applies a write to a row in the partition of a key: the values of columns, including the clustering
	// columns, nil where the statement deletes the value. They may be kept.
	Write(key []byte, values map[string][]byte) error

	// Delete deletes the row of a partition key.
	Delete(key []byte) error

	// Truncate deletes all rows.
	Truncate() error
}

// Session is the part of a client's session on which rows made by code may depend.
type Session struct {
	LocalAddr netip.AddrPort // the address the client dialled
	Node      int            // the number of the node that it is with
}
