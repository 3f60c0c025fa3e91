package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/cqld/cqld/store/engine/files"
	_ "unsafe" // for go:linkname

	"github.com/cqld/cqld/store/engine/badger/check"
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

// zeros are what writeZeros writes at a time. Pieces of 2 MiB took five to ten times as long in some runs.
var zeros [256 << 10]byte

// writeZeros writes zeros to the first bytes of a file. Badger writes a new table through its mapping. If the system
// has no pages of the file in memory, it makes each of them in a page fault, and these cost more than the copying.
// Where the system cannot take blocks for a file, the zeros take them.
func writeZeros(fd int, length int64) error {
	for at := int64(0); at < length; {
		n, err := syscall.Pwrite(fd, zeros[:min(length-at, int64(len(zeros)))], at)
		if err != nil && err != syscall.EINTR {
			return err
		}
		at += int64(max(n, 0))
	}
	return nil
}
