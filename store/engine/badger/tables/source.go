package tables

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/dgraph-io/badger/v4/skl"
)

// source goes through the keys of a memtable, of a table of the first level, or of a level below it. It shows the
// newest version of each key that is no newer than version. In reverse see source_reverse.go.
type source struct {
	version uint64
	reverse bool
	limit   []byte // no table is opened that is behind it, or before it in reverse; no bytes: none

	list *skl.Iterator // of a memtable, or nil

	tables []*indexed // that are left, with the one that is read
	index  *index     // of that
	number int        // of the block that is read
	block  block
	at     int // the entry in it

	found
	failed bool   // something is not as expected
	shown  []byte // the key before

	ahead found // in reverse: of the key that comes next, which the source is at already

	keyBytes, shownBytes, heldBytes []byte // memory for keys
}

// found is what a source has for a key.
type found struct {
	valid   bool
	key     []byte // without its version
	meta    byte
	value   []byte
	written uint64 // the version
}

// MaxVersions is how many versions of a key are stepped over one by one, before a seek steps over the others: a row
// that was just written thousands of times has as many.
const MaxVersions = 16

// seek goes to the first key from key on, or in reverse to the last one before it.
func (s *source) seek(key []byte) {
	if s.reverse {
		s.seekBack(key)
		return
	}
	s.seekVersion(key, math.MaxUint64)
	s.settle()
}

// reached reports whether the source is where seek would go to, or behind it.
func (s *source) reached(key []byte) bool { return (bytes.Compare(s.key, key) < 0) == s.reverse }

// next goes to the next key.
func (s *source) next() {
	if s.reverse {
		s.nextBack()
		return
	}
	s.shown = s.key
	s.keyBytes, s.shownBytes = s.shownBytes, s.keyBytes
	s.step()
	s.settle()
}

// settle steps over versions that are not to be shown.
func (s *source) settle() {
	for n := 1; s.valid; n++ {
		newer := s.written > s.version
		if !newer && (s.shown == nil || !bytes.Equal(s.key, s.shown)) {
			return
		}
		switch {
		case n%MaxVersions != 0:
			s.step()
		case newer:
			s.seekVersion(bytes.Clone(s.key), s.version)
		default:
			s.seekVersion(s.shown, 0)
		}
	}
}

// seekVersion goes forward to the first entry that is not before a version of a key. In a damaged block that may seem
// to be an entry that was passed. The source fails then, as a scan could come to it again and again.
func (s *source) seekVersion(key []byte, version uint64) {
	moved, tables, number, at := s.valid && s.list == nil, len(s.tables), s.number, s.at
	s.find(key, version)
	if moved && s.valid && len(s.tables) == tables && (s.number < number || s.number == number && s.at <= at) {
		s.valid, s.failed = false, true
	}
}

// find goes to the first entry that is not before a version of a key.
func (s *source) find(key []byte, version uint64) {
	s.valid = false
	if s.list != nil {
		s.keyBytes = binary.BigEndian.AppendUint64(append(s.keyBytes[:0], key...), math.MaxUint64-version)
		s.list.Seek(s.keyBytes)
		s.takeListed()
		return
	}
	if i := firstTable(s.tables, key); i > 0 {
		s.tables, s.index = s.tables[i:], nil
	}
	if !s.open() {
		return
	}
	x := s.index
	if !bytes.HasPrefix(key, x.shared) { // all keys are behind, as the last one is
		s.enter(0, 0)
		return
	}
	next, ok := x.firstBehind(key, version)
	if !ok {
		s.failed = true
		return
	}
	if next == 0 {
		s.enter(0, 0)
		return
	}
	b, i, state := x.search(next-1, key, version)
	switch {
	case state == unknown:
		s.failed = true
	case i < b.n:
		s.enter(next-1, i)
	default:
		s.enter(next, 0)
	}
}

// open makes the first of the tables the one that is read. It reports false if there is none before the end.
func (s *source) open() bool {
	if len(s.tables) == 0 {
		return false
	}
	if s.index != nil {
		return true
	}
	t := s.tables[0]
	if len(s.limit) > 0 && bytes.Compare(withoutVersion(t.Smallest()), s.limit) >= 0 {
		s.tables = nil
		return false
	}
	s.index = t.get()
	s.failed = s.index == nil
	return !s.failed
}

// enter goes to an entry of a block of the table, or to the next table if it has no such block.
func (s *source) enter(number, at int) {
	s.valid = false
	if number == len(s.index.heads) {
		s.tables, s.index = s.tables[1:], nil
		if !s.open() {
			return
		}
		number = 0
	}
	b, ok := s.index.block(number)
	if !ok || at >= b.n {
		s.failed = true
		return
	}
	s.takeFrom(number, &b, at)
}

// takeFrom goes to an entry of a block.
func (s *source) takeFrom(number int, b *block, at int) {
	s.number, s.block, s.at = number, *b, at
	s.take()
}

// step goes to the next entry.
func (s *source) step() {
	switch {
	case s.list != nil:
		s.list.Next()
		s.takeListed()
	case s.at+1 < s.block.n:
		s.at++
		s.take()
	default:
		s.enter(s.number+1, 0)
	}
}

// takeListed takes the entry that the memtable's iterator is at.
func (s *source) takeListed() {
	if s.valid = s.list.Valid(); !s.valid {
		return
	}
	key, v := s.list.Key(), s.list.Value()
	s.written = math.MaxUint64 - binary.BigEndian.Uint64(key[len(key)-versionSize:])
	s.key, s.meta, s.value = withoutVersion(key), v.Meta, v.Value
	if v.ExpiresAt != 0 {
		s.valid, s.failed = false, true
	}
}

// take takes the entry of the block.
func (s *source) take() {
	b := &s.block
	s.valid = false
	at, end := b.start(s.at), len(b.data)
	if s.at+1 < b.n {
		end = min(end, b.start(s.at+1))
	}
	if at+headerSize > end {
		s.failed = true
		return
	}
	overlap, differs := int(binary.NativeEndian.Uint16(b.data[at:])), int(binary.NativeEndian.Uint16(b.data[at+2:]))
	value := at + headerSize + differs
	length := overlap + differs - versionSize
	if overlap > len(b.first) || length < 0 || value+3 > end || b.data[value+2] != 0 {
		s.failed = true
		return
	}
	key := append(append(s.keyBytes[:0], b.first[:overlap]...), b.data[at+headerSize:value]...)
	s.written = math.MaxUint64 - binary.BigEndian.Uint64(key[length:])
	s.keyBytes, s.key = key, key[:length]
	s.meta, s.value = b.data[value], b.data[value+3:end:end]
	s.valid = true
}

// close lets go of everything.
func (s *source) close() {
	if s.list != nil {
		_ = s.list.Close() // it has no error
	}
	*s = source{keyBytes: s.keyBytes, shownBytes: s.shownBytes, heldBytes: s.heldBytes}
}
