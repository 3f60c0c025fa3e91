package files

import (
	"os"
	"syscall"
)

// TakeBlocks takes blocks of the disk for a part of a file, which may be behind its end.
func TakeBlocks(f *os.File, from, size int64) error { return Fallocate(int(f.Fd()), from, size) }

// Fallocate takes blocks for a part of a file, and leaves the length of the file as it is.
func Fallocate(fd int, from, size int64) error {
	const keepSize = 1
	for {
		if err := syscall.Fallocate(fd, keepSize, from, size); err != syscall.EINTR {
			return err
		}
	}
}
