// Package commitlog is the write-ahead log of engine/disk: each commit is appended to a Log before it is acknowledged,
// and replayed when a folder is opened that was not closed.
//
// The log is a sequence of segments, files whose blocks are allocated before they are used. A segment has a head and
// records, one after the other:
//
//	<magic> <number uint64> <checksum uint32>			the head
//	<length uint32> <checksum uint32> <sequence uint64> <operations>	a record: a commit
//
// Sequence numbers count commits, over all segments, without a gap, so a missing record is noticed. Two more files
// describe the log (marks.go): LOG has the numbers of the first and the last segment, and is replaced when a segment
// is made or removed; LOGGED has the sequence numbers of the last record and of the last one that was synced, and is
// mapped.
//
// Recovery begins with an Examination, which changes nothing (replay.go). The bytes after the last sound record are a
// torn write from the moment when the process was killed or the power failed, unless LOGGED says that they were
// synced: then the log is damaged.
package commitlog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/cqld/cqld/internal/invariants"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/files"
)

// Options of a log.
type Options struct {
	SegmentSize int64 // bytes of a segment; 0: 32 MiB

	// Mapped copies records into mappings of the segments, if the system supports that. A sync of such a record may write
	// some hundred KiB around it as well: it is for logs that are synced periodically.
	Mapped bool

	Sync func(*os.File) error // of a test; nil: syncs the file
}

// sync is how a segment is synced.
func (o *Options) sync() func(*os.File) error {
	if o.Sync != nil {
		return o.Sync
	}
	return (*os.File).Sync
}

// defaultSegment is the size of segments.
const defaultSegment = 32 << 20

// ErrNoSegment says that a record cannot be appended because the next segment could not be made yet.
var ErrNoSegment = errors.New("the next segment of the log is not ready")

// Log appends records. One goroutine at a time calls Append; all other methods may be called at any time.
type Log struct {
	dir  string
	o    Options
	last atomic.Uint64 // the sequence number of the last record
	buf  []byte        // of the record that is being appended

	mu      sync.Mutex // guards the segments
	current *segment   // nil: the next record begins a segment
	spare   *segment   // the next one, or nil
	full    []*segment // nothing is appended to these any more; oldest first

	changing sync.Mutex // held while segments are made and removed
	list     list       // as it is in LOG; guarded by changing
	unsure   error      // LOG may have another list; guarded by changing

	syncing sync.Mutex // held while segments are synced
	synced  uint64     // guarded by syncing
	failed  error      // of a sync: the content of the disk is unknown; guarded by syncing
	marks   *marks
}

// open makes a log that goes on after a record. The segments before it are full, and in LOG.
func open(dir string, o Options, l list, full []*segment, last uint64) (*Log, error) {
	if o.SegmentSize == 0 {
		o.SegmentSize = defaultSegment
	}
	o.Sync = o.sync()
	m, err := openMarks(dir, last)
	if err != nil {
		return nil, err
	}
	log := &Log{dir: dir, o: o, list: l, full: full, marks: m, synced: last}
	log.last.Store(last)
	if err := log.Prepare(nil); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return log, nil
}

// Last is the sequence number of the last record.
func (l *Log) Last() uint64 { return l.last.Load() }

// Ready reports whether a commit can be appended without another segment.
func (l *Log) Ready(ops []engine.Op) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.spare != nil || !l.isFull(ops)
}

// isFull reports whether a commit does not fit into the current segment. A commit that is too long for any segment
// gets one alone.
func (l *Log) isFull(ops []engine.Op) bool {
	s := l.current
	return s == nil || s.end > headBytes && s.end+int64(recordBytes(ops)) > l.o.SegmentSize
}

// Append appends a commit. If it fails, nothing was appended. wantsSegment asks for a call of Prepare.
func (l *Log) Append(ops []engine.Op) (wantsSegment bool, err error) {
	buf := &l.buf
	if recordBytes(ops) > maxKeptBuffer {
		buf = longBuffers.Get().(*[]byte)
		defer longBuffers.Put(buf)
	}
	*buf = appendRecord((*buf)[:0], ops)
	record, seq := *buf, l.last.Load()+1
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.current
	if l.isFull(ops) {
		if l.spare == nil {
			return true, ErrNoSegment
		}
		if s != nil {
			l.full = append(l.full, s)
		}
		s, l.spare = l.spare, nil
		s.first = seq
		l.current, wantsSegment = s, true
	}
	seal(record, s.number, seq)
	if err := s.write(record); err != nil {
		return wantsSegment, err
	}
	invariants.Check(s.last == 0 && s.first == seq || s.last+1 == seq, "record %d follows record %d", seq, s.last)
	invariants.Check(s.end == headBytes || s.end+int64(len(record)) <= l.o.SegmentSize,
		"a record of %d bytes at %d does not fit into a segment of %d", len(record), s.end, l.o.SegmentSize)
	s.end += int64(len(record))
	s.last = seq
	l.last.Store(seq)
	l.marks.appended(seq)
	return wantsSegment, nil
}

// maxKeptBuffer is the length of the longest record whose buffer the log keeps for the next. The garbage collector
// takes longer ones when they are not used.
const maxKeptBuffer = 1 << 20

var longBuffers = sync.Pool{New: func() any { return new([]byte) }}

// Prepare makes the next segment, unless there is one, and unmaps full ones. room may refuse a segment of a size; nil:
// the disk does.
func (l *Log) Prepare(room func(size int64) error) error {
	l.changing.Lock()
	defer l.changing.Unlock()
	l.mu.Lock()
	ready := l.spare != nil
	var done []*mapped
	for _, s := range l.full {
		if s.mapped != nil {
			done, s.mapped = append(done, s.mapped), nil
		}
	}
	l.mu.Unlock()
	for _, m := range done {
		if err := m.close(); err != nil {
			return err
		}
	}
	if ready || l.unsure != nil {
		return l.unsure
	}
	if room != nil {
		if err := room(l.o.SegmentSize); err != nil {
			return err
		}
	}
	s, err := createSegment(l.dir, l.list.last+1, l.o.SegmentSize, l.o.Mapped)
	if err != nil {
		return fmt.Errorf("make a segment of the log: %w", err)
	}
	next := l.list
	next.last++
	if err := l.setList(next); err != nil {
		err = fmt.Errorf("make a segment of the log: %w", err)
		if l.unsure != nil { // LOG may name the segment
			return errors.Join(err, s.close())
		}
		return errors.Join(err, s.remove(l.dir))
	}
	l.mu.Lock()
	l.spare = s
	l.mu.Unlock()
	return nil
}

// Sync returns when all records that were appended before are on disk. After an error it is unknown which records are,
// and all later syncs fail with the error: the system reports a page that it could not write only once.
func (l *Log) Sync() error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	if l.failed != nil {
		return l.failed
	}
	l.mu.Lock()
	last := l.last.Load()
	var unsynced []*segment
	for _, s := range l.full {
		if s.last > l.synced && s.file != nil {
			unsynced = append(unsynced, s)
		}
	}
	if l.current != nil {
		unsynced = append(unsynced, l.current)
	}
	l.mu.Unlock()
	if last == l.synced {
		return nil
	}
	for _, s := range unsynced {
		if err := l.o.Sync(s.file); err != nil {
			l.failed = fmt.Errorf("sync the log: %w", err)
			return l.failed
		}
	}
	l.synced = last
	l.marks.synced(last)
	return nil
}

// Drop removes the segments that have no record after upTo.
func (l *Log) Drop(upTo uint64) error {
	l.changing.Lock()
	defer l.changing.Unlock()
	l.mu.Lock()
	n := 0
	for n < len(l.full) && l.full[n].last <= upTo {
		n++
	}
	gone := l.full[:n:n]
	next := l.list
	if n > 0 {
		next.first, next.seq = gone[n-1].number+1, gone[n-1].last+1
	}
	l.mu.Unlock()
	if n == 0 {
		return nil
	}
	if err := l.setList(next); err != nil {
		return err
	}
	l.mu.Lock()
	l.full = l.full[n:]
	l.mu.Unlock()
	l.syncing.Lock() // a sync may be under way
	defer l.syncing.Unlock()
	var err error
	for _, s := range gone {
		err = errors.Join(err, s.remove(l.dir))
	}
	return err
}

// setList replaces LOG. If it is not known which list LOG has after a failure, neither LOG nor the segments change
// until the log is opened again.
func (l *Log) setList(next list) error {
	if l.unsure != nil {
		return l.unsure
	}
	err := next.write(l.dir)
	if errors.Is(err, files.ErrUnsure) {
		l.unsure = err
	}
	if err == nil {
		l.list = next
	}
	return err
}

// Size is the number of segments, without the spare one, and the bytes of their records.
func (l *Log) Size() (segments int, bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.full {
		bytes += s.end
	}
	segments = len(l.full)
	if l.current != nil {
		segments++
		bytes += l.current.end
	}
	return segments, bytes
}

// Close closes the files.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	for _, s := range append(l.full, l.current, l.spare) {
		if s != nil {
			err = errors.Join(err, s.close())
		}
	}
	return errors.Join(err, l.marks.close())
}

// Empty closes the log and removes all segments, because all their commits are in tables.
func (l *Log) Empty() error {
	l.changing.Lock()
	defer l.changing.Unlock()
	if err := l.Close(); err != nil {
		return err
	}
	next := list{first: l.list.last + 1, seq: l.last.Load() + 1, last: l.list.last}
	if err := files.ReplaceFile(filepath.Join(l.dir, marksName), encodeMarks(l.last.Load())); err != nil {
		return err
	}
	if err := next.write(l.dir); err != nil {
		return err
	}
	var err error
	for n := l.list.first; n <= l.list.last; n++ {
		err = errors.Join(err, os.Remove(filepath.Join(l.dir, segmentName(n))))
	}
	return err
}
