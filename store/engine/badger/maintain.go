package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/cqld/cqld/store/engine/badger/check"
)

// collectEvery is how often Badger cleans its value log.
const collectEvery = 10 * time.Minute

// lookEvery is how often it is looked whether there is room on the disk.
const lookEvery = time.Second

// maintain keeps the record of files, looks whether the disk is full, tries again to sync the logs if that failed for
// now, and has Badger clean its value log, until Close.
func (e *Engine) maintain(o Options) {
	defer e.finished.Done()
	collect := time.NewTicker(collectEvery)
	defer collect.Stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for e.failed.Load() == nil {
		select {
		case <-e.stop:
			return
		case <-tick.C:
			if e.paused.Load() != nil {
				if err := e.Sync(); err != nil && !passes(err) {
					o.Log.Error().Err(err).Msg("writes are refused from here on")
				}
			}
			e.tables.Forget()
			e.look()
		case <-e.begun:
			e.refreshRecord()
		case <-collect.C:
			if err := e.collect(); err != nil {
				o.Log.Warn().Err(err).Msg("cannot clean the value log")
			}
		}
	}
}

// look refreshes the record, and notes whether there is room for commits.
func (e *Engine) look() {
	e.refreshRecord()
	err := e.room.enoughForFront()
	if err == nil {
		err = e.room.writable()
	}
	if err == nil && e.full.Load() != nil { // a commit may have found no descriptor
		err = e.gate.check()
	}
	e.noteRoom(err)
}

// noteRoom notes why there is no room, or that there is some if err is nil.
func (e *Engine) noteRoom(err error) {
	if err == nil {
		if e.full.Swap(nil) != nil {
			e.log.Info().Msg("there is room on the disk again")
		}
		return
	}
	if e.full.Swap(&err) == nil {
		e.log.Error().Err(err).Msg("writes are refused for now")
	}
}

// refreshRecord writes the record if files have appeared or gone.
func (e *Engine) refreshRecord() {
	err := e.recorder.Refresh(e.version.Load())
	if err != nil && !passes(err) {
		e.log.Warn().Err(err).Msgf("cannot write %s", check.RecordName)
	}
}

// collect lets Badger copy what is left of a value log and remove the file. Badger waits for all iterators before
// it removes it, so one stays open until the copies are synced.
func (e *Engine) collect() error {
	room := room{dir: e.room.dir, free: e.room.free, reserve: e.gate.need}
	if _, err := room.enough(e.db.Opts().ValueLogFileSize); err != nil {
		return err
	}
	last := e.version.Load()
	if err := e.recorder.SetCleaning(true, last); err != nil {
		return err
	}
	err := e.rewriteValues(last)
	return errors.Join(err, e.recorder.SetCleaning(false, last))
}

func (e *Engine) rewriteValues(last uint64) error {
	txn := e.db.NewTransactionAt(last, false)
	defer txn.Discard()
	it := txn.NewIterator(badger.IteratorOptions{})
	defer it.Close()
	err := e.db.RunValueLogGC(0.5)
	if errors.Is(err, badger.ErrNoRewrite) || errors.Is(err, badger.ErrRejected) {
		return nil
	}
	return errors.Join(err, e.Sync())
}

// takeDiscard takes the blocks of DISCARD, which Badger maps.
func takeDiscard(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, check.DiscardFile), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		file := aheadFile{f: f}
		err = file.take(max(0, info.Size()-aheadStep))
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("take the room of %s: %w", check.DiscardFile, err)
	}
	return nil
}
