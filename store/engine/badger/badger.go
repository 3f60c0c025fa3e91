// Package badger is a Badger database in a folder: the tables that engine/disk flushes to.
//
// Badger runs in managed mode: this package numbers transactions itself. One goroutine writes, in large transactions. A
// merge is folded when it is written. Reads have snapshots, and the oldest of them says which versions Badger may
// drop.
//
// Package tables reads what Badger has. Scans step over ranges in which all keys are deleted (see emptied).
//
// Some things Badger leaves open are done here: syncing full logs and the names of logs (see logs), and refusing
// writes before the disk is full (see room, ahead and gate). When a log cannot be written or synced nobody knows
// what of it is on disk: writes are refused until the folder is opened again. When only no file can be opened, they
// are taken again later.
//
// Badger trusts its files. So package check examines a folder before Badger opens it, against a record of its files
// and the number of the last transaction (see commits), and refuses it if a file is damaged. Repair keeps what can be
// read.
package badger

import (
	"cmp"
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
	"github.com/cqld/cqld/store/engine/badger/tables"
)

// EarlierMemTable is the size of the memtables of earlier versions, whose logs a folder may have.
const EarlierMemTable = 64 << 20

// Options open an engine.
type Options struct {
	Dir          string
	TableSize    int64 // of the smallest tables; up to 18 are made at a time, in six times the memory; 0: tableSize
	MemTableSize int64 // allocated at once; a transaction may have at most 15 % of it; 0: EarlierMemTable
	IndexSize    int64 // most bytes of indexes of tables; if all need more, Badger reads the tables; 0: indexSize
	Repair       bool  // open a folder with damaged files with what can be kept of them
	Log          zerolog.Logger

	// CloseWithin is how long Close waits for tables that are merged. Then it leaves the folder as a process does that is
	// killed, in which case the process has to end. 0: as long as it takes.
	CloseWithin time.Duration

	Reserve   files.Reserve // of the volume, below which Refusing says so; at least what memtables need
	CommitLog *CommitLog    // the log in front, kept in the same folder; nil: there is none, as in earlier versions

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

// Engine is a database.
type Engine struct {
	db          *badger.DB
	fold        engine.Fold
	tables      *tables.Reader // nil: Badger is asked for everything
	version     atomic.Uint64  // of the last transaction
	logs        *logs
	closeWithin time.Duration
	syncing     sync.Mutex
	room        room // of who calls Write
	log         zerolog.Logger
	gate        *gate
	recorder    *check.Recorder
	commits     *commits
	begun       chan struct{}         // a log may have been begun
	failed      atomic.Pointer[error] // why nothing is written any more
	paused      atomic.Pointer[error] // why nothing is written until a sync succeeds
	full        atomic.Pointer[error] // why there is no room
	damage      atomic.Pointer[error] // why there is no more reading either
	stop        chan struct{}
	finished    sync.WaitGroup
	merging     sync.WaitGroup

	mu        sync.Mutex
	snapshots []*Snapshot   // that are not released
	emptied   emptiedRanges // of the next snapshot
}

// Open opens or creates a database. fold folds what is merged.
func Open(o Options, fold engine.Fold) (*Engine, error) {
	if o.MemTableSize == 0 {
		o.MemTableSize = EarlierMemTable
	}
	if o.free == nil {
		o.free = files.FreeBytes
	}
	if o.volume == nil {
		o.volume = files.VolumeBytes
	}
	folder, err := prepareFolder(o)
	if err != nil {
		return nil, err
	}
	o.MemTableSize = max(o.MemTableSize, folder.memtable)
	g := newGate(o)
	g.register()
	db, err := badger.OpenManaged(badgerOptions(o, g))
	if err != nil {
		g.unregister()
		if strings.Contains(err.Error(), "directory lock") {
			return nil, errInUse(o.Dir)
		}
		return nil, fmt.Errorf("open the data in %q: %w", o.Dir, err)
	}
	e := &Engine{
		db: db, fold: fold, log: o.Log, gate: g, closeWithin: o.CloseWithin,
		begun: make(chan struct{}, 1), stop: make(chan struct{}),
	}
	failed := func(err error) { o.Log.Warn().Err(err).Msg("cannot remove a table") }
	if e.tables, err = tables.New(db, cmp.Or(o.IndexSize, indexSize), failed); err != nil {
		o.Log.Warn().Err(err).Msg("rows are read more slowly")
	}
	last := db.MaxVersion()
	e.version.Store(last)
	if err := e.openFolder(o, folder, last); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	e.finished.Add(2)
	go e.maintain(o)
	go e.checkLater(folder.unchecked, o.Log)
	if folder.values {
		n, err := e.dropUnreadable()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("delete the keys of lost values: %w", err), e.Close())
		}
		o.Log.Error().Int("keys", n).Msg("the keys whose values are lost are deleted")
	}
	if err := e.foldTails(); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// openFolder starts what is done besides Badger. last is the newest transaction.
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
	e.gate.unregister()
	err := errors.Join(e.room.ahead.close(), e.logs.close(), e.commits.close())
	if err != nil || e.failed.Load() != nil {
		return err
	}
	return e.recorder.Close()
}

const (
	// indexSize suffices for some 10 GB of tables.
	indexSize = 32 << 20

	// firstLevelTables is how many tables the first level gets before they are merged into the next one with keys, which
	// has up to baseLevel bytes. The more come at a time, the less often that level is written anew: merging 5 tables into
	// 64 MiB was two thirds of what an insert cost. 256 MiB cost no less than 128, and are merged for longer. A flush
	// divides its keys among its tables, so that a range of keys is in few of them. A get asks the Bloom filters of all
	// (see MergeWhileCalm).
	firstLevelTables = 20
	baseLevel        = 128 << 20

	// tableSize is how long a table becomes, of which Badger fills 95 hundredths: a page of 2 MiB and little more. See
	// largePiece.
	tableSize = 2200 << 10
)

// badgerOptions chooses what measurements favour: no conflict detection, because one goroutine writes; one version
// of each key, because merges are folded when they are written; no compression and so no block cache.
func badgerOptions(o Options, g *gate) badger.Options {
	b := badger.DefaultOptions(o.Dir).
		WithLogger(logger{o.Log, g}).
		WithDetectConflicts(false).
		WithMetricsEnabled(false).
		WithCompression(options.None).
		WithBlockCacheSize(0).
		WithNumVersionsToKeep(1).
		WithNumLevelZeroTables(firstLevelTables).
		WithNumLevelZeroTablesStall(3 * firstLevelTables).
		WithBaseLevelSize(baseLevel).
		WithNumMemtables(2).
		WithNumCompactors(2).
		WithVerifyValueChecksum(true).
		WithMemTableSize(o.MemTableSize).
		WithValueLogFileSize(valueLogFile)
	b.BaseTableSize = cmp.Or(o.TableSize, tableSize)
	b.ValueThreshold = min(b.ValueThreshold, o.MemTableSize/10)
	return b
}

// valueLogFile is how long a value log becomes. A value has to fit in.
const valueLogFile = 128 << 20

// Close closes the database. Nobody reads or writes any more.
func (e *Engine) Close() error {
	close(e.stop)
	e.finished.Wait()
	e.gate.closing.Store(true)
	closed := make(chan error, 1)
	go func() {
		e.merging.Wait()
		e.tables.Close()
		err := e.db.Close()
		if err == nil {
			err = e.closeFolder()
		}
		closed <- err
	}()
	var left <-chan time.Time
	if e.closeWithin > 0 {
		left = time.After(e.closeWithin)
	}
	select {
	case err := <-closed:
		if err != nil {
			return fmt.Errorf("close the data: %w", err)
		}
	case <-left:
		e.log.Info().Msg("tables are being merged: that begins anew at the next start")
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
