package check

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"os"
	"strconv"

	"github.com/cqld/cqld/store/engine/files"
)

const (
	LogStart      = 20 // bytes in front of a log's first entry: the number of its decryption key, and 12 random bytes
	logHeader     = 2 + 2*binary.MaxVarintLen32 + binary.MaxVarintLen64
	longestValue  = 1 << 30
	checksumBytes = 4
	pageSize      = 4096 // the system writes mapped files to disk in pages

	// Bits of an entry's first byte.
	bitPointer = 1 << 1 // the value is in a value log
	bitCommit  = 1 << 6 // the entry belongs to a commit
	bitEnd     = 1 << 7 // the entry ends a commit
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// logEntry is an entry of a log: two bytes of flags, the lengths of key and value and a time as varints, the key,
// the value, and a checksum.
type logEntry struct {
	at         int64
	size       int
	meta       byte
	key, value []byte // valid until the next entry is read
}

// version is the number of the entry's commit: the last bytes of the key, inverted.
func (e *logEntry) version() uint64 {
	if len(e.key) < 8 {
		return 0
	}
	return math.MaxUint64 - binary.BigEndian.Uint64(e.key[len(e.key)-8:])
}

// parseHead reads the flags and lengths of an entry. size is 0 if no entry begins like this.
func parseHead(head []byte) (key, value, size int) {
	if len(head) < 5 || head[0] == 0 && head[1] == 0 && head[2] == 0 && head[3] == 0 {
		return 0, 0, 0
	}
	at := 2
	var lengths [3]uint64 // of the key and of the value, and the time
	for i := range lengths {
		v, n := binary.Uvarint(head[at:])
		if n <= 0 || i == 0 && v > 1<<16 || i == 1 && v > longestValue {
			return 0, 0, 0
		}
		lengths[i], at = v, at+n
	}
	key, value = at, at+int(lengths[0])
	return key, value, value + int(lengths[1]) + checksumBytes
}

// wholeEntry reports whether an entry has its checksum.
func wholeEntry(b []byte) bool {
	n := len(b) - checksumBytes
	return files.Checksum(b[:n]) == binary.BigEndian.Uint32(b[n:])
}

// logReader goes over a log's entries.
type logReader struct {
	logEntry
	r    *bufio.Reader
	next int64 // where the next entry begins, or the one that is not whole
	body []byte
}

func newLogReader(f *os.File) *logReader {
	entries := io.NewSectionReader(f, LogStart, math.MaxInt64-LogStart)
	return &logReader{r: bufio.NewReaderSize(entries, 1<<20), next: LogStart}
}

// read reads an entry; it returns false at the end and at one that is not whole.
func (l *logReader) read() bool {
	head, _ := l.r.Peek(logHeader)
	key, value, size := parseHead(head)
	if size == 0 {
		return false
	}
	if cap(l.body) < size {
		if size > 1<<20 { // a damaged length asks for more than there is
			if b, _ := l.r.Peek(l.r.Size()); len(b) < l.r.Size() {
				return false
			}
		}
		l.body = make([]byte, size+size/2)
	}
	b := l.body[:size]
	if _, err := io.ReadFull(l.r, b); err != nil || !wholeEntry(b) {
		return false
	}
	l.logEntry = logEntry{at: l.next, size: size, meta: b[0], key: b[key:value], value: b[value : size-checksumBytes]}
	l.next += int64(size)
	return true
}

// ends reports whether the entry ends the commit of a version.
func (e *logEntry) ends(version uint64) bool {
	n, err := strconv.ParseUint(string(e.value), 10, 64)
	return err == nil && n == version
}

// nextEntry finds the first sound entry at or behind a place in data, and returns where it begins and its length.
// Entries that cqld writes have no time, no flags of their own and a version far from the largest.
func nextEntry(data []byte, from int) (at, size int) {
	for at = from; at+5 < len(data); at++ {
		if data[at]&^(bitCommit|bitEnd|bitPointer|1) != 0 || data[at+1] != 0 {
			continue
		}
		key, value, size := parseHead(data[at:])
		if size == 0 || size > len(data)-at || value-key < 8 || data[at+key-1] != 0 {
			continue
		}
		if v := data[at+value-8:]; v[0] != 0xff || v[1] != 0xff {
			continue
		}
		if wholeEntry(data[at : at+size]) {
			return at, size
		}
	}
	return -1, 0
}

// lostPage reports whether a page between two places of a file may not have been written: then it is zero. data is
// what the file has from a byte on.
func lostPage(data []byte, from, begin, end int64) bool {
	for page := (begin/pageSize + 1) * pageSize; page <= end; page += pageSize {
		if i := page - 1 - from; i >= int64(len(data)) || data[i] == 0 {
			return true
		}
	}
	return false
}

// EndOfEntries follows the entries of a log by the lengths in their heads, from a place where one begins, and
// returns where they end. It compares no checksums.
func EndOfEntries(f *os.File, at int64) int64 {
	head := make([]byte, logHeader)
	for {
		n, _ := f.ReadAt(head, at)
		_, _, size := parseHead(head[:n])
		if size == 0 {
			return at
		}
		at += int64(size)
	}
}
