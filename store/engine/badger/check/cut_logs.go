package check

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/cqld/cqld/store/engine/files"
)

// Recover cuts the logs where they end, and removes empty files, which Badger stumbles over.
func (x *Examination) Recover() error {
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

// cutLogs ends the logs at a place, and keeps a copy of what is behind it.
func (x *Examination) cutLogs(c *logCut) error {
	path := filepath.Join(x.dir, c.log.name)
	if _, err := files.CopyAside(path); err != nil {
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
			if _, err := files.SetAside(filepath.Join(x.dir, later.name)); err != nil {
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
