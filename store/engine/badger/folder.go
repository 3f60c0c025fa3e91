package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cqld/cqld/store/engine/files"

	"github.com/cqld/cqld/store/engine/badger/check"
)

// prepared is what is known of a folder when Badger opens it.
type prepared struct {
	record    *check.Record
	unchecked []string // tables and value logs to check while the engine works
	values    bool     // values are lost, and their keys have to go
	seen      check.FilesSeen
	memtable  int64 // the least size of the memtable that the folder's logs fit in
}

// prepareFolder examines a folder, repairs it if it may, and makes it ready for Badger. It changes nothing in a
// folder that it refuses.
func prepareFolder(o Options) (*prepared, error) {
	if err := files.MakeSynced(o.Dir); err != nil {
		return nil, fmt.Errorf("the folder %s cannot be created: %w", o.Dir, err)
	}
	unlock, err := files.LockFolder(o.Dir)
	if err != nil {
		return nil, lockRefusal(o.Dir, err)
	}
	defer unlock()
	x, err := check.Examine(o.Dir, false)
	if err != nil {
		return nil, err
	}
	if err := examineCommitLog(o, x); err != nil {
		return nil, err
	}
	refusal := x.Refusal()
	if refusal != nil && !o.Repair {
		return nil, refusal
	}
	if err := writable(o.Dir); err != nil {
		return nil, err
	}
	if err := checkRoom(o); err != nil {
		return nil, err
	}
	p := &prepared{}
	if x.OwnDamage() {
		if p.values, err = x.Repair(o.Log); err != nil {
			return nil, fmt.Errorf("repair the folder %s: %w", o.Dir, err)
		}
		if x, err = check.Examine(o.Dir, true); err == nil {
			err = x.Refusal()
		}
		if err != nil {
			return nil, fmt.Errorf("the folder %s cannot be repaired: %w", o.Dir, err)
		}
	} else {
		for _, text := range x.Told {
			o.Log.Warn().Str("folder", o.Dir).Msg(text)
		}
	}
	if err := x.Recover(); err != nil {
		return nil, err
	}
	p.unchecked = x.Unchecked
	if o.CommitLog != nil {
		p.memtable = x.Memtable(EarlierMemTable)
		if err := o.CommitLog.Create(); err != nil {
			return nil, err
		}
	}
	p.record, p.seen, err = x.Opening(o.CommitLog != nil, max(o.MemTableSize, p.memtable))
	return p, err
}

// writable refuses a folder that cannot be written to.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, "writable")
	if err != nil {
		return fmt.Errorf("the folder %s cannot be written to: %w", dir, errors.Unwrap(err))
	}
	return errors.Join(f.Close(), os.Remove(filepath.Clean(f.Name())))
}

// examineCommitLog has the commit log in front examined. A folder with such a log is refused by who does
// not know it.
func examineCommitLog(o Options, x *check.Examination) (err error) {
	if o.CommitLog != nil {
		x.Beside, err = o.CommitLog.Examine(x.CommitLog())
		return err
	}
	if x.CommitLog() {
		return fmt.Errorf("the folder %s has a commit log, which holds what is newest", o.Dir)
	}
	return nil
}

// lockRefusal names the folder if another process has it.
func lockRefusal(dir string, err error) error {
	if errors.Is(err, files.ErrInUse) {
		return errInUse(dir)
	}
	return err
}

// errInUse says that another process has a folder open.
func errInUse(dir string) error { return fmt.Errorf("the folder %s is in use by another process", dir) }
