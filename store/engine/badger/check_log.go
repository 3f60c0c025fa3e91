package badger

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"syscall"

	"github.com/rs/zerolog"
)

const (
	logStart      = 20 // bytes in front of a log's first entry
	logHeader     = 2 + 2*binary.MaxVarintLen32 + binary.MaxVarintLen64
	longestValue  = 1 << 30
	seekData      = 3 // os.File.Seek: to where the next bytes are that are not a hole
	checksumBytes = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checkLog says if a log has more behind its last entry that is whole. Badger ends reading it there and cuts the rest off.
func checkLog(path string, log zerolog.Logger) {
	f, err := os.Open(path)
	if err != nil {
		return // Badger says so
	}
	defer f.Close()
	l := newLogReader(f)
	for l.next() {
	}
	if at, more := l.broken, l.more(f); more {
		log.Error().Str("file", path).Int64("byte", at).Msg("the log is damaged, or the power was cut while it was written: " +
			"what was written from there on is lost")
	}
}

// logReader goes over a log's entries: two bytes of flags, the lengths of key and value and a time as varints, key, value
// and the checksum of all this.
type logReader struct {
	r      *bufio.Reader
	at     int64 // of the next entry
	broken int64 // the entry that is not whole, or 0
	rest   int64 // where the first byte stands that a half-written last entry would not have
	body   []byte
}

func newLogReader(f *os.File) *logReader {
	return &logReader{r: bufio.NewReaderSize(io.NewSectionReader(f, logStart, 1<<62), 1<<20), at: logStart}
}

// next reads an entry; it returns false at the end and at one that is not whole.
func (l *logReader) next() bool {
	head, _ := l.r.Peek(logHeader)
	if len(head) < 5 || head[0] == 0 && head[1] == 0 && head[2] == 0 && head[3] == 0 {
		l.broken, l.rest = l.at, l.at
		return false
	}
	at := 2
	var lengths [3]uint64 // of the key and of the value, and the time
	for i := range lengths {
		v, n := binary.Uvarint(head[at:])
		if n <= 0 || i < 2 && v > longestValue {
			l.broken, l.rest = l.at, l.at
			return false
		}
		lengths[i], at = v, at+n
	}
	size := at + int(lengths[0]+lengths[1]) + checksumBytes
	if cap(l.body) < size {
		l.body = make([]byte, size+size/2)
	}
	b := l.body[:size]
	if _, err := io.ReadFull(l.r, b); err != nil || crc32.Checksum(b[:size-checksumBytes], castagnoli) != binary.BigEndian.Uint32(b[size-checksumBytes:]) {
		l.broken, l.rest = l.at, l.at+int64(size-checksumBytes)
		return false
	}
	l.at += int64(size)
	return true
}

// more reports whether there are bytes behind the last entry, apart from the first part of another.
func (l *logReader) more(f *os.File) bool {
	at := l.rest
	buf := make([]byte, 1<<16)
	for {
		if next, err := f.Seek(at, seekData); err == nil {
			at = next
		} else if info, statErr := f.Stat(); errors.Is(err, syscall.ENXIO) || statErr != nil || at >= info.Size() {
			return false
		}
		n, err := f.ReadAt(buf, at)
		for _, c := range buf[:n] {
			if c != 0 {
				return true
			}
		}
		if err != nil {
			return false
		}
		at += int64(n)
	}
}
