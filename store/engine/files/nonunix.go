//go:build !linux && !darwin && !freebsd

package files

import (
	"math"
	"os"
)

// FreeBytes is not known here: a full disk is noticed when a write fails.
func FreeBytes(string) (int64, error) { return math.MaxInt64, nil }

// VolumeBytes is not known here, so nothing is reserved.
func VolumeBytes(string) (int64, error) { return 0, nil }

// LockFolder does nothing: Badger detects another process.
func LockFolder(string) (unlock func(), err error) { return func() {}, nil }

// MapFile returns memory that is not written to the file. So the file keeps its first content, and commits that a log
// has lost are not noticed.
func MapFile(_ *os.File, size int) (b []byte, unmap func() error, err error) {
	return make([]byte, size), func() error { return nil }, nil
}

// View reads a file.
func View(path string) (content []byte, release func() error, err error) {
	content, err = os.ReadFile(path)
	return content, func() error { return nil }, err
}

// MayWrite is not known before a write.
func MayWrite(string) error { return nil }
