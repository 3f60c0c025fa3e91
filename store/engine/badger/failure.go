package badger

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/badger/check"
)

// ErrDamaged is the kind of error that Open refuses a folder with damaged files with.
var ErrDamaged = check.ErrDamaged

// refused says why there are no commits, if there are none.
func (e *Engine) refused() error {
	if p := e.damage.Load(); p != nil {
		return *p
	}
	if p := e.failed.Load(); p != nil {
		return fmt.Errorf("%w: no more writes until the data is opened again: %w", engine.ErrRefused, *p)
	}
	if p := e.paused.Load(); p != nil {
		return fmt.Errorf("%w: %w", engine.ErrRefused, *p)
	}
	return nil
}

// Damage is the damage that was found while the engine works: it reads and writes no more then.
func (e *Engine) Damage() error {
	if p := e.damage.Load(); p != nil {
		return *p
	}
	return nil
}

// Failed reports whether there are no more commits until the folder is opened again.
func (e *Engine) Failed() bool { return e.damage.Load() != nil || e.failed.Load() != nil }

// Passes reports whether an error of Sync ends by itself.
func (e *Engine) Passes(err error) bool { return passes(err) }

// Refusing says why commits are refused at the moment.
func (e *Engine) Refusing() error {
	if err := e.refused(); err != nil {
		return err
	}
	if p := e.full.Load(); p != nil {
		return *p
	}
	return nil
}

// fail ends all commits. Nobody knows what of the log is on disk: Badger would append behind a gap, where it would
// not be found again.
func (e *Engine) fail(err error) error {
	e.failed.CompareAndSwap(nil, &err)
	return err
}

// passes reports whether an error ends by itself and says nothing about the disk: no file could be opened. After
// any other failed sync the system may have forgotten what it did not write.
func passes(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// pause refuses commits until a sync succeeds.
func (e *Engine) pause(err error) {
	if e.paused.Swap(&err) == nil {
		e.log.Error().Err(err).Msg("writes are refused for now")
	}
}

// Sync returns when everything that was written before is on disk.
func (e *Engine) Sync() error {
	e.syncing.Lock()
	defer e.syncing.Unlock()
	if p := e.failed.Load(); p != nil {
		return *p
	}
	last := e.version.Load()
	err := e.logs.all()
	switch {
	case err == nil:
		e.commits.synced(last)
		if e.paused.Swap(nil) != nil {
			e.log.Info().Msg("writes are taken again")
		}
		return nil
	case passes(err):
		err = fmt.Errorf("cannot sync the log now: %w", err)
		e.pause(err)
		return err
	}
	return e.fail(fmt.Errorf("cannot sync the log: %w", err))
}
