package tables

import (
	"bytes"
	"encoding/binary"
	"math"
)

// In reverse a source comes to the oldest version of a key first. What it shows is known when it is at the key before,
// so it is always a key ahead.

// seekBack goes to the last key before a key, or the last of all if that has no bytes. In a damaged block that may seem
// to be one which was passed: see seekVersion.
func (s *source) seekBack(key []byte) {
	moved, tables, number, at := s.ahead.valid && s.list == nil, len(s.tables), s.number, s.at
	s.ahead = found{}
	s.findBack(key)
	again := moved && s.valid && len(s.tables) == tables && (s.number > number || s.number == number && s.at > at)
	s.settleBack()
	if again || s.valid && len(key) > 0 && !s.reached(key) {
		s.valid, s.failed = false, true
	}
}

// findBack goes to the last entry before all versions of a key.
func (s *source) findBack(key []byte) {
	s.valid = false
	if s.list != nil {
		s.seekListBack(key)
		return
	}
	last := true // of all entries of the table
	if len(key) > 0 {
		i := firstTable(s.tables, key)
		if last = i == len(s.tables); !last && i+1 < len(s.tables) {
			s.tables, s.index = s.tables[:i+1], nil
		}
	}
	if !s.openBack() {
		return
	}
	x := s.index
	if last {
		s.enterBack(len(x.heads) - 1)
		return
	}
	if !bytes.HasPrefix(key, x.shared) { // all keys are behind, as the last one is
		s.enterBack(-1)
		return
	}
	behind, ok := x.firstBehind(key, math.MaxUint64)
	if !ok {
		s.failed = true
		return
	}
	if behind == 0 {
		s.enterBack(-1)
		return
	}
	b, i, state := x.search(behind-1, key, math.MaxUint64)
	if state == unknown || i == 0 { // the first key of the block is before it
		s.failed = true
		return
	}
	s.takeFrom(behind-1, &b, i-1)
}

// seekListBack goes to the last entry of a memtable before all versions of a key.
func (s *source) seekListBack(key []byte) {
	if len(key) == 0 {
		s.list.SeekToLast()
	} else {
		s.keyBytes = binary.BigEndian.AppendUint64(append(s.keyBytes[:0], key...), 0) // the newest there can be
		s.list.SeekForPrev(s.keyBytes)
	}
	s.takeListed()
}

// openBack makes the last of the tables the one that is read. It reports false if there is none from the start on.
func (s *source) openBack() bool {
	if len(s.tables) == 0 {
		return false
	}
	if s.index != nil {
		return true
	}
	t := s.tables[len(s.tables)-1]
	if bytes.Compare(withoutVersion(t.Biggest()), s.limit) < 0 {
		s.tables = nil
		return false
	}
	s.index = t.get()
	s.failed = s.index == nil
	return !s.failed
}

// enterBack goes to the last entry of a block of the table, or of the table before if it has no such block.
func (s *source) enterBack(number int) {
	s.valid = false
	if number < 0 {
		s.tables, s.index = s.tables[:len(s.tables)-1], nil
		if !s.openBack() {
			return
		}
		number = len(s.index.heads) - 1
	}
	b, ok := s.index.block(number)
	if !ok {
		s.failed = true
		return
	}
	s.takeFrom(number, &b, b.n-1)
}

// stepBack goes to the entry before.
func (s *source) stepBack() {
	switch {
	case s.list != nil:
		s.list.Prev()
		s.takeListed()
	case s.at > 0:
		s.at--
		s.take()
	default:
		s.enterBack(s.number - 1)
	}
}

// nextBack goes to the key before.
func (s *source) nextBack() {
	s.shown = s.key
	s.shownBytes, s.heldBytes = s.heldBytes, s.shownBytes
	s.found, s.ahead = s.ahead, found{}
	s.settleBack()
}

// settleBack takes the version that is to be shown, from the oldest version of a key that the source is at.
func (s *source) settleBack() {
	for s.valid && s.written > s.version {
		s.stepBack() // to a newer one, or to the key before
	}
	if !s.valid {
		return
	}
	s.keyBytes, s.heldBytes = s.heldBytes, s.keyBytes
	shows := s.found
	for s.stepBack(); s.valid && bytes.Equal(s.key, shows.key); s.stepBack() {
		if s.written <= s.version {
			key := shows.key
			shows = s.found
			shows.key = key
		}
	}
	s.found, s.ahead = shows, s.found
}
