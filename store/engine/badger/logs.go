package badger

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/cqld/cqld/store/engine/badger/check"
)

// logs makes commits safe from a power cut. Badger syncs the log that it writes to. It leaves a full log to the
// system until its table is written, which can take long if many wait, and it never syncs the logs' names.
//
// The files are held open, so that they can be synced when there are no more descriptors.
type logs struct {
	dir     string
	current func() error            // makes Badger sync what it writes to
	sync    func(path string) error // syncs a file or a folder
	full    map[string]bool         // value logs that nothing is added to and that are synced
	held    map[string]*os.File
}

func newLogs(dir string, current func() error) *logs {
	l := &logs{dir: dir, current: current, full: map[string]bool{}, held: map[string]*os.File{}}
	l.sync = l.syncHeld
	return l
}

// all syncs everything written to logs before: value logs first, because the others point into them.
func (l *logs) all() error {
	names, err := l.names()
	if err != nil {
		return err
	}
	if err := l.hold(names); err != nil {
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
	return l.sync(l.dir)
}

// logNames are the names of all logs, the oldest first.
type logNames struct{ memtables, values []string }

func (l *logs) names() (names logNames, err error) {
	dir, err := l.open(l.dir)
	if err != nil {
		return names, err
	}
	if _, err := dir.Seek(0, io.SeekStart); err != nil {
		return names, err
	}
	all, err := dir.Readdirnames(-1)
	slices.Sort(all)
	for _, name := range all {
		switch filepath.Ext(name) {
		case check.MemtableLog:
			names.memtables = append(names.memtables, name)
		case check.ValueLog:
			names.values = append(names.values, name)
		}
	}
	return names, err
}

// hold opens new logs, and closes those that are gone or need no sync any more.
func (l *logs) hold(names logNames) error {
	for path, f := range l.held {
		name := filepath.Base(path)
		gone := !slices.Contains(names.memtables, name) && !slices.Contains(names.values, name)
		if path != l.dir && (l.full[name] || gone) {
			delete(l.held, path)
			if err := f.Close(); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Concat(names.memtables, names.values) {
		if l.full[name] {
			continue
		}
		if _, err := l.open(filepath.Join(l.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// open returns the open descriptor of a file or a folder.
func (l *logs) open(path string) (*os.File, error) {
	if f := l.held[path]; f != nil {
		return f, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	l.held[path] = f
	return f, nil
}

// syncHeld syncs a file or a folder. A log that is gone is in a table.
func (l *logs) syncHeld(path string) error {
	f, err := l.open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Sync()
}

// close closes the descriptors.
func (l *logs) close() error {
	var err error
	for _, f := range l.held {
		err = errors.Join(err, f.Close())
	}
	clear(l.held)
	return err
}
