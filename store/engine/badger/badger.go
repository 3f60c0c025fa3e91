// Package badger is the default engine: a Badger database in memory or in a folder.
//
// Badger runs in managed mode: this package numbers commits itself. One goroutine, the writer, takes
// what Commit and Update have queued and commits it as one Badger transaction, so that many small writes
// share one write to the log and one sync, and read-modify-write needs no locks and cannot conflict. A
// read uses the snapshot that the writer published after its last commit; which old versions Badger may
// drop follows from the oldest read under way (see readers).
//
// To get one key Badger looks into each memtable and each table of the first level, wherever the key is.
// So what was got last, by readers or by the writer's merges, is kept in a cache, which knows which
// snapshots its values are right for and which the writer keeps up to date (see cache). Scans pass it by.
package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine"
)

// Sync is when a commit is safe from a power cut. A killed process loses no acknowledged commit either
// way: Badger's log is a mapped file, which the system keeps.
type Sync uint8

const (
	// Periodic acknowledges a commit before it is on disk. The log is synced every SyncEvery, and a full
	// log is synced as a whole when its table is written right after, so a power cut loses about the last
	// SyncEvery.
	Periodic Sync = iota

	// Batch acknowledges a commit when it is on disk. All commits that were waiting share one sync.
	Batch
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
	Log          zerolog.Logger
}

// Engine is the engine; see engine.Engine for what its methods promise.
type Engine struct {
	db       *badger.DB
	fold     engine.Fold
	limits   engine.Limits
	cache    *cache
	current  atomic.Pointer[snapshot] // of the last commit; never discarded, which managed mode allows
	readers  readers
	queue    chan request
	sending  sync.RWMutex // held for reading while sending to queue, for writing to close it
	closed   bool         // guarded by sending
	stop     chan struct{}
	finished sync.WaitGroup
}

var _ engine.Engine = (*Engine)(nil)

// queueLength is how many requests wait for the writer before Commit blocks.
const queueLength = 4096

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
	if o.Dir != "" {
		if err := checkFolder(o.Dir); err != nil {
			return nil, err
		}
	}
	db, err := badger.OpenManaged(badgerOptions(o))
	if err != nil {
		if strings.Contains(err.Error(), "directory lock") {
			return nil, fmt.Errorf("the folder %s is in use by another process", o.Dir)
		}
		return nil, fmt.Errorf("open the data in %q: %w", o.Dir, err)
	}
	bytes := int(db.MaxBatchSize() * 9 / 10) // the rest is for Badger's own entries and overhead
	e := &Engine{
		db:    db,
		fold:  fold,
		cache: newCache(o.CacheSize),
		limits: engine.Limits{
			Key: maxKey, Value: bytes, CommitBytes: bytes, CommitOps: int(db.MaxBatchCount() * 9 / 10),
		},
		queue: make(chan request, queueLength),
		stop:  make(chan struct{}),
	}
	last := db.MaxVersion()
	e.publish(last)
	e.finished.Add(1)
	go (&writer{Engine: e, version: last, filter: newFilter()}).run()
	if o.Dir != "" {
		e.finished.Add(1)
		go e.maintain(o)
	}
	return e, nil
}

// badgerOptions chooses what measurements favour: no conflict detection, as there is one writer; one
// version of each key, as merges are folded when they are written; no compression and so no block cache.
func badgerOptions(o Options) badger.Options {
	b := badger.DefaultOptions(o.Dir).
		WithInMemory(o.Dir == "").
		WithLogger(logger{o.Log}).
		WithDetectConflicts(false).
		WithMetricsEnabled(false).
		WithCompression(options.None).
		WithBlockCacheSize(0).
		WithNumVersionsToKeep(1).
		WithMemTableSize(o.MemTableSize).
		WithValueLogFileSize(128 << 20).
		WithSyncWrites(o.Sync == Batch)
	b.ValueThreshold = min(b.ValueThreshold, o.MemTableSize/10)
	return b
}

// checkFolder creates the folder and refuses one that cannot be written to.
func checkFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("the folder %s cannot be created: %w", dir, err)
	}
	f, err := os.CreateTemp(dir, "writable")
	if err != nil {
		return fmt.Errorf("the folder %s cannot be written to: %w", dir, errors.Unwrap(err))
	}
	return errors.Join(f.Close(), os.Remove(filepath.Clean(f.Name())))
}

// maintain syncs the log in Periodic mode and makes Badger give back room in its value log, until Close.
func (e *Engine) maintain(o Options) {
	defer e.finished.Done()
	collect := time.NewTicker(10 * time.Minute)
	defer collect.Stop()
	var sync <-chan time.Time
	if o.Sync == Periodic {
		t := time.NewTicker(o.SyncEvery)
		defer t.Stop()
		sync = t.C
	}
	for {
		select {
		case <-e.stop:
			return
		case <-sync:
			if err := e.db.Sync(); err != nil {
				o.Log.Error().Err(err).Msg("cannot sync the log to disk")
			}
		case <-collect.C:
			err := e.db.RunValueLogGC(0.5)
			if err != nil && !errors.Is(err, badger.ErrNoRewrite) && !errors.Is(err, badger.ErrRejected) {
				o.Log.Warn().Err(err).Msg("cannot clean the value log")
			}
		}
	}
}

// Limits says what a commit may have at most.
func (e *Engine) Limits() engine.Limits { return e.limits }

// Close waits for the commits that were queued and the reads under way, and closes the database.
func (e *Engine) Close() error {
	e.sending.Lock()
	if e.closed {
		e.sending.Unlock()
		return engine.ErrClosed
	}
	e.closed = true
	close(e.queue)
	close(e.stop)
	e.sending.Unlock()
	e.finished.Wait()
	e.readers.close()
	if err := e.db.Close(); err != nil {
		return fmt.Errorf("close the data: %w", err)
	}
	return nil
}

// logger passes on what Badger complains about.
type logger struct{ log zerolog.Logger }

func (l logger) Errorf(f string, args ...any) {
	l.log.Error().Msgf("badger: "+strings.TrimSpace(f), args...)
}

func (l logger) Warningf(f string, args ...any) {
	l.log.Warn().Msgf("badger: "+strings.TrimSpace(f), args...)
}
func (l logger) Infof(string, ...any)  {}
func (l logger) Debugf(string, ...any) {}
