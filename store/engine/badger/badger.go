// Package badger stores the memtables that engine/disk flushes in a Badger database. It uses Badger through its
// exported API alone, and adds the guarantees that a store needs which must not lose acknowledged writes:
//
//   - A Flush writes a whole memtable (flush.go). All its keys have one version, so a Snapshot shows the whole flush or
//     nothing of it. A marker that names its last commit completes it; Open reads the marker and checks that all
//     transactions of the flush are there.
//   - Level zero never has more than three tables (admission.go). From four tables on Badger may merge tables of level
//     zero with each other, which breaks their order by age: old values and deleted keys come back.
//   - Each value has a checksum over its key and itself (entry.go), which is verified when it is read. Badger verifies
//     blocks only where a bad block would silently end a table, so its own modes are off. A background scrub reads all
//     tables (scrub.go).
//   - Long values are cut into chunks that Badger keeps in its tables (long.go), so no value log has to be collected.
//   - Keys with a prefix that nothing reads any more are dropped with their tables (drop.go).
//   - A folder is examined before Badger opens it (folder.go): Badger deletes and truncates files of a damaged folder.
//     Repair copies everything that is intact into a new database (repair.go).
//
// After an error of Badger it is unknown which entries it has written: nothing is flushed any more until the folder is
// opened again, and the commit log keeps the acknowledged commits.
package badger

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/rs/zerolog"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/files"
)

// ErrDamaged is wrapped by the error for a folder with damaged files.
var ErrDamaged = engine.ErrDamaged

// Options open a database.
type Options struct {
	Dir      string
	MemTable int64         // bytes of Badger's memtable; a flush of more waits for compactions in between; 0: 64 MiB
	Reserve  files.Reserve // of the volume, below which Refusing says so
	Repair   bool          // open a damaged folder with everything in it that is intact
	Log      zerolog.Logger
	Free     func(dir string) (int64, error) // of a test; nil: files.FreeBytes
	Volume   func(dir string) (int64, error) // of a test; nil: files.VolumeBytes
	Eager    bool                            // of a test: Drop drops whatever that costs
	still    bool                            // of a test: nothing is scrubbed
}

// Engine is a database.
type Engine struct {
	o          Options
	db         *badger.DB
	version    atomic.Uint64 // of the newest complete flush, or the newest that Open found
	flushed    uint64        // the last commit of the flushes that were complete when the folder was opened
	unsure     bool          // a later flush is incomplete: it is forgotten when the log has its commits
	newer      bool          // a repair has found entries of flushes after them
	inTables   uint64        // see InTables; only the flusher changes these
	inLogs     []loggedFlush
	long       longValues            // only the flusher changes it
	damage     atomic.Pointer[error] // why nothing is read or written any more
	failed     atomic.Pointer[error] // why nothing is flushed any more
	full       atomic.Pointer[error] // why commits are refused for now
	lastFull   atomic.Int64          // when commits were last refused because space was short
	compact    atomic.Bool           // tables are compacted soon, if keys were deleted
	spared     atomic.Int64          // bytes of entries that were deleted, since then, while space was short
	deleted    atomic.Uint64         // the last flush that deleted keys; 0: none since all tables were compacted
	flushes    atomic.Bool           // a flush is under way
	flattening atomic.Bool           // all tables are being compacted, and flushes wait

	writing    sync.Mutex // held while Badger is written to
	budget     int64      // bytes that a flush may write before level zero is looked at again; guarded by writing
	compacting sync.Mutex // held while all tables are compacted, or some dropped; before writing

	mu        sync.Mutex
	snapshots []*Snapshot // that are not released

	stop     chan struct{}
	finished sync.WaitGroup
}

// Open opens or creates a database.
func Open(o Options) (*Engine, error) {
	o.setDefaults()
	if err := prepareFolder(&o); err != nil {
		return nil, err
	}
	db, err := badger.OpenManaged(badgerOptions(o))
	if err != nil {
		return nil, openError(o.Dir, err)
	}
	e := &Engine{o: o, db: db, stop: make(chan struct{})}
	if err := e.loadState(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	e.finished.Add(2)
	panics.Go(&o.Log, e.watch)
	panics.Go(&o.Log, e.freeSpace)
	if !o.still {
		e.finished.Add(1)
		panics.Go(&o.Log, e.scrubPeriodically)
	}
	return e, nil
}

func (o *Options) setDefaults() {
	if o.MemTable == 0 {
		o.MemTable = 64 << 20
	}
	if o.Free == nil {
		o.Free = files.FreeBytes
	}
	if o.Volume == nil {
		o.Volume = files.VolumeBytes
	}
}

// loadState reads the markers of the last flushes and the list of long values.
func (e *Engine) loadState() (err error) {
	e.version.Store(e.db.MaxVersion())
	e.db.SetDiscardTs(e.version.Load()) // it is 0 after Open, and would keep all versions
	repaired, err := ReadRepair(e.o.Dir)
	if err != nil {
		return err
	}
	e.flushed, e.unsure, err = e.readMarkers()
	if e.o.Repair && (repaired != nil || errors.Is(err, ErrDamaged)) {
		e.flushed, err = e.mend()
	}
	if err != nil {
		return err
	}
	if err := e.long.load(e.db, e.version.Load()); err != nil {
		return err
	}
	newest, _, err := memtableNumbers(e.o.Dir)
	e.inLogs = []loggedFlush{{e.flushed, newest - 1}} // nothing is in the newest yet
	e.checkSpace()
	return err
}

// openError wraps Badger's error for a folder.
func openError(dir string, err error) error {
	if strings.Contains(err.Error(), "directory lock") {
		return errInUse(dir)
	}
	return fmt.Errorf("open the data in %q: %w", dir, err)
}

// tableSize is the size of the smallest tables for a size of memtables. A compaction makes up to 13 tables at a time,
// each in a buffer of twice its size, and Badger keeps eight of these buffers and of those for tables made of
// memtables. So the sizes of memtables and tables determine the memory that Badger's compactions use.
func tableSize(memtable int64) int64 {
	switch {
	case memtable >= 32<<20:
		return 8 << 20
	case memtable > 8<<20:
		return 2 << 20
	}
	return 1 << 20
}

// badgerOptions are the options for all ways of opening a folder. One goroutine writes, so there are no conflicts;
// values are not compressed, so there is no block cache.
func badgerOptions(o Options) badger.Options {
	b := badger.DefaultOptions(o.Dir).
		WithLogger(logger{o.Log}).
		WithSyncWrites(true).
		WithDetectConflicts(false).
		WithMetricsEnabled(false).
		WithCompression(options.None).
		WithBlockCacheSize(0).
		WithNumVersionsToKeep(1).
		WithNumLevelZeroTables(2).
		WithNumLevelZeroTablesStall(maxLevelZero).
		WithNumMemtables(1).
		WithNumCompactors(2).
		WithMemTableSize(o.MemTable).
		WithBaseLevelSize(max(10<<20, 8*o.MemTable)).
		WithValueLogFileSize(1 << 20) // which is never written to
	b.BaseTableSize = tableSize(o.MemTable)
	b.ValueThreshold = min(1<<20, o.MemTable*15/100)
	return b
}

// Flushed is the last commit that Open found in tables. The commits after it have to be in the log.
func (e *Engine) Flushed() uint64 { return e.flushed }

// HasNewer reports whether a repair has found entries of commits after Flushed in tables. Which commits is unknown.
func (e *Engine) HasNewer() bool { return e.newer }

// AllInTables reports whether a folder that was closed has everything in tables.
func AllInTables(dir string) bool {
	n, err := countMemtables(dir)
	return err == nil && n == 0
}

// Damage is damage that was found since Open, or nil. After it nothing is read or written any more.
func (e *Engine) Damage() error {
	if p := e.damage.Load(); p != nil {
		return *p
	}
	return nil
}

// found notes damage.
func (e *Engine) found(damage error) error {
	if e.damage.CompareAndSwap(nil, &damage) {
		e.o.Log.Error().Err(damage).Msg("the data is damaged: nothing is read or written any more")
	}
	return damage
}

// Refusing returns the reason why commits are refused at the moment, or nil. freeing asks for commits that free space,
// which no lack of space refuses: the log has room for them as long as it has a segment.
func (e *Engine) Refusing(freeing bool) error {
	if err := e.Damage(); err != nil {
		return err
	}
	if p := e.failed.Load(); p != nil {
		return fmt.Errorf("%w: no more writes until the data is opened again: %w", engine.ErrRefused, *p)
	}
	if p := e.full.Load(); p != nil && !(freeing && errors.Is(*p, engine.ErrFull)) {
		return *p
	}
	return nil
}

// Tables is the number of tables. Each has an open file.
func (e *Engine) Tables() int { return len(e.db.Tables()) }

// Compact compacts all tables into one level, without deleted and overwritten keys.
// Flushes wait meanwhile, because a key that is deleted by a flush which is not complete reaches the last level with
// its value, and stays there.
func (e *Engine) Compact() error {
	e.compacting.Lock()
	defer e.compacting.Unlock()
	e.flattening.Store(true)
	defer e.flattening.Store(false)
	if err := e.awaitEmptyMemtable(); err != nil {
		return err
	}
	return e.db.Flatten(1)
}

// EmptyMemtable returns when all complete flushes are in tables.
func (e *Engine) EmptyMemtable() error {
	e.compacting.Lock()
	defer e.compacting.Unlock()
	return e.awaitEmptyMemtable()
}

func (e *Engine) awaitEmptyMemtable() error {
	err := e.emptyMemtable(e.room)
	for IsBehind(err) && e.sleep(compactionPoll) {
		err = e.emptyMemtable(e.room)
	}
	return err
}

// Hasten makes a table of Badger's memtable if the commit log keeps commits because of it, and there is room. That
// takes less than a flush, and so frees the log on a disk that has no room for one. Only the flusher calls it.
func (e *Engine) Hasten() error {
	if _, err := e.InTables(); err != nil || len(e.inLogs) == 0 {
		return err
	}
	e.compacting.Lock()
	defer e.compacting.Unlock()
	err := e.emptyMemtable(func() error {
		merged := int64(0)
		for _, l := range e.db.Levels() {
			if l.Level == 0 || l.IsBaseLevel {
				merged += l.Size
			}
		}
		return e.leaves(0, 2*e.o.MemTable+merged)
	})
	if IsBehind(err) || errors.Is(err, engine.ErrFull) {
		return nil // it is tried again
	}
	return err
}

// compactionPoll is how often Compact looks whether Badger takes more.
const compactionPoll = 5 * time.Millisecond

// emptyMemtable makes a table of Badger's memtable, which Flatten would leave. DropPrefix does so if there is something
// to drop. room says whether there is room.
func (e *Engine) emptyMemtable(room func() error) error {
	e.writing.Lock()
	defer e.writing.Unlock()
	if err := e.mayFlush(room); err != nil {
		return err
	}
	txn := e.db.NewTransactionAt(e.version.Load(), true)
	defer txn.Discard()
	key := []byte(emptyingKey)
	if err := txn.SetEntry(badger.NewEntry(key, sealEntry(nil, key, nil, whole))); err != nil {
		return err
	}
	if err := txn.CommitAt(max(e.version.Load(), 1), nil); err != nil {
		e.failed.CompareAndSwap(nil, &err)
		return err
	}
	return e.dropPrefixes([][]byte{key})
}

// emptyingKey is a key that is written to be dropped.
const emptyingKey = ownPrefix + "empty!"

// Close closes the database, after the last read and write. It waits for compactions until late, which may be nil.
// Then it leaves the folder as a killed process does, and the process has to end.
func (e *Engine) Close(late <-chan time.Time) error {
	close(e.stop)
	closed := make(chan error, 1)
	panics.Go(&e.o.Log, func() {
		e.finished.Wait() // for compactions that Badger's Close would not wait for, too
		closed <- panics.Call(e.db.Close)
	})
	select {
	case err := <-closed:
		if err != nil {
			return fmt.Errorf("close the data: %w", err)
		}
	case <-late:
		e.o.Log.Info().Msg("a compaction was interrupted: it begins again at the next start")
	}
	return nil
}

// logger logs Badger's warnings and errors.
type logger struct{ log zerolog.Logger }

// Errorf logs an error of Badger's.
func (l logger) Errorf(f string, args ...any) {
	l.log.Error().Msgf("badger: "+strings.TrimSpace(f), args...)
}

// Warningf logs a warning of Badger's.
func (l logger) Warningf(f string, args ...any) {
	l.log.Warn().Msgf("badger: "+strings.TrimSpace(f), args...)
}

// Infof drops the message.
func (l logger) Infof(string, ...any) {}

// Debugf drops the message.
func (l logger) Debugf(string, ...any) {}
