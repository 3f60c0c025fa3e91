package badger

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/cqld/cqld/store/engine/files"

	"github.com/cqld/cqld/store/engine"
)

// room refuses commits while the disk is nearly full. Badger writes to mapped files with holes: where the system
// finds no block for a hole it ends the process. So blocks of logs are taken before (see ahead), and there must be
// room for all memtables that wait to become tables, and for the largest tables that are merged.
type room struct {
	dir     string
	reserve int64
	free    func(dir string) (int64, error)
	volume  func(dir string) (int64, error)
	kept    files.Reserve // by the front: commits stop there earlier than what the engine does with those before
	left    int64         // what may be committed until the disk is looked at again
	ahead   *ahead
}

const (
	// reservedMemtables is how many memtables the reserve is for.
	reservedMemtables = 8

	// roomStep is after how many bytes the disk is looked at.
	roomStep = 1 << 20
)

// checkRoom refuses to open a folder on a disk with too little room: Badger makes tables of the logs when it opens.
func checkRoom(o Options) error {
	free, err := o.free(o.Dir)
	if need := 2 * o.MemTableSize; err == nil && free < need {
		return fmt.Errorf("the folder %s has too little room: %d MiB are free, and opening it needs %d MiB",
			o.Dir, free>>20, need>>20)
	}
	return err
}

// take refuses a commit that would go into the reserve. large says that it has values for the value log.
func (r *room) take(size int64, entries int, large bool) error {
	if r.left < size || large {
		if err := r.more(size, large); err != nil {
			return err
		}
	} else {
		r.left -= size
	}
	if err := r.ahead.mayBegin(size, entries); err != nil {
		return r.refusal(err)
	}
	return nil
}

// more takes room for a commit and for those after it.
func (r *room) more(size int64, large bool) error {
	r.left = 0
	free, err := r.enough(size)
	if err != nil {
		return err
	}
	if err := r.ahead.reserve(size, large); err != nil {
		return r.refusal(err)
	}
	r.left = min(roomStep, free-r.reserve-size)
	return nil
}

// enough returns what is free on the disk. It fails if a commit of size bytes would go into the reserve.
func (r *room) enough(size int64) (free int64, err error) {
	if free, err = r.free(r.dir); err != nil {
		return 0, r.refusal(err)
	}
	if free < r.reserve+size {
		return 0, fmt.Errorf("%w: %d MiB are free in the folder %s, and writes need %d MiB", engine.ErrFull, free>>20, r.dir,
			(r.reserve+size)>>20+1)
	}
	return free, nil
}

// enoughForFront fails if commits have to stop.
func (r *room) enoughForFront() error {
	volume, err := r.volume(r.dir)
	if err != nil {
		return r.refusal(err)
	}
	front := room{dir: r.dir, free: r.free, reserve: max(r.reserve, r.kept.Of(volume))}
	_, err = front.enough(roomStep)
	return err
}

// writable refuses commits while the disk cannot be written to at all.
func (r *room) writable() error {
	if err := files.MayWrite(r.dir); err != nil {
		return r.refusal(&os.PathError{Op: "write to", Path: r.dir, Err: err})
	}
	return nil
}

// refusal says why nothing can be written.
func (r *room) refusal(err error) error {
	kind := engine.ErrRefused
	if errors.Is(err, syscall.ENOSPC) {
		kind = engine.ErrFull
	}
	return fmt.Errorf("%w: %w", kind, err)
}

// logOverhead is what an entry takes in a log at most, besides what writeSome counts, and commitOverhead what ends a
// commit.
const (
	logOverhead    = 8
	commitOverhead = 64
)
