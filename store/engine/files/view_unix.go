//go:build linux || darwin || freebsd

package files

import (
	"errors"
	"os"
	"syscall"
)

// View gives the content of a file that nobody changes, without reading it. release has to be called at the end.
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
