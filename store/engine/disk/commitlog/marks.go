package commitlog

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"unsafe"

	"github.com/cqld/cqld/store/engine/files"
)

// marksName is the file with the sequence numbers of the last record and of the last one that was synced.
const marksName = "LOGGED"

// marksBytes is its length.
const marksBytes = 16

// marks are these numbers, in a mapped file: a killed process leaves both as they were. After a power cut they may be
// older.
type marks struct {
	words *[2]uint64 // each a number, and behind it 16 bits of its checksum
	unmap func() error
}

// openMarks makes the file anew, with the number of the last record, which is synced.
func openMarks(dir string, last uint64) (*marks, error) {
	path := filepath.Join(dir, marksName)
	if err := files.ReplaceFile(path, encodeMarks(last)); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	b, unmap, err := files.MapFile(f, marksBytes)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &marks{
		words: (*[2]uint64)(unsafe.Pointer(unsafe.SliceData(b))),
		unmap: func() error { return errors.Join(unmap(), f.Close()) },
	}, nil
}

// appended notes that everything up to a record is in the log.
func (m *marks) appended(n uint64) { atomic.StoreUint64(&m.words[0], sealNumber(n)) }

// synced notes that everything up to a record is on disk.
func (m *marks) synced(n uint64) { atomic.StoreUint64(&m.words[1], sealNumber(n)) }

// close gives the mapping back. Nothing is noted any more.
func (m *marks) close() error { return m.unmap() }

// sealNumber puts 16 bits of a checksum behind a number.
func sealNumber(n uint64) uint64 {
	x := n * 0x9e3779b97f4a7c15
	return n<<16 | (x>>48^0xa5a5)&0xffff
}

func encodeMarks(n uint64) []byte {
	b := binary.NativeEndian.AppendUint64(nil, sealNumber(n))
	return binary.NativeEndian.AppendUint64(b, sealNumber(n))
}

// readMarks reads the file. sound is false if it is not as it was written.
func readMarks(dir string) (last, synced uint64, sound bool, err error) {
	b, err := os.ReadFile(filepath.Join(dir, marksName))
	if err != nil || len(b) != marksBytes {
		return 0, 0, false, err
	}
	var n [2]uint64
	for i := range n {
		word := binary.NativeEndian.Uint64(b[8*i:])
		if n[i] = word >> 16; sealNumber(n[i]) != word {
			return 0, 0, false, nil
		}
	}
	return n[0], n[1], true, nil
}
