// Package disk is the engine of a folder: a commit log and memtables in front of engine/badger.
//
// An Engine is a memory.Front, which commits change and reads read, with durability below it. A commit is applied to
// the memtable, appended to the log (see commitlog) and published. In the mode Periodic it is acknowledged then: if
// the process is killed, the system still has its writes. A sync follows within SyncEvery. In the mode Batch one
// goroutine syncs the log and acknowledges all commits that were appended before (sync.go).
//
// A memtable that is full is frozen, and another one begun. The flusher writes frozen memtables to Badger, in the
// order of their keys, and drops the segments of the log that are not needed any more (flush.go). Commits are delayed
// while a memtable is flushed, so that they need not wait for a whole flush (admission.go). After a kill the log is
// replayed (open.go). The invariants that make this safe are listed in commit.go.
//
// Badger's own limits do not show: the log makes a commit atomic, and the flusher divides it.
package disk

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/badger"
	"github.com/cqld/cqld/store/engine/disk/commitlog"
	"github.com/cqld/cqld/store/engine/files"
	"github.com/cqld/cqld/store/engine/memory"
)

// Sync is when a commit is safe from a power cut. A killed process loses no acknowledged commit either way.
type Sync uint8

const (
	// Periodic acknowledges a commit before it is on disk. The log is synced every SyncEvery. Commits wait when a sync is
	// late, so a power cut loses at most the commits of the last 2 * SyncEvery in which any were acknowledged.
	Periodic Sync = iota

	// Batch acknowledges a commit when it is on disk. All commits that are waiting share one sync (group commit).
	Batch
)

// Options open an engine.
type Options struct {
	Dir       string
	Sync      Sync
	SyncEvery time.Duration // of Periodic; 0: a second
	Memtable  int64         // bytes of a memtable that is flushed; 0: 64 MiB
	Filter    int64         // bytes of the filter of keys that were never written; 0: 64 MiB
	Reserve   Reserve       // of the volume, below which commits are refused
	Repair    bool          // open a folder with damaged files, with everything in them that is intact
	ReadOnly  bool          // change nothing in the folder, and refuse all commits; the whole log is kept in memory
	Log       zerolog.Logger

	segment  int64                // of a test: bytes of a segment of the log
	below    badger.Options       // of a test: how Badger is opened, without the folder
	syncFile func(*os.File) error // of a test: syncs a segment
	maxWait  time.Duration        // of a test: how long a commit waits at most
}

// Reserve is how much of a volume is left free.
type Reserve = files.Reserve

// ErrDamaged is the kind of error that Open refuses a folder with damaged files with.
var ErrDamaged = engine.ErrDamaged

const (
	// defaultMemtable is the size of a memtable that is flushed. Two of them, and Badger's own, are most of the memory
	// that the engine uses. The larger it is, the lower is the write amplification of compactions.
	defaultMemtable = 64 << 20

	// Badger's memtable has a quarter of that size, between these: Badger has buffers of eight times its size and more. A
	// flush is sorted, so the tables that it becomes do not overlap, and each is compacted alone.
	minBadgerMemtable = 8 << 20
	maxBadgerMemtable = 64 << 20

	// maxSegment is how long a segment of the log is at most.
	maxSegment = 32 << 20

	// maxFrozen is how many memtables wait to be flushed before commits have to wait.
	maxFrozen = 1
)

// Engine is the engine of a folder. engine.Engine documents its methods.
type Engine struct {
	memory.Front
	o        Options
	fold     engine.Fold
	badger   *badger.Engine
	log      *commitlog.Log
	inTables uint64   // the last commit that was flushed; guarded by Mu
	longKeys longKeys // keys whose values in Badger are nearly too long
	flow     flow     // of commits while a memtable is flushed; guarded by Mu

	freed   bool // the memtable has commits that were taken on a full disk, because they free space; guarded by Mu
	freeing bool // a frozen one has; guarded by Mu

	synced time.Time // when the last sync that succeeded began; guarded by Mu

	stuck     atomic.Pointer[error] // why nothing can be flushed at the moment
	noSegment atomic.Pointer[error] // why no segment of the log can be made at the moment
	waits     atomic.Uint64         // commits that had to wait for a flush or a sync
	flushes   atomic.Uint64

	syncing  syncing
	flushing chan struct{} // has an element when there is something to flush
	making   chan struct{} // has an element when the log wants a segment
	stop     chan struct{}
	late     chan struct{} // closed when there is no time left to flush before the engine is closed
	closeBy  atomic.Pointer[time.Time]
	finished sync.WaitGroup
}

var (
	_ engine.Engine  = (*Engine)(nil)
	_ engine.Dropper = (*Engine)(nil)
	_ memory.Below   = (*Engine)(nil)
)

// Limits returns the limits of a commit.
func (e *Engine) Limits() engine.Limits {
	return engine.Limits{
		Key: badger.MaxKey, Value: memory.MaxCommit, CommitBytes: memory.MaxCommit, CommitOps: memory.MaxOps,
	}
}

// CheckKey refuses keys that Badger does not take.
func (e *Engine) CheckKey(key []byte) error { return badger.CheckKey(key) }

// Damage is damage that was found since the engine was opened.
func (e *Engine) Damage() error { return e.badger.Damage() }

// Close waits for the commits and updates that are not answered and for the reads under way, and flushes everything,
// so that there is no log to read when the folder is opened again.
func (e *Engine) Close() error {
	if err := e.Front.Close(); err != nil {
		return err
	}
	if e.o.ReadOnly {
		return e.badger.CloseReadOnly()
	}
	left := time.Duration(math.MaxInt64)
	if by := e.closeBy.Load(); by != nil {
		left = max(time.Until(*by), 0)
	}
	_ = e.syncNow() // a failure is noted
	closeBadger := time.NewTimer(left)
	defer closeBadger.Stop()
	defer time.AfterFunc(left/4*3, func() { close(e.late) }).Stop()
	close(e.stop)
	e.finished.Wait()
	return e.closeFiles(closeBadger.C)
}

// CloseBy makes Close return by a deadline. The log is synced in any case. Commits that could not be flushed by then
// stay in it, and the process has to end, because Badger is left as if the process was killed.
func (e *Engine) CloseBy(t time.Time) { e.closeBy.Store(&t) }

// closeFiles closes Badger and the log. The log is empty then if everything is in tables.
func (e *Engine) closeFiles(late <-chan time.Time) (err error) {
	closing := e.badger.Close(late)
	switch failed := e.Failed(); {
	case failed != nil:
		err = e.log.Close() // the failure was logged
	case len(e.Layers.Frozen) > 0:
		e.o.Log.Warn().Msg("not all writes could be flushed to tables: the others stay in the commit log")
		err = errors.Join(e.log.Sync(), e.log.Close())
	case !badger.AllInTables(e.o.Dir):
		err = errors.Join(e.log.Sync(), e.log.Close())
	default:
		err = e.log.Empty()
	}
	if closing != nil || err != nil {
		return fmt.Errorf("close the data: %w", errors.Join(err, closing))
	}
	return nil
}

// Drop removes the keys with some prefixes from tables, if that is cheaper than to delete them. It waits until the
// reads that began before have ended. Memtables keep their rows, as the log does.
func (e *Engine) Drop(ctx context.Context, prefixes [][]byte) error {
	if err := e.Acquire(); err != nil {
		return err
	}
	defer e.Release(1)
	if err := e.AwaitReads(ctx); err != nil {
		return err
	}
	return e.badger.Drop(ctx, prefixes)
}

// wake puts an element into a channel, unless it has one.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Metrics are the engine's counters.
type Metrics struct {
	MemtableBytes   int64  // of rows that are not in tables
	MemtablesFrozen int    // that wait to be flushed
	LogSegments     int    // files of the commit log
	LogBytes        int64  // of commits in it
	Flushes         uint64 // memtables that were flushed
	Waits           uint64 // commits that had to wait for a flush
}

// Metrics returns the counters.
func (e *Engine) Metrics() Metrics {
	m := Metrics{Flushes: e.flushes.Load(), Waits: e.waits.Load()}
	m.LogSegments, m.LogBytes = e.log.Size()
	e.Mu.Lock()
	defer e.Mu.Unlock()
	m.MemtableBytes, m.MemtablesFrozen = e.Memtable.Size, len(e.Layers.Frozen)
	for _, f := range e.Layers.Frozen {
		m.MemtableBytes += f.Size
	}
	return m
}
