package commitlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/cqld/cqld/store/engine/files"
)

// segment is a file of the log.
type segment struct {
	number      uint64
	file        *os.File // nil: it was there when the log was opened
	mapped      *mapped  // nil: records are written to the file
	end         int64    // of the last record
	first, last uint64   // sequence numbers of its records; last is 0 if it has none
	damaged     bool     // a repair has found bytes that are no record
}

// segmentSuffix ends the names of segments.
const segmentSuffix = ".log"

func segmentName(number uint64) string { return fmt.Sprintf("%06d%s", number, segmentSuffix) }

// numberOf is the number in a segment's name.
func numberOf(name string) (number uint64, ok bool) {
	text, ok := strings.CutSuffix(name, segmentSuffix)
	number, err := strconv.ParseUint(text, 10, 64)
	return number, ok && err == nil && segmentName(number) == name
}

func (s *segment) path(dir string) string { return filepath.Join(dir, segmentName(s.number)) }

const magic = "cqldlog1"

// headBytes is the length of a segment's head.
const headBytes = 20

// head is the head of a segment.
func head(number uint64) []byte {
	b := binary.LittleEndian.AppendUint64([]byte(magic), number)
	return binary.LittleEndian.AppendUint32(b, files.Checksum(b))
}

// createSegment makes the file of a segment, and syncs it. It replaces a file that was left and never used. mapIt maps
// the file, if its blocks could be allocated.
func createSegment(dir string, number uint64, size int64, mapIt bool) (*segment, error) {
	s := &segment{number: number, end: headBytes}
	f, err := os.OpenFile(s.path(dir), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	s.file = f
	fail := func(err error) (*segment, error) { return nil, errors.Join(err, f.Close(), os.Remove(s.path(dir))) }
	allocated, err := allocate(f, size)
	if err != nil {
		return fail(err)
	}
	if _, err := f.WriteAt(head(number), 0); err != nil {
		return fail(err)
	}
	if err := errors.Join(f.Sync(), files.SyncFile(dir)); err != nil {
		return fail(err)
	}
	if mapIt && allocated {
		s.mapped = newMapped(f, size)
	}
	return s, nil
}

// allocate sets the length of a file, and allocates its blocks if the system supports that.
func allocate(f *os.File, size int64) (allocated bool, err error) {
	err = files.AllocateBlocks(f, 0, size)
	if err != nil && !errors.Is(err, syscall.EOPNOTSUPP) && !errors.Is(err, syscall.ENOSYS) {
		return false, &os.PathError{Op: "allocate blocks for", Path: f.Name(), Err: err}
	}
	return err == nil, f.Truncate(size)
}

// close closes the file.
func (s *segment) close() error {
	err := s.mapped.close()
	s.mapped = nil
	if s.file != nil {
		err = errors.Join(err, s.file.Close())
	}
	return err
}

// remove closes and removes the file.
func (s *segment) remove(dir string) error { return errors.Join(s.close(), os.Remove(s.path(dir))) }
