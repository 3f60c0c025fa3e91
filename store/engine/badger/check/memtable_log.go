package check

import (
	"encoding/binary"
	"os"
	"path/filepath"

	"github.com/cqld/cqld/store/engine/files"
)

// valuePlace is the place of a value in the value logs.
type valuePlace struct {
	log         uint32
	offset, end int64
}

// pointsTo returns the place that an entry has instead of a value. Badger writes it in the machine's byte order.
func (e *logEntry) pointsTo() (valuePlace, bool) {
	if e.meta&bitPointer == 0 || len(e.value) < 12 {
		return valuePlace{}, false
	}
	order := binary.NativeEndian
	offset := int64(order.Uint32(e.value[8:]))
	return valuePlace{order.Uint32(e.value), offset, offset + int64(order.Uint32(e.value[4:]))}, true
}

// logState is what was found in the log of a memtable.
type logState struct {
	name        string
	bytes       int64
	entries     int    // whole ones, in front of the end
	first, last uint64 // versions of its commits; 0: it has none
	lastAt      int64  // where the last commit begins
	end         int64  // where the last whole commit ends
	large       []largeEntry

	// Of what is behind the end:
	rest   bool  // there is something
	behind int64 // where the first whole entry is that does not continue the log; 0: there is none
	page   bool  // a page that was not written could be why the log ends there
}

// largeEntry is an entry whose value is in a value log.
type largeEntry struct {
	version uint64
	place   valuePlace
}

// examineLog reads a memtable's log as Badger does: it ends behind the last whole commit. Commits have consecutive
// numbers, unless the folder was repaired: then gaps are allowed.
func examineLog(path string, gaps bool) (s *logState, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	s = &logState{name: filepath.Base(path), bytes: info.Size(), end: min(LogStart, info.Size())}
	if info.Size() < LogStart {
		return s, nil
	}
	var head [8]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return nil, err
	}
	if binary.BigEndian.Uint64(head[:]) != 0 {
		return s, damaged(path, "its first bytes are not those of a log")
	}
	l := newLogReader(f)
	stray := s.entriesOf(l, gaps)
	data, err := files.DataFrom(f, s.end)
	if err != nil {
		return nil, damaged(path, "%v", err)
	}
	s.rest = len(data) > 0
	if !s.rest {
		return s, nil
	}
	if stray {
		s.behind = l.at
	} else if at, _ := nextEntry(data, int(l.next-s.end)+1); at >= 0 {
		s.behind = s.end + int64(at)
	}
	if s.behind > 0 {
		s.page = lostPage(data, s.end, l.next, s.behind)
	}
	return s, nil
}

// entriesOf reads the commits that follow each other. It reports whether they end at an entry that is sound and out
// of place.
func (s *logState) entriesOf(l *logReader, gaps bool) (stray bool) {
	var open uint64 // the commit whose end was not seen
	var begin int64
	var large []largeEntry
	entries := 0
	for l.read() {
		switch version := l.version(); {
		case l.meta&bitCommit != 0:
			if open == 0 {
				open, begin = version, l.at
			}
			if version != open || s.last > 0 && !gaps && version != s.last+1 {
				return true
			}
			entries++
			if place, ok := l.pointsTo(); ok {
				large = append(large, largeEntry{version, place})
			}
		case l.meta&bitEnd != 0:
			if open == 0 || !l.ends(open) {
				return true
			}
			if s.first == 0 {
				s.first = open
			}
			s.last, s.lastAt, s.end = open, begin, l.next
			s.entries += entries
			s.large = append(s.large, large...)
			open, entries, large = 0, 0, large[:0]
		default: // moved there by the cleaning of the value log
			if open != 0 {
				return true
			}
			s.entries++
			s.end = l.next
		}
	}
	return false
}
