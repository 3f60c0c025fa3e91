package files

import (
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"syscall"
)

// DataFrom returns what a file has from a byte on, without the zeros at its end.
func DataFrom(f *os.File, from int64) ([]byte, error) {
	end, err := EndOfData(f, from)
	if err != nil || end == from {
		return nil, err
	}
	data := make([]byte, end-from)
	_, err = f.ReadAt(data, from)
	return data, err
}

// EndOfData returns where the zeros at a file's end begin, from a byte on.
func EndOfData(f *os.File, from int64) (end int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return from, err
	}
	end = from
	buf := make([]byte, 1<<18)
	for at := from; at < info.Size(); {
		next, err := f.Seek(at, seekData)
		if errors.Is(err, syscall.ENXIO) {
			break
		}
		if err == nil {
			at = max(next, from)
		}
		n, err := f.ReadAt(buf, at)
		if i := len(bytes.TrimRight(buf[:n], "\x00")); i > 0 {
			end = at + int64(i)
		}
		if at += int64(n); err != nil && err != io.EOF {
			return end, err
		}
	}
	return end, nil
}

// seekData makes Seek go to the next byte that a file has blocks for, where the system knows that.
const seekData = 3

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum is the checksum that Badger and the commit log have.
func Checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// AddChecksum is the checksum of what sum is of, followed by b.
func AddChecksum(sum uint32, b []byte) uint32 { return crc32.Update(sum, castagnoli, b) }
