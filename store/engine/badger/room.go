package badger

import (
	"fmt"

	"github.com/cqld/cqld/store/engine"
)

// room refuses commits while the disk is nearly full. Badger writes to mapped files with holes in them: where
// the system finds no block for a hole it ends the process. So there must be room for all memtables that
// wait to become tables, and for the largest tables that are merged.
type room struct {
	dir     string
	reserve int64
	free    func(dir string) (int64, error) // nil: the engine is in memory
	left    int64                           // what may be committed until the disk is looked at again
}

const (
	// reservedMemtables is how many memtables the reserve is for.
	reservedMemtables = 8

	// roomStep is after how many bytes the disk is looked at.
	roomStep = 1 << 20
)

// checkRoom refuses to open a folder on a disk that is fuller than an engine leaves it: Badger makes tables of
// what is in the logs.
func checkRoom(o Options) error {
	free, err := o.free(o.Dir)
	if need := 2 * o.MemTableSize; err == nil && free < need {
		return fmt.Errorf("the folder %s has too little room: %d MiB are free, and opening it needs %d MiB", o.Dir, free>>20, need>>20)
	}
	return err
}

// take refuses a commit of so many bytes if it would go into the reserve.
func (r *room) take(size int64) error {
	if r.free == nil {
		return nil
	}
	if r.left >= size {
		r.left -= size
		return nil
	}
	free, err := r.free(r.dir)
	if err != nil {
		return err
	}
	if free < r.reserve+size {
		r.left = 0
		return fmt.Errorf("%w: %d MiB are free in the folder %s, and writes need %d MiB", engine.ErrFull, free>>20, r.dir,
			(r.reserve+size)>>20+1)
	}
	r.left = min(roomStep, free-r.reserve-size)
	return nil
}
