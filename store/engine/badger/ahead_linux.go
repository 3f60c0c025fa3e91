package badger

import (
	"os"
	"syscall"
)

// takeBlocks takes blocks of the disk for a part of a file, which may be behind its end.
func takeBlocks(f *os.File, from, size int64) error { return fallocate(int(f.Fd()), from, size) }

// fallocate leaves the length of the file as it is.
func fallocate(fd int, from, size int64) error {
	const keepSize = 1
	for {
		if err := syscall.Fallocate(fd, keepSize, from, size); err != syscall.EINTR {
			return err
		}
	}
}
