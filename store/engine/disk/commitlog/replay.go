package commitlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/files"
)

// Examination is the state of a log that is not open. Nothing is changed until Open or Reset.
type Examination struct {
	dir      string
	Exists   bool // there is a log, though it may be empty
	Damages  []files.Damage
	Warnings []string // warnings for the server's log when the log is opened
	list     list
	segments []*segment
	seq      uint64   // of the last record that is kept
	marked   uint64   // the last record that was appended, as LOGGED has it
	synced   uint64   // the last record that was synced
	flushed  uint64   // the last commit that tables have
	cut      bool     // there are records that do not follow the last one
	left     []string // segments that are in no list
	lost     []engine.Loss
	newer    bool // see ReplayIntact
}

// Examine reads the log of a folder. It is damage if there is none and wanted is set.
func Examine(dir string, wanted bool) (*Examination, error) {
	x := &Examination{dir: dir}
	numbers, err := segmentNumbers(dir)
	if err != nil {
		return nil, err
	}
	l, sound, err := readList(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if wanted || len(numbers) > 0 {
			x.damage(ListName, "it is not there")
			x.keepAll(numbers)
			return x, nil
		}
		x.list = list{first: 1, seq: 1}
		return x, nil
	case err != nil && !errors.Is(err, syscall.EISDIR):
		return nil, err
	}
	x.Exists = true
	last, synced, marksSound, marksErr := readMarks(dir)
	if marksErr != nil && !errors.Is(marksErr, fs.ErrNotExist) && !errors.Is(marksErr, syscall.EISDIR) {
		return nil, marksErr
	}
	x.marked, x.synced = last, synced
	if !sound {
		x.damage(ListName, "%s", kindOf(err))
		x.keepAll(numbers)
		return x, nil
	}
	x.list = l
	for _, n := range numbers {
		if n < l.first || n > l.last {
			x.left = append(x.left, segmentName(n))
		}
	}
	if !marksSound {
		x.damage(marksName, "%s", kindOf(marksErr))
	}
	if err := x.follow(last, synced); err != nil {
		return nil, err
	}
	return x, nil
}

// kindOf is the kind of damage of a file that cannot be read because of an error, or is not what was written.
func kindOf(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it is not there"
	case errors.Is(err, syscall.EISDIR):
		return "it is a folder"
	}
	return "it does not have the checksum that it was written with"
}

func (x *Examination) damage(name, format string, args ...any) {
	x.Damages = append(x.Damages, files.Damage{Name: name, What: fmt.Sprintf(format, args...)})
}

// segmentNumbers are the numbers of the segments in a folder, in their order.
func segmentNumbers(dir string) (numbers []uint64, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if n, ok := numberOf(e.Name()); ok {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, err
}

// follow reads the records in their order up to the first one that is missing. last is the number of the last record
// that was appended, and synced that of the last one that was synced.
func (x *Examination) follow(last, synced uint64) error {
	x.seq = x.list.seq - 1
	newest := ListName // the segment with the last record
	blamed := ""       // the first segment after it with bytes that are no record
	for n := x.list.first; n <= x.list.last; n++ {
		s := &segment{number: n, end: headBytes}
		name := segmentName(n)
		data, err := os.ReadFile(s.path(x.dir))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EISDIR) {
			x.damage(name, "%s", kindOf(err))
			continue
		}
		if err != nil {
			return err
		}
		x.segments = append(x.segments, s)
		if len(data) < headBytes || string(data[:headBytes]) != string(head(n)) {
			x.damage(name, "it does not begin as a segment of the log with its number does")
			continue
		}
		x.followSegment(s, data)
		if s.last > 0 {
			newest, blamed = name, ""
		}
		if blamed == "" && !x.cut && restOf(data, s.end) {
			blamed = name
		}
	}
	if len(x.Damages) > 0 {
		return nil
	}
	if blamed == "" {
		blamed = newest
	}
	switch {
	case x.seq < synced:
		x.damage(blamed, "the log ends in it with the commit %d, and was synced up to %d", x.seq, synced)
	case x.seq < last:
		x.warn("the log %s ends with the commit %d: the %d commits after it are lost, which were not synced",
			filepath.Join(x.dir, blamed), x.seq, last-x.seq)
	}
	return nil
}

// followSegment reads the records of a segment up to one whose sequence number is not the next one: a record is
// missing before it.
func (x *Examination) followSegment(s *segment, data []byte) {
	for !x.cut {
		size, seq, ok := parseRecord(s.number, data[s.end:])
		if !ok {
			return
		}
		if seq != x.seq+1 {
			x.cut = true
			return
		}
		if s.last == 0 {
			s.first = seq
		}
		x.seq, s.last = seq, seq
		s.end += int64(size)
	}
}

// restOf reports whether there are bytes other than zeros from a place on.
func restOf(data []byte, from int64) bool {
	for _, b := range data[from:] {
		if b != 0 {
			return true
		}
	}
	return false
}

func (x *Examination) warn(format string, args ...any) {
	x.Warnings = append(x.Warnings, fmt.Sprintf(format, args...))
}

// keepAll takes all segments in the folder as the log's, because LOG cannot be read.
func (x *Examination) keepAll(numbers []uint64) {
	x.Exists, x.list = true, list{first: 1, seq: 1}
	for _, n := range numbers {
		x.segments = append(x.segments, &segment{number: n})
		x.list.last = n
	}
}

// Continue makes Replay begin after the commits up to flushed, which tables have. The log has to go on from there: if
// it does not, it is damaged.
func (x *Examination) Continue(flushed uint64) {
	x.flushed = flushed
	if !x.Exists || len(x.Damages) > 0 {
		return
	}
	if x.list.seq > flushed+1 {
		x.damage(ListName, "the log begins with the commit %d, and tables have the commits up to %d", x.list.seq, flushed)
	} else if x.seq < flushed {
		x.damage(ListName, "the log ends with the commit %d, and tables have the commits up to %d", x.seq, flushed)
	}
}

// Last is the last commit that was replayed, or that tables have.
func (x *Examination) Last() uint64 { return max(x.seq, x.flushed) }

// Replay calls fn with the commits of the log that tables do not have, in their order, up to the first record that is
// damaged or missing. It never searches for records after that, because bytes that look like a record may be a
// client's value. ops are valid until fn returns.
func (x *Examination) Replay(fn func(seq uint64, ops []engine.Op) error) error {
	return x.replay(false, fn)
}

// ReplayIntact is Replay for a repair: it goes on after records that are damaged or missing, and returns them. It finds
// the next record by the length of the damaged one, or in the next segment.
//
// newer says that tables have commits after the ones that they are known to have: those that are missing before the
// first record are there.
func (x *Examination) ReplayIntact(
	newer bool, fn func(seq uint64, ops []engine.Op) error,
) (lost []engine.Loss, err error) {
	x.newer = newer
	err = x.replay(true, fn)
	if end := x.Last(); err == nil && x.marked > end {
		if x.seq != 0 || !newer {
			x.lose(marksName, end+1, x.marked)
		}
		x.seq = x.marked
	}
	return x.lost, err
}

func (x *Examination) replay(intact bool, fn func(seq uint64, ops []engine.Op) error) error {
	x.seq = 0
	var ops []engine.Op
	for _, s := range x.segments {
		data, err := os.ReadFile(s.path(x.dir))
		if intact && errors.Is(err, syscall.EISDIR) {
			continue
		}
		if err != nil {
			return err
		}
		if !intact && (len(data) < headBytes || string(data[:headBytes]) != string(head(s.number))) {
			return nil
		}
		for at := headBytes; at < len(data); {
			size, seq, ok := parseRecord(s.number, data[at:])
			if ok {
				ops, ok = parseOps(ops[:0], data[at:at+size])
			}
			if !ok && intact {
				s.damaged = s.damaged || restOf(data, int64(at))
				if repairLength(s.number, data[at:]) {
					continue
				}
				if next := x.skip(s.number, data, at); next > 0 {
					at = next
					continue
				}
			}
			if !ok || intact && x.seq != 0 && seq <= x.seq {
				break // the next segment may go on from here
			}
			if gap := max(x.seq, x.flushed) + 1; seq > gap {
				if !intact {
					return nil
				}
				if x.seq != 0 || !x.newer {
					x.lose(segmentName(s.number), gap, seq-1)
				}
			}
			if seq > x.flushed {
				if err := fn(seq, ops); err != nil {
					return err
				}
			}
			x.seq = seq
			at += size
		}
	}
	return nil
}

// skip returns where the record after a damaged one begins, or 0. It has to have the sequence number after the damaged
// one's.
func (x *Examination) skip(segment uint64, data []byte, at int) int {
	if len(data)-at <= recordHead {
		return 0
	}
	next := at + recordHead + int(binary.LittleEndian.Uint32(data[at:]))
	if next >= len(data) {
		return 0
	}
	_, seq, ok := parseRecord(segment, data[next:])
	if !ok || x.seq != 0 && seq != x.seq+2 {
		return 0
	}
	return next
}

// lose notes commits that are missing.
func (x *Examination) lose(name string, from, to uint64) {
	x.lost = append(x.lost, engine.Loss{
		File: name, What: fmt.Sprintf("the commits from %d to %d cannot be read", from, to), Commits: to - from + 1,
	})
}

// Create makes an empty log if there is none.
func (x *Examination) Create() error {
	if x.Exists {
		return nil
	}
	if err := files.ReplaceFile(filepath.Join(x.dir, marksName), encodeMarks(0)); err != nil {
		return err
	}
	x.Exists = true
	return x.list.write(x.dir)
}

// Open opens the log after the last record. The torn writes after it are quarantined.
func (x *Examination) Open(o Options) (*Log, error) {
	var full, others []*segment
	for _, s := range x.segments {
		if s.last > 0 {
			full = append(full, s)
		} else {
			others = append(others, s)
		}
		if err := x.truncate(s, o.sync()); err != nil {
			return nil, err
		}
	}
	l := list{first: x.list.first, seq: x.list.seq}
	if len(full) > 0 {
		l.last = full[len(full)-1].number
	} else {
		l = list{first: x.list.last + 1, seq: x.Last() + 1, last: x.list.last}
	}
	if err := l.write(x.dir); err != nil {
		return nil, err
	}
	for _, s := range others {
		x.left = append(x.left, segmentName(s.number))
	}
	if err := x.removeLeft(); err != nil {
		return nil, err
	}
	return open(x.dir, o, l, full, x.Last())
}

// removeLeft removes segments that are not listed: they were being made or removed, or have no record.
func (x *Examination) removeLeft() error {
	for _, name := range x.left {
		if err := os.RemoveAll(filepath.Join(x.dir, name)); err != nil { // it may be a folder
			return err
		}
	}
	return nil
}

// truncate cuts off the torn write after the last record of a segment, and quarantines a copy. It syncs the segment,
// because the process that wrote it may have been killed before it did. Records that were not synced are written again
// before: after a failed sync, the system would take them for written.
func (x *Examination) truncate(s *segment, sync func(*os.File) error) (err error) {
	f, err := os.OpenFile(s.path(x.dir), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	end, err := files.EndOfData(f, s.end)
	if err != nil {
		return err
	}
	if end > s.end {
		if err := files.QuarantineCopy(s.path(x.dir)); err != nil {
			return err
		}
		if err := f.Truncate(s.end); err != nil {
			return err
		}
	}
	if s.last > x.synced {
		content := make([]byte, s.end)
		if _, err := f.ReadAt(content, 0); err != nil {
			return err
		}
		if _, err := f.WriteAt(content, 0); err != nil {
			return err
		}
	}
	return sync(f)
}

// Reset quarantines the damaged files and begins an empty log. The commits that could be read are in tables.
func (x *Examination) Reset(log zerolog.Logger, o Options) (*Log, error) {
	for _, d := range x.Damages {
		path := filepath.Join(x.dir, d.Name)
		log.Error().Str("file", path).Str("damage", d.What).Str("kept_in", filepath.Join(x.dir, files.QuarantineFolder)).
			Msg("quarantined a damaged file of the commit log: the commits in it that can be read are kept")
		if err := files.Quarantine(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	for _, s := range x.segments {
		remove := os.Remove
		if s.damaged {
			remove = files.Quarantine
		}
		if err := remove(s.path(x.dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if err := x.removeLeft(); err != nil {
		return nil, err
	}
	l := list{first: x.list.last + 1, seq: x.Last() + 1, last: x.list.last}
	if err := l.write(x.dir); err != nil {
		return nil, err
	}
	return open(x.dir, o, l, nil, x.Last())
}
