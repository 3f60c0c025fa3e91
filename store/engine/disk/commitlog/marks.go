package commitlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/cqld/cqld/store/engine/files"
)

// ListName is the file with the numbers of the first and the last segment.
const ListName = "LOG"

// list is the content of LOG: all segments from the first to the last one exist, and the first record of the first one
// has the number seq. There is no segment if first is greater than last.
type list struct{ first, seq, last uint64 }

const listHead = "cqld log 1\n"

func (l list) encode() []byte {
	text := fmt.Sprintf("%sfirst %d %d\nlast %d\n", listHead, l.first, l.seq, l.last)
	return fmt.Appendf(nil, "%ssum %d\n", text, files.Checksum([]byte(text)))
}

// write replaces LOG.
func (l list) write(dir string) error {
	return files.ReplaceFile(filepath.Join(dir, ListName), l.encode())
}

// readList reads LOG. sound is false if it was changed since it was written.
func readList(dir string) (l list, sound bool, err error) {
	b, err := os.ReadFile(filepath.Join(dir, ListName))
	if err != nil {
		return l, false, err
	}
	_, rest, _ := strings.Cut(string(b), listHead)
	_, err = fmt.Sscanf(rest, "first %d %d\nlast %d\n", &l.first, &l.seq, &l.last)
	return l, err == nil && string(l.encode()) == string(b), nil
}

// marksName is the file with the sequence numbers of the last record and of the last one that was synced.
const marksName = "LOGGED"

// marksBytes is its length.
const marksBytes = 16

// marks are these numbers, in a mapped file, which keeps them when the process is killed. After a power cut they may
// be older.
type marks struct {
	words *[2]uint64 // a number in 48 bits each, and 16 bits of its checksum
	unmap func() error
}

// openMarks replaces the file by one with the number of the last record, which is synced.
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

// appended sets the number of the last record.
func (m *marks) appended(n uint64) { atomic.StoreUint64(&m.words[0], sealNumber(n)) }

// synced sets the number of the last record on disk.
func (m *marks) synced(n uint64) { atomic.StoreUint64(&m.words[1], sealNumber(n)) }

// close unmaps the file.
func (m *marks) close() error { return m.unmap() }

// sealNumber appends 16 bits of a checksum to a number.
func sealNumber(n uint64) uint64 {
	x := n * 0x9e3779b97f4a7c15
	return n<<16 | (x>>48^0xa5a5)&0xffff
}

func encodeMarks(n uint64) []byte {
	b := binary.NativeEndian.AppendUint64(nil, sealNumber(n))
	return binary.NativeEndian.AppendUint64(b, sealNumber(n))
}

// readMarks reads the file. sound is false if a checksum is wrong.
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
