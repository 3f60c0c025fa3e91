package badger

import (
	"errors"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// collectEvery is how often Badger is made to give back room in its value log.
const collectEvery = 10 * time.Minute

// maintain syncs the logs in Periodic mode and makes Badger give back room in its value log, until Close.
func (e *Engine) maintain(o Options) {
	defer e.finished.Done()
	collect := time.NewTicker(collectEvery)
	defer collect.Stop()
	var sync <-chan time.Time
	if o.Sync == Periodic {
		t := time.NewTicker(o.SyncEvery)
		defer t.Stop()
		sync = t.C
	}
	synced := e.current.Load()
	for e.failed.Load() == nil {
		select {
		case <-e.stop:
			return
		case <-sync:
			last := e.current.Load()
			if last == synced {
				continue
			}
			synced = last
			if err := e.syncLogs(); err != nil {
				o.Log.Error().Err(err).Msg("writes are refused from here on")
			}
		case <-collect.C:
			if err := e.collect(); err != nil {
				o.Log.Warn().Err(err).Msg("cannot clean the value log")
			}
		}
	}
}

// collect lets Badger write what is left of a value log elsewhere and remove the file. It waits with removing
// for all iterators, so there is one here until what it wrote is synced.
func (e *Engine) collect() error {
	txn := e.db.NewTransactionAt(e.current.Load().txn.ReadTs(), false)
	defer txn.Discard()
	it := txn.NewIterator(badger.IteratorOptions{})
	defer it.Close()
	err := e.db.RunValueLogGC(0.5)
	if errors.Is(err, badger.ErrNoRewrite) || errors.Is(err, badger.ErrRejected) {
		return nil
	}
	return errors.Join(err, e.syncLogs())
}
