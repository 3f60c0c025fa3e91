package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	_ "unsafe" // for go:linkname

	"golang.org/x/sys/unix"

	"github.com/cqld/cqld/store/engine/badger/check"
	"github.com/cqld/cqld/store/engine/files"
)

// mapper is what golang.org/x/sys/unix maps files with, for Badger as well. Badger makes tables and value logs by
// mapping files with holes, and offers no place to take blocks for them: between making the file and writing to its
// memory there is only this. TestMapping finds out when it is not like this any more.
//
//go:linkname mapper golang.org/x/sys/unix.mapper
var mapper *fileMapper

// fileMapper has the layout of its namesake's first fields.
type fileMapper struct {
	sync.Mutex
	_    map[*byte][]byte
	mmap func(addr, length uintptr, prot, flags, fd int, offset int64) (uintptr, error)
}

// gates are those of the folders that are open.
var gates sync.Map

// hookMappings makes all mappings pass the gate of their folder.
var hookMappings = sync.OnceFunc(func() {
	mapper.Lock()
	defer mapper.Unlock()
	plain := mapper.mmap
	mapper.mmap = func(addr, length uintptr, prot, flags, fd int, offset int64) (uintptr, error) {
		if prot&syscall.PROT_WRITE != 0 && fd >= 0 {
			takeMapped(fd, int64(length))
		}
		return plain(addr, length, prot, flags, fd, offset)
	}
})

// register makes the folder's gate known.
func (g *gate) register() {
	hookMappings()
	gates.Store(g.path(), g)
}

// unregister forgets it.
func (g *gate) unregister() { gates.CompareAndDelete(g.path(), g) }

// path is the folder's name as the system has it.
func (g *gate) path() string {
	path, err := filepath.Abs(g.dir)
	if err != nil {
		return g.dir
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// takeMapped takes the blocks of a table that is about to be written and fills it with zeros, or takes the first
// blocks of a value log.
func takeMapped(fd int, length int64) {
	path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil {
		return // there is only the reserve
	}
	found, ok := gates.Load(filepath.Dir(path))
	if !ok {
		return
	}
	switch filepath.Ext(path) {
	case check.TableFile:
	case check.ValueLog:
		length = min(length, aheadSlack)
	default:
		return
	}
	var s syscall.Stat_t
	if syscall.Fstat(fd, &s) != nil || s.Blocks > 0 {
		return // it was written before
	}
	found.(*gate).wait(func() error {
		err := files.Fallocate(fd, 0, length)
		if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
			err = nil
		}
		if err == nil && filepath.Ext(path) == check.TableFile {
			err = writeZeros(fd, length)
		}
		return err
	})
}

// zeros are what writeZeros writes, in pieces.
var zeros [largePiece]byte

const (
	// largePiece is a piece for which the system may find one page. Then the piece has one page fault where it had 512,
	// and a sync takes the right to write from one page. That was a third of what making a table cost.
	largePiece = 2 << 20

	// smallPiece is for when it finds none.
	smallPiece = 256 << 10

	// slowPiece is the processor time of a large piece that was not worth it. When the system moves pages about to find
	// one, it takes 5 ms, and the syncs of small pieces are no cheaper.
	slowPiece = 8 * time.Millisecond

	// piecesAfterSlow is how many large pieces are written as small ones then.
	piecesAfterSlow = 16
)

// asSmall is how many large pieces are still to be written as small ones.
var asSmall atomic.Int64

// writeZeros writes zeros to the first bytes of a file. Badger writes a new table through its mapping. If the system
// has no pages of the file in memory, it makes each of them in a page fault, and these cost more than the copying.
// Where the system cannot take blocks for a file, the zeros take them.
func writeZeros(fd int, length int64) error {
	runtime.LockOSThread() // whose time is taken
	defer runtime.UnlockOSThread()
	for at := int64(0); at < length; at += largePiece {
		piece := int64(largePiece)
		if asSmall.Load() > 0 {
			asSmall.Add(-1)
			piece = smallPiece
		}
		began := threadTime()
		if err := writeZerosAt(fd, at, min(length, at+largePiece), piece); err != nil {
			return err
		}
		if piece == largePiece && threadTime()-began > slowPiece {
			asSmall.Store(piecesAfterSlow)
		}
	}
	return nil
}

// writeZerosAt writes zeros to a part of a file, a piece at a time.
func writeZerosAt(fd int, at, end, piece int64) error {
	for at < end {
		n, err := syscall.Pwrite(fd, zeros[:min(end-at, piece)], at)
		if err != nil && err != syscall.EINTR {
			return err
		}
		at += int64(max(n, 0))
	}
	return nil
}

// threadTime is the processor time that this thread has taken.
func threadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
