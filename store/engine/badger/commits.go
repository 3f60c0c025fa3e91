package badger

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"unsafe"
)

// commitsName is the file with the numbers of commits.
const commitsName = "COMMITS"

// commits are the numbers of the last commit and of the last one that is synced. They are in a mapped file, so
// that a log which lost its end shows: a killed process leaves both as they were. After a power cut they may be older.
type commits struct {
	words *[2]uint64 // each a number, followed by the 16 bits of its checksum
	unmap func() error
}

const commitsBytes = 16

// seal puts the checksum behind a number.
func seal(n uint64) uint64 {
	return n<<16 | uint64(uint16(checksum(binary.BigEndian.AppendUint64(nil, n))))
}

// readCommits reads the numbers of a folder.
func readCommits(dir string) (last, synced uint64, err error) {
	path := filepath.Join(dir, commitsName)
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, err
	}
	if len(b) != commitsBytes {
		return 0, 0, damaged(path, "it has %d bytes instead of %d", len(b), commitsBytes)
	}
	var words [2]uint64
	for i := range words {
		words[i] = binary.NativeEndian.Uint64(b[8*i:])
		if seal(words[i]>>16) != words[i] {
			return 0, 0, damaged(path, "it does not have the checksum that it was written with")
		}
	}
	return words[0] >> 16, words[1] >> 16, nil
}

// encodeCommits makes the file of both numbers.
func encodeCommits(n uint64) []byte {
	b := binary.NativeEndian.AppendUint64(nil, seal(n))
	return binary.NativeEndian.AppendUint64(b, seal(n))
}

// openCommits makes the file anew, with the number of the last commit, which is synced.
func openCommits(dir string, n uint64) (*commits, error) {
	path := filepath.Join(dir, commitsName)
	if err := replaceFile(path, encodeCommits(n)); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	b, unmap, err := mapFile(f, commitsBytes)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &commits{words: (*[2]uint64)(unsafe.Pointer(unsafe.SliceData(b))), unmap: func() error { return errors.Join(unmap(), f.Close()) }}, nil
}

// committed notes that everything up to a commit is in the logs.
func (c *commits) committed(n uint64) { atomic.StoreUint64(&c.words[0], seal(n)) }

// synced notes that everything up to a commit is on disk.
func (c *commits) synced(n uint64) { atomic.StoreUint64(&c.words[1], seal(n)) }

// close gives the mapping back. Nothing is noted any more.
func (c *commits) close() error { return c.unmap() }
