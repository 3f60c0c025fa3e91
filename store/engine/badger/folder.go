package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// prepareFolder makes a folder ready for Badger, which has worse words for what may be wrong with it. It returns
// the tables that are still to be checked.
func prepareFolder(o Options) (unchecked []string, err error) {
	if err := makeFolder(o.Dir); err != nil {
		return nil, err
	}
	unlock, err := lockFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if unchecked, err = checkFiles(o.Dir, o.Log); err != nil {
		return nil, err
	}
	return unchecked, checkRoom(o)
}

// makeFolder creates the folder and refuses one that cannot be written to.
func makeFolder(dir string) error {
	if err := makeSynced(dir); err != nil {
		return fmt.Errorf("the folder %s cannot be created: %w", dir, err)
	}
	f, err := os.CreateTemp(dir, "writable")
	if err != nil {
		return fmt.Errorf("the folder %s cannot be written to: %w", dir, errors.Unwrap(err))
	}
	return errors.Join(f.Close(), os.Remove(filepath.Clean(f.Name())))
}

// makeSynced is os.MkdirAll, but a power cut does not undo it.
func makeSynced(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return os.MkdirAll(dir, 0o755) // which refuses what is not a folder
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := makeSynced(parent); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return syncFile(filepath.Dir(dir))
}

// errInUse says that another process has a folder open.
func errInUse(dir string) error { return fmt.Errorf("the folder %s is in use by another process", dir) }
