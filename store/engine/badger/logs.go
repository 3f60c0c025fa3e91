package badger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The files that Badger writes logs to end so. There is one for each memtable, until its table is written, and
// those that keep large values.
const (
	memtableLog = ".mem"
	valueLog    = ".vlog"
)

// logs makes what was committed safe from a power cut. Badger itself syncs the log that it writes to. One that is full is
// left to the system until its table is written, which can take long if many are waiting; and none of the
// logs' names are synced.
type logs struct {
	dir     string
	current func() error            // makes Badger sync what it writes to
	sync    func(path string) error // syncs a file or a folder
	full    map[string]bool         // value logs that nothing is added to and that are synced
	newest  int                     // the newest memtable's log whose name is synced
}

func newLogs(dir string, current func() error) *logs {
	return &logs{dir: dir, current: current, sync: syncFile, full: map[string]bool{}}
}

// all syncs everything that was written to a log before: the value logs first, as the others point into them.
func (l *logs) all() error {
	names, err := l.names()
	if err != nil {
		return err
	}
	for i, name := range names.values {
		if l.full[name] {
			continue
		}
		if err := l.sync(filepath.Join(l.dir, name)); err != nil {
			return err
		}
		l.full[name] = i+1 < len(names.values)
	}
	if err := l.current(); err != nil {
		return err
	}
	for _, name := range names.memtables {
		if err := l.sync(filepath.Join(l.dir, name)); err != nil {
			return err
		}
	}
	return l.folder(names)
}

// folder syncs the names of the logs.
func (l *logs) folder(names logNames) error {
	for _, name := range names.memtables {
		if n, err := strconv.Atoi(strings.TrimSuffix(name, memtableLog)); err == nil {
			l.newest = max(l.newest, n)
		}
	}
	return l.sync(l.dir)
}

// named syncs the folder if a commit has begun another memtable's log. Its content is synced.
func (l *logs) named() error {
	if _, err := os.Lstat(filepath.Join(l.dir, fmt.Sprintf("%05d%s", l.newest+1, memtableLog))); err != nil {
		return nil
	}
	names, err := l.names()
	if err != nil {
		return err
	}
	return l.folder(names)
}

// logNames are the names of all logs, the oldest first.
type logNames struct{ memtables, values []string }

func (l *logs) names() (names logNames, err error) {
	entries, err := os.ReadDir(l.dir)
	for _, e := range entries {
		switch filepath.Ext(e.Name()) {
		case memtableLog:
			names.memtables = append(names.memtables, e.Name())
		case valueLog:
			names.values = append(names.values, e.Name())
		}
	}
	return names, err
}

// syncFile syncs a file or a folder, unless it is gone: then what it had is in a table.
func syncFile(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
