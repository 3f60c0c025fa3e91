package badger

import (
	"fmt"

	"github.com/cqld/cqld/store/engine"
)

// refused says why there are no commits, if there are none.
func (e *Engine) refused() error {
	if p := e.damage.Load(); p != nil {
		return *p
	}
	if p := e.failed.Load(); p != nil {
		return fmt.Errorf("no more writes until the data is opened again: %w", *p)
	}
	return nil
}

// fail ends all commits, as nobody knows what of the log is on disk: Badger would add to it behind a hole, where
// it would not be found again.
func (e *Engine) fail(err error) error {
	e.failed.CompareAndSwap(nil, &err)
	return err
}

// Sync syncs all logs. Close waits for it.
func (e *Engine) Sync() error {
	e.closing.RLock()
	defer e.closing.RUnlock()
	if e.closed {
		return engine.ErrClosed
	}
	return e.syncLogs()
}

// syncLogs is Sync for the engine itself.
func (e *Engine) syncLogs() error {
	if e.logs == nil {
		return nil
	}
	e.syncing.Lock()
	defer e.syncing.Unlock()
	if p := e.failed.Load(); p != nil {
		return *p
	}
	if err := e.logs.all(); err != nil {
		return e.fail(fmt.Errorf("cannot sync the log: %w", err))
	}
	return nil
}

// syncNames syncs the names of logs.
func (e *Engine) syncNames() error {
	e.syncing.Lock()
	defer e.syncing.Unlock()
	return e.logs.named()
}
