package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/server/control"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/disk"
	"github.com/cqld/cqld/store/engine/memory"
)

// openStore opens a store in a folder, in memory or with the engine of the settings. onDisk is nil without a folder.
// clock is the clock that clients may move, or nil.
func openStore(
	ctx context.Context, s *settings, clock *control.Clock, log zerolog.Logger,
) (st *store.Store, onDisk *disk.Engine, err error) {
	open := func(f engine.Fold) (engine.Engine, error) { return memory.Open(f), nil }
	switch {
	case s.engine != nil:
		s.calls = newEngineCalls()
		open = func(f engine.Fold) (engine.Engine, error) {
			e, err := s.engine.Open(ctx, f, log)
			if err != nil {
				return nil, err
			}
			return s.calls.wrap(e), nil
		}
	case !s.memory:
		if err := os.MkdirAll(s.data, 0o700); err != nil {
			return nil, nil, pathError("create the folder", s.data, err)
		}
		o := disk.Options{Dir: s.data, Sync: s.sync, Memtable: s.memtable, Filter: s.filter, Reserve: s.reserve.Reserve, Repair: s.repair, Log: log}
		open = func(f engine.Fold) (engine.Engine, error) {
			var err error
			onDisk, err = disk.Open(o, f)
			return onDisk, err
		}
	}
	o := store.Options{
		Engine: open, Shared: s.node(log), System: server.SystemKeyspaces(), SweepEvery: s.purgeEvery,
		TombstoneFilters: s.tombstones, Log: log,
	}
	if clock != nil {
		o.System, o.Now = append(o.System, control.Keyspace()), clock.Now
	}
	st, err = store.Open(o)
	if errors.Is(err, disk.ErrDamaged) {
		err = fmt.Errorf("%w; --repair opens the folder and keeps all intact data", err)
	}
	var path *fs.PathError
	if errors.Is(err, fs.ErrPermission) && errors.As(err, &path) {
		err = fmt.Errorf("cannot open %s: %w", path.Path, path.Err)
	}
	return st, onDisk, err
}

// errNotOpened is the error of a server that stops before its store is open.
var errNotOpened = errors.New("the store was not opened")

// openRemote is openStore for a remote engine. Some calls of its client cannot be interrupted, so they are abandoned
// when ctx ends: the process is about to end.
func openRemote(
	ctx context.Context, s *settings, clock *control.Clock, log zerolog.Logger,
) (*store.Store, *disk.Engine, error) {
	type result struct {
		st  *store.Store
		err error
	}
	opened := make(chan result, 1)
	panics.Go(&log, func() {
		var r result
		r.err = panics.Call(func() (err error) {
			r.st, _, err = openStore(ctx, s, clock, log)
			return err
		})
		opened <- r
	})
	select {
	case r := <-opened:
		return r.st, nil, r.err
	case <-ctx.Done():
		panics.Go(&log, func() {
			if r := <-opened; r.err == nil {
				_ = r.st.Close() // the caller has returned
			}
		})
		return nil, nil, errNotOpened
	}
}

// errNotClosed is the error of a server that could not leave its cluster.
var errNotClosed = errors.New("the cluster does not answer: it does not know that this server has stopped")

// closeWithin closes a store, but waits no longer than limit.
func closeWithin(st *store.Store, limit time.Duration) error {
	closed := make(chan error, 1)
	go func() { closed <- panics.Call(st.Close) }()
	select {
	case err := <-closed:
		return err
	case <-time.After(limit):
		return errNotClosed
	}
}

// checkData refuses a folder with files of other programs.
func (s *settings) checkData() error {
	if s.memory || s.repair {
		return nil
	}
	entries, err := os.ReadDir(s.data)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cannotRead(s.data, err)
	}
	if slices.ContainsFunc(entries, isDataFile) {
		return nil
	}
	for _, e := range entries {
		// A file system may have made lost+found, an interrupted start the others.
		known := []string{"lost+found", initRecord, initRecord + unfinished, "CQLD" + unfinished}
		if !slices.Contains(known, e.Name()) {
			return fmt.Errorf("the folder %s has files of another program, such as %s: --data needs an empty folder or "+
				"one that cqld created", s.data, e.Name())
		}
	}
	return nil
}

// holdsData refuses a folder without data. Opening it would turn it into a data folder.
func holdsData(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return cannotRead(dir, err)
	}
	if !slices.ContainsFunc(entries, isDataFile) {
		return fmt.Errorf("the folder %s has no data of cqld", dir)
	}
	return nil
}

// dataFiles are files of data folders, of this format or an earlier one.
var dataFiles = []string{"CQLD", "MANIFEST", "LOG", "LOGGED", "FILES", "COMMITS"}

func isDataFile(e fs.DirEntry) bool { return slices.Contains(dataFiles, e.Name()) }

// cannotRead returns the error for a file or folder that cannot be read.
func cannotRead(path string, err error) error { return pathError("read", path, err) }

// pathError returns an error that names the path only once: err may name it too.
func pathError(action, path string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("cannot %s %s: %w", action, path, err)
}
