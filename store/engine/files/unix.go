//go:build linux || darwin || freebsd

package files

import (
	"errors"
	"os"
	"syscall"
)

// FreeBytes is the free space on the disk of a folder.
func FreeBytes(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}

// VolumeBytes is the size of the disk of a folder.
func VolumeBytes(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Blocks) * int64(s.Bsize), nil
}

// LockFolder locks a folder until unlock is called. Badger takes the same lock.
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

// MapFile maps the first bytes of a file for writing.
func MapFile(f *os.File, size int) (b []byte, unmap func() error, err error) {
	b, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	return b, func() error { return syscall.Munmap(b) }, err
}

// View maps a file that does not change. release has to be called at the end.
func View(path string) (content []byte, release func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return nil, func() error { return nil }, err
	}
	content, err = syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	return content, func() error { return syscall.Munmap(content) }, err
}

// MayWrite checks whether a folder's disk can be written to.
func MayWrite(dir string) error {
	const write = 2
	return syscall.Access(dir, write)
}
