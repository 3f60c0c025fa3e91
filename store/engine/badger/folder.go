package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// prepared is what opening a folder goes on with.
type prepared struct {
	record    *record
	unchecked []string // tables and value logs that are still to be checked
	values    bool     // values are lost: their keys are to go
	seen      filesSeen
}

// prepareFolder makes a folder ready for Badger, which has worse words for what may be wrong with it. Nothing is changed in one
// that is refused.
func prepareFolder(o Options) (*prepared, error) {
	if err := makeSynced(o.Dir); err != nil {
		return nil, fmt.Errorf("the folder %s cannot be created: %w", o.Dir, err)
	}
	unlock, err := lockFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	x, err := examine(o.Dir, false)
	if err != nil {
		return nil, err
	}
	refusal := x.refusal()
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
	if refusal != nil {
		if p.values, err = x.repair(o.Log); err != nil {
			return nil, fmt.Errorf("repair the folder %s: %w", o.Dir, err)
		}
		if x, err = examine(o.Dir, true); err == nil {
			err = x.refusal()
		}
		if err != nil {
			return nil, fmt.Errorf("the folder %s cannot be repaired: %w", o.Dir, err)
		}
	} else {
		for _, text := range x.told {
			o.Log.Warn().Str("folder", o.Dir).Msg(text)
		}
	}
	if err := x.recover(); err != nil {
		return nil, err
	}
	p.unchecked = x.unchecked
	for _, l := range x.logs {
		n, _ := numberOf(l.name, memtableLog)
		p.seen.log = max(p.seen.log, n)
	}
	for _, v := range x.values {
		p.seen.vlog = max(p.seen.vlog, v.number)
	}
	p.record, err = x.opening()
	return p, err
}

// recover takes away what is behind the end of the logs, and empty files, which Badger stumbles over.
func (x *examination) recover() error {
	if c := x.cut; c != nil {
		if err := x.cutLogs(c); err != nil {
			return err
		}
	}
	for _, name := range x.empty {
		if err := os.Remove(filepath.Join(x.dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// cutLogs ends the logs at a place, and keeps what they were.
func (x *examination) cutLogs(c *logCut) error {
	path := filepath.Join(x.dir, c.log.name)
	if _, err := copyAside(path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Truncate(c.at), f.Sync(), f.Close()); err != nil {
		return err
	}
	for i, l := range x.logs {
		if l != c.log {
			continue
		}
		for _, later := range x.logs[i+1:] {
			if _, err := setAside(filepath.Join(x.dir, later.name)); err != nil {
				return err
			}
		}
		x.logs = x.logs[:i+1]
		break
	}
	c.log.end = c.at
	if c.at <= c.log.lastAt {
		c.log.last--
	}
	return nil
}

// writable refuses a folder that cannot be written to.
func writable(dir string) error {
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
