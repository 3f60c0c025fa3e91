package commitlog

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/cqld/cqld/store/engine/files"
)

// mapped is the mapping of a segment, into which records are copied. If the process is killed, the system still writes
// them to the file, as it does after a write; a system call for each record would be a tenth of the cost of a commit.
//
// Copying must not fail, so pages are prepared before, some at a time: zeros are written to the file there, which
// fails if the disk does not take them.
type mapped struct {
	bytes    []byte
	unmap    func() error
	prepared int64 // the end of the prepared pages
}

// preparedBytes is how many bytes are prepared at a time. Longer records are written, and not copied.
const preparedBytes = 128 << 10

// zeros are written to pages to prepare them.
var zeros [2 * preparedBytes]byte

// newMapped maps a segment, whose blocks are allocated. It is nil if the system does not support that: then records
// are written.
func newMapped(f *os.File, size int64) *mapped {
	if !files.MappedWrites {
		return nil
	}
	b, unmap, err := files.MapFile(f, int(size))
	if err != nil {
		return nil
	}
	return &mapped{bytes: b, unmap: unmap}
}

// write writes a record after the last one.
func (s *segment) write(record []byte) error {
	m, end := s.mapped, s.end+int64(len(record))
	if m == nil || len(record) > preparedBytes || end > int64(len(m.bytes)) {
		return s.writeInParts(record)
	}
	if end > m.prepared {
		from := max(m.prepared, s.end)
		to := min((end+preparedBytes-1)/preparedBytes*preparedBytes, int64(len(m.bytes)))
		if _, err := s.file.WriteAt(zeros[:to-from], from); err != nil {
			return err
		}
		files.Populate(m.bytes[from&^(int64(os.Getpagesize())-1) : to])
		m.prepared = to
	}
	return m.copy(s.end, record)
}

// maxPart is how many bytes of a record are written at a time: a system call of milliseconds delays every goroutine
// that waits for the same processor.
const maxPart = 512 << 10

// writeInParts writes a record that is not copied, and yields between its parts.
func (s *segment) writeInParts(record []byte) error {
	for at := s.end; ; runtime.Gosched() {
		part := record[:min(len(record), maxPart)]
		if _, err := s.file.WriteAt(part, at); err != nil {
			return err
		}
		if record = record[len(part):]; len(record) == 0 {
			return nil
		}
		at += int64(len(part))
	}
}

// copy copies a record. A page fault that the system cannot serve is an error, as it is for a write.
func (m *mapped) copy(at int64, record []byte) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		fault, ok := p.(interface{ Addr() uintptr })
		if !ok {
			panic(p)
		}
		err = fmt.Errorf("a page of the log cannot be written: %v", fault)
	}()
	copy(m.bytes[at:], record)
	return nil
}

// close unmaps the segment. m may be nil.
func (m *mapped) close() error {
	if m == nil {
		return nil
	}
	return m.unmap()
}
