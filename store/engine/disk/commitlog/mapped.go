package commitlog

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/cqld/cqld/store/engine/files"
)

// mapped is the memory of a segment whose records are copied into it: a killed process leaves them to the system, as it
// does what it has written, and a call of the system for each would be a tenth of what a commit costs.
//
// What is copied must not fail, so pages are made ready before, some at a time: zeros are written to them, which says
// whether the disk takes them.
type mapped struct {
	bytes []byte
	unmap func() error
	ready int64 // up to where the pages are
}

// readyBytes is how many bytes are made ready at a time. Longer records are written.
const readyBytes = 128 << 10

// zeros are written to pages that are made ready.
var zeros [2 * readyBytes]byte

// newMapped maps a segment, whose blocks are taken. It is nil if that cannot be done: then records are written.
func newMapped(f *os.File, size int64) *mapped {
	if !mayMap {
		return nil
	}
	b, unmap, err := files.MapFile(f, int(size))
	if err != nil {
		return nil
	}
	return &mapped{bytes: b, unmap: unmap}
}

// write writes a record behind the last one.
func (s *segment) write(record []byte) error {
	m, end := s.mapped, s.end+int64(len(record))
	if m == nil || len(record) > readyBytes || end > int64(len(m.bytes)) {
		return s.writeInParts(record)
	}
	if end > m.ready {
		from := max(m.ready, s.end)
		to := min((end+readyBytes-1)/readyBytes*readyBytes, int64(len(m.bytes)))
		if _, err := s.file.WriteAt(zeros[:to-from], from); err != nil {
			return err
		}
		makeWritable(m.bytes[from&^(int64(os.Getpagesize())-1) : to])
		m.ready = to
	}
	return m.copy(s.end, record)
}

// largePart is how much of a large record is written at a time: what takes milliseconds in the system holds up every
// goroutine that waits for the same processor.
const largePart = 512 << 10

// writeInParts writes a record that is not copied, and lets others run between its parts.
func (s *segment) writeInParts(record []byte) error {
	for at := s.end; ; runtime.Gosched() {
		part := record[:min(len(record), largePart)]
		if _, err := s.file.WriteAt(part, at); err != nil {
			return err
		}
		if record = record[len(part):]; len(record) == 0 {
			return nil
		}
		at += int64(len(part))
	}
}

// copy copies a record. Should the system not give a page, that is an error, as it is of a write.
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

// close gives the mapping back. Nothing is copied into it any more. m may be nil.
func (m *mapped) close() error {
	if m == nil {
		return nil
	}
	return m.unmap()
}
