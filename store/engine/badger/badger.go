// Package badger is a Badger database in a folder or in memory as an engine: what engine/disk flushes to.
//
// Badger runs in managed mode: this package numbers commits itself. One goroutine, the writer, takes
// what Commit and Update have queued and commits it as one Badger transaction, so that many small writes
// share one write to the log and one sync, and read-modify-write needs no locks and cannot conflict. A
// read uses the snapshot that the writer published after its last commit; which old versions Badger may
// drop follows from the oldest read under way (see readers).
//
// To get one key Badger looks into each memtable and each table of the first level. So a cache keeps what was read
// twice within a short while, by readers or by the writer's merges (see cache). It knows for which snapshots its
// values are right, and the writer keeps it up to date. Scans do not use it.
//
// A merge is folded when it is written. A merge into a long value goes into a delta beside it (see tails).
//
// Some things Badger leaves open are done here: syncing full logs and the names of logs (see logs), and refusing
// commits before the disk is full (see room, ahead and gate). When a log cannot be written or synced nobody knows
// what of it is on disk: commits are refused until the folder is opened again. When only no file can be opened, they
// are taken again later.
//
// Badger trusts its files. So package check examines a folder before Badger opens it, against a record of its files
// and the number of the last commit (see commits), and refuses it if a file is damaged. Repair keeps what can be
// read.
package badger

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/store/engine/files"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/badger/check"
)

// Sync is when a commit is safe from a power cut. A killed process loses no acknowledged commit either
// way: Badger's log is a mapped file, which the system keeps.
type Sync uint8

const (
	// Periodic acknowledges a commit before it is on disk. All logs are synced every SyncEvery, so a power cut
	// loses what was acknowledged in the last SyncEvery and the time that a sync takes.
	Periodic Sync = iota

	// Batch acknowledges a commit when it is on disk. All commits that were waiting share one sync.
	Batch

	// Requested acknowledges a commit before it is on disk. Only Sync syncs.
	Requested
)

// Sizes of the memtable for Options.MemTableSize. It is allocated at once, and a commit may have at most
// 15 % of it.
const (
	ServerMemTable = 64 << 20
	SmallMemTable  = 8 << 20
)

// Options open an engine.
type Options struct {
	Dir          string        // "": in memory
	Sync         Sync          // of an engine in a folder
	SyncEvery    time.Duration // of Periodic; 0: a second
	MemTableSize int64         // 0: ServerMemTable
	CacheSize    int64         // most bytes of values kept for point reads; 0: half the memtable, negative: none
	LongValue    int           // from how many bytes on a value gets a tail when it is merged into; 0: 16 KiB
	Repair       bool          // open a folder with damaged files with what can be kept of them
	Log          zerolog.Logger

	Reserve   files.Reserve // of the volume, below which Refusing says so; at least what memtables need
	CommitLog *CommitLog    // a log in front of the engine that is kept in the same folder; nil: there is none

	free   func(dir string) (int64, error) // of a test; nil: files.FreeBytes
	volume func(dir string) (int64, error) // of a test; nil: files.VolumeBytes
}

// CommitLog is what Open has done to a commit log.
type CommitLog struct {
	// Examine examines it before anything in the folder is changed, and returns what is damaged. wanted says that there
	// must be one.
	Examine func(wanted bool) ([]files.Damage, error)

	// Create makes one if there is none. From then on there must be one.
	Create func() error
}

// Engine is the engine; see engine.Engine for what its methods promise.
type Engine struct {
	db       *badger.DB
	fold     engine.Fold
	limits   engine.Limits
	cache    *cache
	current  atomic.Pointer[snapshot] // of the last commit; never discarded, which managed mode allows
	readers  readers
	logs     *logs // nil: the engine is in memory
	syncing  sync.Mutex
	sync     Sync
	front    bool // there is a commit log in front
	room     room // the writer's
	log      zerolog.Logger
	gate     *gate // nil: the engine is in memory
	recorder *check.Recorder
	commits  *commits
	begun    chan struct{}         // a log may have been begun
	failed   atomic.Pointer[error] // why there are no more commits
	paused   atomic.Pointer[error] // why there are none until a sync succeeds
	full     atomic.Pointer[error] // why there is no room for any
	damage   atomic.Pointer[error] // why there is no more reading either
	queue    *queue
	probes   chan emptiedRange // for the prober
	closing  sync.RWMutex      // held for reading while the logs are synced for a caller, for writing to close
	closed   bool              // guarded by closing
	stop     chan struct{}
	finished sync.WaitGroup
}

var _ engine.Engine = (*Engine)(nil)

// Open opens or creates an engine.
func Open(o Options, fold engine.Fold) (*Engine, error) {
	if o.MemTableSize == 0 {
		o.MemTableSize = ServerMemTable
	}
	if o.CacheSize == 0 {
		o.CacheSize = o.MemTableSize / 2
	}
	if o.SyncEvery == 0 {
		o.SyncEvery = time.Second
	}
	if o.free == nil {
		o.free = files.FreeBytes
	}
	if o.volume == nil {
		o.volume = files.VolumeBytes
	}
	var folder *prepared
	var g *gate
	if o.Dir != "" {
		var err error
		if folder, err = prepareFolder(o); err != nil {
			return nil, err
		}
		o.MemTableSize = max(o.MemTableSize, folder.memtable)
		g = newGate(o)
		g.register()
	}
	db, err := badger.OpenManaged(badgerOptions(o, g))
	if err != nil {
		if g != nil {
			g.unregister()
		}
		if strings.Contains(err.Error(), "directory lock") {
			return nil, errInUse(o.Dir)
		}
		return nil, fmt.Errorf("open the data in %q: %w", o.Dir, err)
	}
	bytes := int(db.MaxBatchSize() * 9 / 10) // the rest is for Badger's own entries and overhead
	e := &Engine{
		db:    db,
		fold:  fold,
		cache: newCache(o.CacheSize),
		limits: engine.Limits{
			Key: maxKey, Value: largestValue(o, bytes), CommitBytes: bytes, CommitOps: int(db.MaxBatchCount() * 9 / 10),
		},
		sync:  o.Sync,
		front: o.CommitLog != nil,
		queue: newQueue(),
		stop:  make(chan struct{}),
		log:   o.Log,
		begun: make(chan struct{}, 1),
		gate:  g,

		probes: make(chan emptiedRange, 1),
	}
	last := db.MaxVersion()
	t := openTails(db, last, o.LongValue)
	e.publish(last, nil)
	if o.Dir != "" {
		if err := e.openFolder(o, folder, last); err != nil {
			return nil, errors.Join(err, db.Close())
		}
		e.finished.Add(2)
		go e.maintain(o)
		go e.checkLater(folder.unchecked, o.Log)
	}
	e.finished.Add(2)
	go e.probe()
	go (&writer{Engine: e, version: last, tails: t, threshold: db.Opts().ValueThreshold}).run()
	if folder != nil && folder.values {
		n, err := e.dropUnreadable()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("delete the keys of lost values: %w", err), e.Close())
		}
		o.Log.Error().Int("keys", n).Msg("the keys whose values are lost are deleted")
	}
	return e, nil
}

// openFolder starts what an engine in a folder does besides Badger. last is the newest commit.
func (e *Engine) openFolder(o Options, p *prepared, last uint64) (err error) {
	if e.recorder, err = check.NewRecorder(o.Dir, p.record, p.seen, last+1); err != nil {
		return err
	}
	if err := takeDiscard(o.Dir); err != nil {
		return err
	}
	ahead, err := newAhead(o.Dir, e.recorder.Seen, o.MemTableSize, func() {
		select {
		case e.begun <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return err
	}
	e.room = room{
		dir: o.Dir, reserve: reservedMemtables * o.MemTableSize, kept: o.Reserve, free: o.free, volume: o.volume,
		ahead: ahead,
	}
	e.logs = newLogs(o.Dir, e.db.Sync)
	if err := e.logs.all(); err != nil {
		return fmt.Errorf("cannot sync the log: %w", err)
	}
	e.commits, err = openCommits(o.Dir, last)
	return err
}

// closeFolder ends what openFolder started. Badger is closed already.
func (e *Engine) closeFolder() error {
	if e.logs == nil {
		return nil
	}
	e.gate.unregister()
	err := errors.Join(e.room.ahead.close(), e.logs.close(), e.commits.close())
	if err != nil || e.failed.Load() != nil {
		return err
	}
	return e.recorder.Close()
}

// badgerOptions chooses what measurements favour: no conflict detection, because there is one writer; one version
// of each key, because merges are folded when they are written; no compression and so no block cache; few tables on
// the first level, because each get looks into all of them and deleted keys go only when they are compacted.
func badgerOptions(o Options, g *gate) badger.Options {
	b := badger.DefaultOptions(o.Dir).
		WithInMemory(o.Dir == "").
		WithLogger(logger{o.Log, g}).
		WithDetectConflicts(false).
		WithMetricsEnabled(false).
		WithCompression(options.None).
		WithBlockCacheSize(0).
		WithNumVersionsToKeep(1).
		WithNumLevelZeroTables(2).
		WithNumMemtables(2).
		WithVerifyValueChecksum(true).
		WithMemTableSize(o.MemTableSize).
		WithValueLogFileSize(valueLogFile).
		WithSyncWrites(o.Sync == Batch)
	if o.CommitLog != nil { // tables of the first level are small, and come in the order of their keys
		b = b.WithNumLevelZeroTables(5).WithNumLevelZeroTablesStall(15).WithBaseLevelSize(64 << 20)
	}
	if o.Dir != "" {
		b.ValueThreshold = min(b.ValueThreshold, o.MemTableSize/10)
	}
	return b
}

// valueLogFile is how long a value log becomes. A value has to fit in.
const valueLogFile = 128 << 20

// largestValue is the length of the longest value. In memory there is no value log for values of the threshold's
// length or more. Behind a commit log a value may be longer than a commit is otherwise: it goes to the value log.
func largestValue(o Options, commit int) int {
	if o.CommitLog != nil {
		return valueLogFile / 2
	}
	if o.Dir == "" {
		return min(commit, int(badgerOptions(o, nil).ValueThreshold)-1)
	}
	return commit
}

// Limits says what a commit may have at most.
func (e *Engine) Limits() engine.Limits { return e.limits }

// Close waits for the commits that were queued and the reads under way, and closes the database.
func (e *Engine) Close() error {
	if !e.queue.close() {
		return engine.ErrClosed
	}
	close(e.stop)
	e.closing.Lock()
	e.closed = true
	e.closing.Unlock()
	e.finished.Wait()
	e.readers.close()
	if e.gate != nil {
		e.gate.closing.Store(true)
	}
	if err := e.db.Close(); err != nil {
		return fmt.Errorf("close the data: %w", err)
	}
	if err := e.closeFolder(); err != nil {
		return fmt.Errorf("close the data: %w", err)
	}
	return nil
}

// logger logs Badger's complaints, and tells the gate what Badger is about to do.
type logger struct {
	log  zerolog.Logger
	gate *gate
}

// Errorf logs an error of Badger's.
func (l logger) Errorf(f string, args ...any) {
	l.log.Error().Msgf("badger: "+strings.TrimSpace(f), args...)
}

// Warningf logs a warning of Badger's.
func (l logger) Warningf(f string, args ...any) {
	l.log.Warn().Msgf("badger: "+strings.TrimSpace(f), args...)
}

// Infof drops what Badger says.
func (l logger) Infof(string, ...any) {}

// Debugf lets the gate hear what Badger is about to do.
func (l logger) Debugf(format string, args ...any) { l.gate.heard(format, args) }
