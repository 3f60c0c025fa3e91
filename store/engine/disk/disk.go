// Package disk is the engine of a folder: a commit log and a tree in memory in front of engine/badger.
//
// A commit is applied to the tree on the caller's goroutine, under the one lock of writers, appended to the log (see
// commitlog) and published. In the mode Periodic it is answered then, as a killed process leaves to the system what it
// has written; a sync follows within SyncEvery. In the mode Batch one goroutine syncs the log and answers all commits
// that were appended before.
//
// The tree has only what was written of late: values, deltas that were merged into keys of which it does not know what
// they hold, and that a key is deleted (see kind). A tree that has become large is frozen, and another one begun. The
// flusher writes frozen trees to Badger in the order of their keys, has Badger synced, and drops the segments of the
// log that nobody needs any more. A process that is killed meanwhile loses nothing: the log is read again from the
// first segment that is left, and what Badger has of it already is written over, or folded in a second time, which
// changes nothing.
//
// A reader looks into the tree, the frozen trees, the newest first, and a snapshot of Badger. These belong together
// (see layers): the snapshot is older than the first flush of what is frozen, so a flush that is under way is never
// seen. A scan merges them.
//
// Badger's own limits do not show: the log makes a commit atomic, and the flusher divides it.
package disk

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/badger"
	"github.com/cqld/cqld/store/engine/disk/commitlog"
	"github.com/cqld/cqld/store/engine/files"
	"github.com/cqld/cqld/store/engine/publish"
	"github.com/cqld/cqld/store/engine/tree"
)

// Sync is when a commit is safe from a power cut. A killed process loses no acknowledged commit either way.
type Sync uint8

const (
	// Periodic acknowledges a commit before it is on disk. The log is synced every SyncEvery, so a power cut loses what
	// was acknowledged in the last SyncEvery and the time that a sync takes.
	Periodic Sync = iota

	// Batch acknowledges a commit when it is on disk. All commits that were waiting share one sync.
	Batch
)

// Options open an engine.
type Options struct {
	Dir       string
	Sync      Sync
	SyncEvery time.Duration // of Periodic; 0: a second
	Memtable  int64         // bytes of a tree that is flushed; 0: 64 MiB
	Filter    int64         // bytes of the filter of keys that were never written; 0: 64 MiB
	Reserve   Reserve       // of the volume, below which commits are refused
	Repair    bool          // open a folder with damaged files with what can be kept of them
	Log       zerolog.Logger

	segment  int64                // of a test: bytes of a segment of the log
	below    badger.Options       // of a test: how Badger is opened, without the folder
	syncFile func(*os.File) error // of a test: syncs a segment
}

// Reserve is how much of a volume is left free.
type Reserve = files.Reserve

// ErrDamaged is the kind of error that Open refuses a folder with damaged files with.
var ErrDamaged = badger.ErrDamaged

const (
	// defaultMemtable is the size of a tree that is flushed. With the one that is being flushed and Badger's own it is
	// most of what the engine holds. The larger it is, the fewer bytes compactions write.
	defaultMemtable = 64 << 20

	// Badger's memtable has a quarter of the size of a tree, between these: buffers of eight times its size and more come
	// with it. A flush is sorted, so the tables that it becomes do not overlap, and each is compacted alone.
	minBadgerMemtable = 8 << 20
	maxBadgerMemtable = 64 << 20

	// maxSegment is how long a segment of the log is at most.
	maxSegment = 32 << 20

	// maxFrozen is how many trees wait to be flushed before commits have to wait.
	maxFrozen = 1
)

// Engine is the engine; see engine.Engine for what its methods promise.
type Engine struct {
	o         Options
	fold      engine.Fold
	below     *badger.Engine
	log       *commitlog.Log
	current   publish.Place[view, *badger.Snapshot]
	updating  engine.Turn           // of updates
	under     atomic.Int64          // commits and updates that are not answered
	failed    atomic.Pointer[error] // why there are no more commits
	stuck     atomic.Pointer[error] // why nothing can be flushed at the moment
	noSegment atomic.Pointer[error] // why no segment of the log can be made at the moment
	waits     atomic.Uint64         // commits that had to wait for a flush
	flushes   atomic.Uint64

	large largeKeys  // keys whose values in Badger are nearly as long as may be
	big   sync.Mutex // held by a big commit, before mu

	mu       sync.Mutex // held to write
	changed  sync.Cond  // a tree was flushed, a segment made or tried to be made, or the engine closed
	memtable memtable   // the tree that is written to
	layers   *layers    // below it
	version  uint64     // counts changes
	pace     pace       // of commits while a tree is flushed
	filter   *filter
	first    func(kind engine.OpKind, key []byte) (bool, error) // isFirst
	lacks    func(key []byte, era uint64) bool                  // isLacking
	closed   bool
	path     tree.Path          // of the row that is being written
	undo     []undo             // of the commit that is being applied
	oldBases []*badger.Snapshot // that may still be read
	dropped  uint64             // the number of the last memtable that was flushed
	inTables uint64             // the last commit of it

	syncing  syncing
	flushing chan struct{} // has an element when there is something to flush
	making   chan struct{} // has an element when the log wants a segment
	stop     chan struct{}
	late     chan struct{} // closed when there is no time left to flush before the engine is closed
	closeBy  atomic.Pointer[time.Time]
	finished sync.WaitGroup
}

var _ engine.Engine = (*Engine)(nil)

// Open opens or creates an engine.
func Open(o Options, fold engine.Fold) (*Engine, error) {
	if o.Memtable == 0 {
		o.Memtable = defaultMemtable
	}
	if o.Filter == 0 {
		o.Filter = defaultFilter
	}
	if o.SyncEvery == 0 {
		o.SyncEvery = time.Second
	}
	if o.segment == 0 {
		o.segment = min(o.Memtable, maxSegment)
	}
	e := &Engine{
		o: o, fold: fold, updating: engine.NewTurn(), flushing: make(chan struct{}, 1), making: make(chan struct{}, 1),
		stop: make(chan struct{}), late: make(chan struct{}),
	}
	e.changed.L = &e.mu
	e.filter, e.first, e.lacks = newFilter(o.Filter), e.isFirst, e.isLacking
	e.syncing.wake = make(chan struct{}, 1)
	x, err := e.examineLog()
	if err != nil {
		return nil, err
	}
	below := o.below
	below.Dir, below.Repair, below.Log, below.Reserve = o.Dir, o.Repair, o.Log, o.Reserve
	if below.MemTable == 0 {
		below.MemTable = min(max(o.Memtable/4, minBadgerMemtable), maxBadgerMemtable)
	}
	if e.below, err = badger.Open(below); err != nil {
		return nil, err
	}
	if err := e.openLog(x); err != nil {
		return nil, errors.Join(err, e.below.Close(nil))
	}
	return e, nil
}

// examineLog examines the log before anything in the folder is changed, and refuses a folder that is damaged.
func (e *Engine) examineLog() (*commitlog.Examination, error) {
	exists, damages, err := badger.QuickExamine(e.o.Dir)
	if err != nil {
		return nil, err
	}
	x, err := commitlog.Examine(e.o.Dir, exists)
	if err == nil && !e.o.Repair {
		err = badger.Refuse(e.o.Dir, append(damages, x.Damages...))
	}
	return x, err
}

// maxReplayed is how many segments stay when the log is opened. Each start has one of its own: a server that is killed
// often and written to little would keep all of them, until it had written a whole memtable.
const maxReplayed = 4

// openLog reads the log into trees and starts what the engine does besides. Tables have the commits up to
// below.Flushed: the log has to go on from there.
func (e *Engine) openLog(x *commitlog.Examination) error {
	e.layers = &layers{base: e.below.Snapshot()}
	e.memtable = newMemtable(1)
	e.memtable.last, e.inTables = e.below.Flushed(), e.below.Flushed()
	x.Continue(e.below.Flushed())
	if !e.o.Repair {
		if err := badger.Refuse(e.o.Dir, x.Damages); err != nil {
			return err
		}
	}
	if err := x.Create(); err != nil {
		return err
	}
	for _, text := range x.Told {
		e.o.Log.Warn().Str("folder", e.o.Dir).Msg(text)
	}
	if err := x.Replay(e.replay); err != nil { // I7
		return err
	}
	var err error
	options := commitlog.Options{SegmentSize: e.o.segment, Mapped: e.o.Sync == Periodic, Sync: e.o.syncFile}
	if len(x.Damages) > 0 {
		err = e.repairLog(x, options)
	} else {
		e.log, err = x.Open(options)
	}
	if err == nil {
		err = e.below.Confirm()
	}
	if err != nil {
		return err
	}
	if segments, _ := e.log.Size(); segments > maxReplayed {
		e.freeze()
	}
	e.publish(nil)
	e.finished.Add(3)
	go e.flushFrozen()
	go e.makeSegments()
	go e.syncLog()
	e.wake(e.flushing)
	return nil
}

// replay applies a commit of the log.
func (e *Engine) replay(seq uint64, ops []engine.Op) error {
	err := e.apply(ops, nil)
	e.forgetUndo()
	if err != nil {
		return fmt.Errorf("read the commit %d of the log: %w", seq, err)
	}
	e.memtable.last = seq
	if e.memtable.size >= e.o.Memtable {
		e.freeze()
	}
	return nil
}

// repairLog flushes what could be read of a damaged log before the log is begun anew.
func (e *Engine) repairLog(x *commitlog.Examination, o commitlog.Options) (err error) {
	e.freeze()
	for _, m := range e.layers.oldestFirst() {
		if err := e.writeTables(m, e.layers.base); err != nil {
			return err
		}
		e.layers.base.Release()
		e.layers = &layers{frozen: e.layers.frozen[:len(e.layers.frozen)-1], base: e.below.Snapshot()}
	}
	e.log, err = x.Reset(e.o.Log, o)
	return err
}

// Limits of the engine. A write has the length that Cassandra takes. The number of operations bounds what a statement
// gathers before it is refused.
const (
	maxCommit = 16 << 20
	maxOps    = 1 << 17
)

// Limits says what a commit may have at most.
func (e *Engine) Limits() engine.Limits {
	return engine.Limits{Key: badger.MaxKey, Value: maxCommit, CommitBytes: maxCommit, CommitOps: maxOps}
}

// Close waits for the commits and updates that are not answered and for the reads under way, and flushes everything, so
// that there is no log to read when the folder is opened again.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return engine.ErrClosed
	}
	e.closed = true
	e.current.Close()
	e.changed.Broadcast()
	e.mu.Unlock()
	for i := 0; e.busy(); i++ {
		if i < 100 {
			runtime.Gosched()
		} else {
			time.Sleep(time.Millisecond)
		}
	}
	left := time.Duration(math.MaxInt64)
	if by := e.closeBy.Load(); by != nil {
		left = max(time.Until(*by), 0)
	}
	_ = e.syncNow() // which notes that it has failed
	closeBadger := time.NewTimer(left)
	defer closeBadger.Stop()
	defer time.AfterFunc(left/4*3, func() { close(e.late) }).Stop()
	close(e.stop)
	e.finished.Wait()
	return e.closeFiles(closeBadger.C)
}

// CloseBy has Close end at a time. The log is synced in any case. What could not be flushed by then stays in it, and
// the process has to end, as Badger is left as a killed process leaves it.
func (e *Engine) CloseBy(t time.Time) { e.closeBy.Store(&t) }

// closeFiles closes log and tables. The log is empty then if everything was flushed.
func (e *Engine) closeFiles(late <-chan time.Time) (err error) {
	if p := e.failed.Load(); p != nil {
		err = e.log.Close() // why it failed was told
	} else if len(e.layers.frozen) > 0 {
		e.o.Log.Warn().Msg("not all could be written to tables: it stays in the log")
		err = errors.Join(e.log.Sync(), e.log.Close())
	} else {
		err = e.log.Empty()
	}
	if closing := e.below.Close(late); closing != nil || err != nil {
		return fmt.Errorf("close the data: %w", errors.Join(err, closing))
	}
	return nil
}

// busy reports whether a closed engine still has to wait for somebody.
func (e *Engine) busy() bool {
	if e.under.Load() != 0 {
		return true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.forget()
}

// wake puts an element into a channel, unless it has one.
func (e *Engine) wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
