package disk

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/badger"
	"github.com/cqld/cqld/store/engine/disk/commitlog"
	"github.com/cqld/cqld/store/engine/files"
	"github.com/cqld/cqld/store/engine/memory"
)

// Open opens or creates an engine.
func Open(o Options, fold engine.Fold) (*Engine, error) {
	if o.Memtable == 0 {
		o.Memtable = defaultMemtable
	}
	if o.Filter == 0 {
		o.Filter = memory.DefaultFilter
	}
	if o.SyncEvery == 0 {
		o.SyncEvery = time.Second
	}
	if o.maxWait == 0 {
		o.maxWait = maxWait
	}
	if o.segment == 0 {
		o.segment = min(o.Memtable, maxSegment)
	}
	e := &Engine{
		o: o, fold: fold, flushing: make(chan struct{}, 1), making: make(chan struct{}, 1),
		stop: make(chan struct{}), late: make(chan struct{}),
	}
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
	if o.ReadOnly {
		if err := e.openReadOnly(x, below); err != nil {
			return nil, err
		}
		return e, nil
	}
	if e.badger, err = badger.Open(below); err != nil {
		return nil, err
	}
	if err := e.openLog(x); err != nil {
		return nil, errors.Join(err, e.badger.Close(nil))
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

// maxReplayed is how many segments stay after a replay. Each start makes a segment: a server that is killed often and
// written to little would keep all of them, until it had written a whole memtable.
const maxReplayed = 4

// openLog replays the log and starts the engine's goroutines. Tables have the commits up to badger.Flushed: the log
// has to go on from there.
func (e *Engine) openLog(x *commitlog.Examination) error {
	e.Init(e.fold, e, e.badger.Snapshot(), e.o.Filter)
	e.inTables = e.badger.Flushed()
	e.Memtable.Last = e.inTables
	x.Continue(e.inTables)
	if !e.o.Repair {
		if err := badger.Refuse(e.o.Dir, x.Damages); err != nil {
			return err
		}
	}
	if err := x.Create(); err != nil {
		return err
	}
	for _, text := range x.Warnings {
		e.o.Log.Warn().Str("folder", e.o.Dir).Msg(text)
	}
	options := commitlog.Options{SegmentSize: e.o.segment, Mapped: e.o.Sync == Periodic, Sync: e.o.syncFile}
	var err error
	if len(x.Damages) > 0 {
		err = e.repairLog(x, options)
	} else if err = x.Replay(e.replay); err == nil { // I7
		e.log, err = x.Open(options)
	}
	if err == nil {
		err = e.badger.Confirm()
	}
	if err != nil {
		return err
	}
	if segments, _ := e.log.Size(); segments > maxReplayed {
		e.Freeze()
	}
	e.synced = time.Now()
	e.finished.Add(3)
	panics.Go(&e.o.Log, e.flushFrozen)
	panics.Go(&e.o.Log, e.makeSegments)
	panics.Go(&e.o.Log, e.syncLog)
	wake(e.flushing)
	return nil
}

// openReadOnly replays the log, and writes nothing.
func (e *Engine) openReadOnly(x *commitlog.Examination, below badger.Options) (err error) {
	if e.badger, err = badger.OpenReadOnly(below); err != nil {
		return err
	}
	e.Init(e.fold, e, e.badger.Snapshot(), e.o.Filter)
	e.Memtable.Last = e.badger.Flushed()
	if x.Continue(e.Memtable.Last); len(x.Damages) > 0 {
		err = badger.Refuse(e.o.Dir, x.Damages)
	} else {
		err = x.Replay(e.replay)
	}
	if err != nil {
		return errors.Join(err, e.badger.CloseReadOnly())
	}
	e.Fail(errors.New("the folder was opened for reading"))
	return nil
}

// replay applies a commit of the log.
func (e *Engine) replay(seq uint64, ops []engine.Op) error {
	if err := e.Replay(ops); err != nil {
		return fmt.Errorf("read the commit %d of the log: %w", seq, err)
	}
	e.Memtable.Last = seq
	if e.Memtable.Size >= e.o.Memtable {
		e.Freeze()
	}
	return nil
}

// repairLog flushes the commits that can be read from a damaged log before a new log is begun.
func (e *Engine) repairLog(x *commitlog.Examination, o commitlog.Options) error {
	losses, err := x.ReplayIntact(e.badger.HasNewer(), e.replay)
	if err == nil {
		err = badger.NoteRepair(e.o.Dir, losses...)
	}
	if err != nil {
		return err
	}
	e.Memtable.Last = x.Last()
	e.Freeze()
	for m := e.OldestFrozen(); m != nil; m = e.OldestFrozen() {
		if err := e.writeTables(m, e.Layers.Base); err != nil {
			return err
		}
		e.Flushed(m, e.badger.Snapshot())
		e.inTables = m.Last
	}
	if err := e.badger.EmptyMemtable(); err != nil { // I5
		return err
	}
	e.log, err = x.Reset(e.o.Log, o)
	return err
}

// Examine compares all files of a folder that is not open with their checksums, and changes nothing. progress is
// called before each table with the file's name, and how many of them there are and were examined. It returns the
// damage; an error says that something could not be examined.
func Examine(dir string, progress func(file string, done, all int)) ([]files.Damage, error) {
	unlock, err := files.LockFolder(dir)
	if errors.Is(err, files.ErrInUse) {
		return nil, fmt.Errorf("the folder %s is in use by another process", dir)
	}
	if err != nil {
		return nil, err
	}
	defer unlock()
	exists, _, err := badger.QuickExamine(dir)
	if err != nil {
		return nil, err
	}
	log, err := commitlog.Examine(dir, exists)
	if err != nil {
		return nil, err
	}
	damages, err := badger.Examine(dir, progress)
	return slices.Concat(damages, log.Damages), err
}
