//go:build linux

package files

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// AllocateBlocks allocates blocks of the disk for a part of a file, which may be beyond its end. The length of the
// file does not change.
func AllocateBlocks(f *os.File, from, size int64) error {
	const keepSize = 1
	for {
		if err := syscall.Fallocate(int(f.Fd()), keepSize, from, size); err != syscall.EINTR {
			return err
		}
	}
}

// Descriptors is how many file descriptors the process uses, and its limit.
func Descriptors() (used, limit int, known bool) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 0, 0, false
	}
	limit = int(min(l.Cur, 1<<30))
	f, err := os.Open("/proc/self/fd")
	if errors.Is(err, syscall.EMFILE) {
		return limit, limit, true
	}
	if err != nil { // no /proc, as in a bare root folder
		return 0, 0, false
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	return len(names) - 1, limit, err == nil
}

// MappedWrites reports whether files show writes to their mappings at once, and mappings writes to their files.
const MappedWrites = true

// Populate makes pages of a mapping writable now, and not one by one when each is first written to. Old systems do not
// support that.
func Populate(pages []byte) { _ = unix.Madvise(pages, unix.MADV_POPULATE_WRITE) }
