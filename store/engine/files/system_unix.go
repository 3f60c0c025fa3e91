//go:build linux || darwin || freebsd

package files

import (
	"os"
	"syscall"
)

// FreeBytes is how much may be written to the disk that a folder is on.
func FreeBytes(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}

// VolumeBytes is the size of the disk that a folder is on.
func VolumeBytes(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Blocks) * int64(s.Bsize), nil
}

// LockFolder keeps others out of a folder until unlock is called. Badger takes the same lock.
func LockFolder(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, ErrInUse
	}
	return func() { f.Close() }, nil
}

// MapFile maps the first bytes of a file, to be written to.
func MapFile(f *os.File, size int) (b []byte, unmap func() error, err error) {
	b, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	return b, func() error { return syscall.Munmap(b) }, err
}

// MayWrite reports whether a folder's disk can be written to.
func MayWrite(dir string) error {
	const write = 2
	return syscall.Access(dir, write)
}
