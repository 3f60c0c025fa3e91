package badger

import (
	"os"
	"syscall"
)

// keepSize leaves the length of a file as it is.
const keepSize = 1

// takeBlocks takes blocks of the disk for a part of a file, which may be behind its end.
func takeBlocks(f *os.File, from, size int64) error {
	for {
		if err := syscall.Fallocate(int(f.Fd()), keepSize, from, size); err != syscall.EINTR {
			return err
		}
	}
}
