package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
// adds one table to level zero, and leaves one memtable with entries at most. If it returns nil, writing is locked.
func (f *Flush) admit(size int64) error {
	for e := f.engine; ; {
		e.writing.Lock()
		if e.budget < size || e.flattening.Load() {
			err := errBehind
			if !e.flattening.Load() {
				err = e.mayFlush(e.room)
			}
			if err != nil {
				e.writing.Unlock()
				if e.failed.Load() != nil || e.damage.Load() != nil {
					return err
				}
				if err := f.wait(err); err != nil {
					return err
				}
				continue
			}
			e.budget = e.o.MemTable
		}
		e.budget -= size
		return nil
	}
}

// mayFlush returns the reason why Badger may not be given another memtable's worth, or nil. The memtables are counted
// first: one becomes a table before its log is removed. room says whether there is room.
func (e *Engine) mayFlush(room func() error) error {
	if err := e.Damage(); err != nil {
		return err
	}
	if p := e.failed.Load(); p != nil {
		return *p
	}
	memtables, err := countMemtables(e.o.Dir)
	if err != nil {
		return e.refusal(err)
	}
	if memtables > 1 || e.db.Levels()[0].NumTables+memtables+1 > maxLevelZero {
		return errBehind
	}
	if err := room(); err != nil {
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

// leaves fails if less than reserve is free when so many bytes are taken.
func (e *Engine) leaves(size, reserve int64) error {
	free, err := e.o.Free(e.o.Dir)
	if err != nil {
		return e.refusal(err)
	}
	if need := size + reserve; free < need {
		return fmt.Errorf("%w: %d MiB are free in the folder %s, and writes need %d MiB", engine.ErrFull, free>>20, e.o.Dir,
			need>>20+1)
	}
	return nil
}

// room fails if there is too little room to flush a memtable and for the compactions that follow: Badger maps its
// files and writes to holes in them, and where the system finds no block for a hole it ends the process.
func (e *Engine) room() error { return e.enough(0) }

// enough fails if less than so many bytes are free, or than a flush needs.
func (e *Engine) enough(reserve int64) error { return e.leaves(0, max(reserve, e.needed())) }

// needed is the space for a flush and the compactions after it: the log of a memtable, the tables that it becomes,
// level zero merged into the base level, and a table of another level merged with the tables that it overlaps. Levels
// count as they may become after what is in memory is flushed, because a disk that is full before has to suffice:
// Badger doubles the size of the largest tables with each level that it begins to use.
func (e *Engine) needed() int64 {
	var zero, all, base, target int64
	for _, l := range e.db.Levels() {
		all += l.Size
		if l.Level == 0 {
			zero = l.Size
		}
		if l.IsBaseLevel {
			base, target = l.Size, l.TargetSize
		}
	}
	o := e.db.Opts()
	table := 12 * o.BaseTableSize
	for size := all + 8*e.o.MemTable; size > o.BaseLevelSize; size /= int64(o.LevelSizeMultiplier) {
		table *= int64(o.TableSizeMultiplier)
	}
	return 3*e.o.MemTable + zero + max(base, min(target, all), table)
}

// RoomForLog fails if the log may not take so many bytes: to open the folder and to drop tables there has to be room
// when the log and the memtable are full. It notes whether there is room for commits, because a fast disk may take more
// than what is kept within a spaceInterval.
func (e *Engine) RoomForLog(size int64) error {
	e.checkSpace()
	return e.leaves(size, 2*e.o.MemTable)
}

// kept is the space below which commits are refused, unless they free space: beside what is needed, for what is being
// flushed already, and for the log of commits that free space.
func (e *Engine) kept() int64 {
	need := e.needed()
	return need + max(need/2, 4*e.o.MemTable)
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

// spaceInterval is how often the free space on the disk is checked. What is written in between is beyond the reserve.
const spaceInterval = 100 * time.Millisecond

// maySpare reports whether keys were deleted whose values no snapshot needs any more, and none is being deleted.
func (e *Engine) maySpare() bool {
	last := e.deleted.Load()
	if last == 0 || e.flushes.Load() {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return !slices.ContainsFunc(e.snapshots, func(s *Snapshot) bool { return s.txn.ReadTs() < last })
}

// roomToCompact fails if there may be too little room to compact all tables: a small table of deletes can overlap all
// tables of the next level, and whatever they keep is written again before they are removed.
func (e *Engine) roomToCompact() error {
	keep := -e.spared.Load()
	for _, l := range e.db.Levels() {
		keep += l.Size
	}
	return e.leaves(0, e.needed()+max(0, keep))
}

// freeDeleted compacts all tables to free the space of deleted keys.
func (e *Engine) freeDeleted() error {
	last, spared := e.deleted.Load(), e.spared.Load()
	if err := e.Compact(); err != nil {
		if IsBehind(err) {
			return nil
		}
		return err
	}
	e.spared.Add(-spared)
	if e.deleted.CompareAndSwap(last, 0) {
		e.compact.Store(false)
	}
	return nil
}

// CompactSoon compacts all tables, if keys were deleted, so that their space is free soon.
func (e *Engine) CompactSoon() { e.compact.Store(true) }

// watch checks the free space on the disk, until Close.
func (e *Engine) watch() {
	defer e.finished.Done()
	tick := time.NewTicker(spaceInterval)
	defer tick.Stop()
	for {
		select {
		case <-e.stop:
			return
		case <-tick.C:
			if err := panics.Call(func() error { e.checkSpace(); return nil }); err != nil {
				panics.Log(&e.o.Log, err).Msg("cannot check the free space")
			}
		}
	}
}

// freeSpace compacts all tables when keys were deleted and space is short, until Close.
func (e *Engine) freeSpace() {
	defer e.finished.Done()
	for e.sleep(spaceInterval) {
		if (e.IsFull() || e.compact.Load()) && e.maySpare() && e.roomToCompact() == nil {
			if err := panics.Call(e.freeDeleted); err != nil { // it is tried again
				panics.Log(&e.o.Log, err).Msg("cannot compact tables to free space")
			}
		}
	}
}

// checkSpace notes whether there is room for commits.
func (e *Engine) checkSpace() {
	volume, err := e.o.Volume(e.o.Dir)
	if err != nil {
		err = e.refusal(err)
	} else {
		err = e.enough(max(e.o.Reserve.Of(volume), e.kept()))
	}
	if err == nil {
		if err = files.MayWrite(e.o.Dir); err != nil {
			err = e.refusal(&os.PathError{Op: "write to", Path: e.o.Dir, Err: err})
		}
	}
	if err == nil {
		err = descriptors()
	}
	if errors.Is(err, engine.ErrFull) {
		e.lastFull.Store(time.Now().UnixNano())
	}
	switch {
	case err != nil && e.full.Swap(&err) == nil:
		e.o.Log.Error().Err(err).Msg("writes are refused for now")
	case err == nil && e.full.Swap(nil) != nil:
		e.o.Log.Info().Msg("writes are taken again")
	}
}
