package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/files"
)

// maxLevelZero is the maximum number of tables in level zero, with the memtables that become tables when Badger is
// closed or opened again. Badger's compactor 0 merges four and more tables of level zero with each other, in any order
// of age.
const maxLevelZero = 3

// errBehind is the reason for waiting while compactions have to come first.
var errBehind = errors.New("tables wait to be compacted")

// admit waits until a transaction of a size may be given to Badger. One memtable's worth is admitted at a time: it
// adds one table to level zero, and leaves one memtable with entries at most.
func (f *Flush) admit(size int64) error {
	for f.budget < size {
		err := f.engine.mayFlush()
		if err == nil {
			f.budget = f.engine.o.MemTable
			break
		}
		if f.engine.failed.Load() != nil || f.engine.damage.Load() != nil {
			return err
		}
		if err := f.wait(err); err != nil {
			return err
		}
	}
	f.budget -= size
	return nil
}

// mayFlush returns the reason why Badger may not be given another memtable's worth, or nil. The memtables are counted
// first: one becomes a table before its log is removed.
func (e *Engine) mayFlush() error {
	if err := e.Damage(); err != nil {
		return err
	}
	memtables, err := countMemtables(e.o.Dir)
	if err != nil {
		return e.refusal(err)
	}
	if memtables > 1 || e.db.Levels()[0].NumTables+memtables+1 > maxLevelZero {
		return errBehind
	}
	if err := e.room(); err != nil {
		return err
	}
	return descriptors()
}

// IsBehind reports whether a flush waits only for compactions.
func IsBehind(err error) bool { return errors.Is(err, errBehind) }

// countMemtables counts memtables by their logs.
func countMemtables(dir string) (int, error) {
	found, err := filepath.Glob(filepath.Join(dir, "*"+memtableSuffix))
	return len(found), err
}

// refusal wraps the reason why nothing can be written for now.
func (e *Engine) refusal(err error) error {
	kind := engine.ErrRefused
	if errors.Is(err, syscall.ENOSPC) {
		kind = engine.ErrFull
	}
	return fmt.Errorf("%w: %w", kind, err)
}

// room fails if there is too little room to flush a memtable and for the compactions that follow: Badger maps its
// files and writes to holes in them, and where the system finds no block for a hole it ends the process.
func (e *Engine) room() error { return e.enough(0) }

// enough fails if less than so many bytes are free, or than a flush needs.
func (e *Engine) enough(reserve int64) error {
	free, err := e.o.Free(e.o.Dir)
	if err != nil {
		return e.refusal(err)
	}
	if need := max(reserve, e.needed()); free < need {
		return fmt.Errorf("%w: %d MiB are free in the folder %s, and writes need %d MiB", engine.ErrFull, free>>20, e.o.Dir,
			need>>20+1)
	}
	return nil
}

// needed is the space for a flush and the compactions after it: the log of a memtable, the tables that it becomes,
// level zero merged into the base level, and a table of another level merged with the tables that it overlaps.
func (e *Engine) needed() int64 {
	need := 3 * e.o.MemTable
	for _, l := range e.db.Levels() {
		if l.Level == 0 || l.IsBaseLevel {
			need += l.Size
		}
		if l.Level > 0 && l.NumTables > 0 {
			need = max(need, 3*e.o.MemTable+12*l.TargetFileSize)
		}
	}
	return need
}

// spareDescriptors is how many file descriptors have to be left for tables before a flush: a compaction that cannot
// make a table loses its entries.
const spareDescriptors = 128

// descriptors fails if too few file descriptors are left.
func descriptors() error {
	used, limit, known := files.Descriptors()
	if known && used+min(spareDescriptors, limit/4) > limit {
		return fmt.Errorf("%w: %w: %d of %d file descriptors are in use", engine.ErrRefused, syscall.EMFILE, used, limit)
	}
	return nil
}

// spaceInterval is how often the free space on the disk is checked.
const spaceInterval = time.Second

// watch checks the free space on the disk, until Close. While there is too little, it compacts tables to drop deleted
// keys.
func (e *Engine) watch() {
	defer e.finished.Done()
	tick := time.NewTicker(spaceInterval)
	defer tick.Stop()
	for {
		select {
		case <-e.stop:
			return
		case <-tick.C:
			if err := panics.Call(e.makeSpace); err != nil {
				panics.Log(&e.o.Log, err).Msg("cannot check the free space")
			}
		}
	}
}

// makeSpace is a round of watch.
func (e *Engine) makeSpace() error {
	e.checkSpace()
	if p := e.full.Load(); p != nil && errors.Is(*p, engine.ErrFull) && e.room() == nil && e.deleted.Swap(false) {
		if err := e.Compact(); err != nil {
			e.o.Log.Warn().Err(err).Msg("cannot compact tables to free space")
		}
	}
	return nil
}

// checkSpace notes whether there is room for commits.
func (e *Engine) checkSpace() {
	volume, err := e.o.Volume(e.o.Dir)
	if err != nil {
		err = e.refusal(err)
	} else {
		err = e.enough(max(e.o.Reserve.Of(volume), e.needed()/2*3)) // the rest is for commits that free space
	}
	if err == nil {
		if err = files.MayWrite(e.o.Dir); err != nil {
			err = e.refusal(&os.PathError{Op: "write to", Path: e.o.Dir, Err: err})
		}
	}
	if err == nil {
		err = descriptors()
	}
	switch {
	case err != nil && e.full.Swap(&err) == nil:
		e.o.Log.Error().Err(err).Msg("writes are refused for now")
	case err == nil && e.full.Swap(nil) != nil:
		e.o.Log.Info().Msg("writes are taken again")
	}
}
