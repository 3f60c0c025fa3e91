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

	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/server/control"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/disk"
	"github.com/cqld/cqld/store/engine/memory"
)

// openStore opens the data folder, or a store in memory, which has no engine on disk. clock is what clients may move,
// or nil.
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
			return s.calls.of(e), nil
		}
	case !s.memory:
		if err := os.MkdirAll(s.data, 0o700); err != nil {
			return nil, nil, pathError("make the folder", s.data, err)
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
		err = fmt.Errorf("%w; --repair opens the folder with what can be kept", err)
	}
	var path *fs.PathError
	if errors.Is(err, fs.ErrPermission) && errors.As(err, &path) {
		err = fmt.Errorf("cannot open %s: %w", path.Path, path.Err)
	}
	return st, onDisk, err
}

// errNotOpened says that a server was stopped before it had opened its store.
var errNotOpened = errors.New("the store was not opened")

// openRemote is openStore for an engine on other machines. Not all that its client does can be interrupted, so when ctx
// ends that is left to itself: the process is about to end.
func openRemote(
	ctx context.Context, s *settings, clock *control.Clock, log zerolog.Logger,
) (*store.Store, *disk.Engine, error) {
	type result struct {
		st  *store.Store
		err error
	}
	opened := make(chan result, 1)
	go func() {
		st, _, err := openStore(ctx, s, clock, log)
		opened <- result{st, err}
	}()
	select {
	case r := <-opened:
		return r.st, nil, r.err
	case <-ctx.Done():
		go func() {
			if r := <-opened; r.err == nil {
				_ = r.st.Close() // nobody waits for it
			}
		}()
		return nil, nil, errNotOpened
	}
}

// errNotClosed says that a cluster did not answer when a server ended.
var errNotClosed = errors.New("the cluster does not answer: it was not told that this server ends")

// closeWithin closes a store, or gives that up after a time.
func closeWithin(st *store.Store, limit time.Duration) error {
	closed := make(chan error, 1)
	go func() { closed <- st.Close() }()
	select {
	case err := <-closed:
		return err
	case <-time.After(limit):
		return errNotClosed
	}
}

// checkData refuses a folder that has files, but no data of cqld.
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
		// A volume may have lost+found, and a start that was interrupted may have left the others.
		known := []string{"lost+found", initRecord, initRecord + unfinished, "CQLD" + unfinished}
		if !slices.Contains(known, e.Name()) {
			return fmt.Errorf("the folder %s has files that are not cqld's, such as %s: --data needs an empty folder or "+
				"one that cqld made", s.data, e.Name())
		}
	}
	return nil
}

// holdsData refuses a folder that no server has used: opening it would make it one.
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

// dataFiles are files that data folders have, of this format or an earlier one.
var dataFiles = []string{"CQLD", "MANIFEST", "LOG", "LOGGED", "FILES", "COMMITS"}

func isDataFile(e fs.DirEntry) bool { return slices.Contains(dataFiles, e.Name()) }

// cannotRead is the error of a file or folder that cannot be read.
func cannotRead(path string, err error) error { return pathError("read", path, err) }

// pathError names a path once: the error of the system may name it too.
func pathError(action, path string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("cannot %s %s: %w", action, path, err)
}
