//go:build !linux && !darwin && !freebsd

package badger

import (
	"math"
	"os"
)

// freeBytes is not known here: a full disk is found when it is.
func freeBytes(string) (int64, error) { return math.MaxInt64, nil }

// lockFolder leaves it to Badger to find another process.
func lockFolder(string) (unlock func(), err error) { return func() {}, nil }

// mapFile has memory instead of the file, which keeps the numbers that it was made with: what a log lost is not told.
func mapFile(_ *os.File, size int) (b []byte, unmap func() error, err error) {
	return make([]byte, size), func() error { return nil }, nil
}

// mayWrite is found out by writing.
func mayWrite(string) error { return nil }
