package badger

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"unsafe"

	"github.com/cqld/cqld/store/engine/files"

	"github.com/cqld/cqld/store/engine/badger/check"
)

// commits are the numbers of the last commit and of the last one that is synced. They are in a mapped file, so that
// a log that has lost its end is noticed: a killed process leaves both as they were. After a power cut they may be
// older.
type commits struct {
	words *[2]uint64 // each a number, followed by the 16 bits of its checksum
	unmap func() error
}

// openCommits makes the file anew, with the number of the last commit, which is synced.
func openCommits(dir string, n uint64) (*commits, error) {
	path := filepath.Join(dir, check.CommitsName)
	if err := files.ReplaceFile(path, check.EncodeCommits(n)); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	b, unmap, err := files.MapFile(f, check.CommitsBytes)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &commits{
		words: (*[2]uint64)(unsafe.Pointer(unsafe.SliceData(b))),
		unmap: func() error { return errors.Join(unmap(), f.Close()) },
	}, nil
}

// committed notes that everything up to a commit is in the logs.
func (c *commits) committed(n uint64) { atomic.StoreUint64(&c.words[0], check.SealNumber(n)) }

// synced notes that everything up to a commit is on disk.
func (c *commits) synced(n uint64) { atomic.StoreUint64(&c.words[1], check.SealNumber(n)) }

// close gives the mapping back. Nothing is noted any more.
func (c *commits) close() error { return c.unmap() }
