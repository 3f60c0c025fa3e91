package tables

import (
	"bytes"
	"sync"

	"github.com/dgraph-io/badger/v4/y"

	"github.com/cqld/cqld/store/engine/keys"
)

// Several are the values of several keys, which are looked for together.
type Several struct {
	reader  *Reader
	version uint64
	keys    [][]byte
	levels  *levels // that hold the values
	hashes  [keys.AtOnce]uint32
	entries [keys.AtOnce]entry
	states  [keys.AtOnce]state
	places  [keys.AtOnce]place
	seeking []place // of keys in the tables that are read
	sum     uint64  // is made from all that is fetched
}

// place is where a key may be in a table.
type place struct {
	number int // of the key
	index  *index
	head   uint64 // of the key
	behind int    // the first block that begins with a greater head, or about
}

var severals = sync.Pool{New: func() any { return new(Several) }}

// Several looks for keys.AtOnce keys at most. It is nil if Badger has to be asked for all of them.
func (r *Reader) Several(some [][]byte, version uint64) *Several {
	if r == nil {
		return nil
	}
	s := severals.Get().(*Several)
	s.reader, s.version, s.keys = r, version, some
	s.inMemtables()
	if s.levels = r.enter(); s.levels == nil {
		s.Close()
		return nil
	}
	s.levels.hold()
	r.mu.RUnlock()
	s.inTables()
	return s
}

// Close ends the use of the values.
func (s *Several) Close() {
	if s.levels != nil {
		s.reader.release(s.levels)
	}
	clear(s.entries[:])
	s.reader, s.keys, s.levels = nil, nil, nil
	severals.Put(s)
}

// Value is the value of a key, if it is found, until Close. If known is false Badger has to be asked for it.
func (s *Several) Value(i int) (value []byte, found, known bool) {
	return s.entries[i].read(s.states[i])
}

// inMemtables looks for the keys in the memtables.
func (s *Several) inMemtables() {
	l := s.reader.enterMemtables()
	defer l.leave()
	for i, key := range s.keys {
		s.entries[i], s.states[i] = l.find(key, s.version)
	}
}

// inTables looks for the keys in the tables.
func (s *Several) inTables() {
	for i, key := range s.keys {
		s.hashes[i] = y.Hash(key)
	}
	for _, t := range s.levels.first {
		s.begin()
		for i := range s.keys {
			s.add(i, t)
		}
		s.filter()
		s.find()
	}
	for i := range s.levels.lower {
		l := &s.levels.lower[i]
		s.begin()
		for j, key := range s.keys {
			if in := l.from(key); len(in) > 0 {
				s.add(j, in[0])
			}
		}
		if !l.last { // see levels.find
			s.filter()
		}
		s.find()
	}
}

// begin begins with other tables.
func (s *Several) begin() { s.seeking = s.places[:0] }

// add says that a key is in a table unless it was found before or is not there.
func (s *Several) add(number int, t *indexed) {
	if s.states[number] != absent {
		return
	}
	x, key := t.get(), s.keys[number]
	if x == nil {
		s.states[number] = unknown
		return
	}
	if !bytes.HasPrefix(key, x.shared) {
		return
	}
	n := len(s.seeking)
	s.seeking = s.seeking[:n+1]
	p := &s.seeking[n]
	p.number, p.index, p.head = number, x, keys.Head(key[len(x.shared):])
}

// filter drops the places of keys that a table certainly does not have.
func (s *Several) filter() {
	for i := range s.seeking {
		if f, hash := s.seeking[i].index.filter, s.hashes[s.seeking[i].number]; len(f) > 1 {
			s.sum += uint64(f[hash%uint32(8*(len(f)-1))/8]) // where MayContain begins
		}
	}
	n := 0
	for i := range s.seeking {
		p := &s.seeking[i]
		if f := p.index.filter; len(f) > 0 && !f.MayContain(s.hashes[p.number]) {
			continue
		}
		if n < i {
			s.seeking[n] = *p
		}
		n++
	}
	s.seeking = s.seeking[:n]
}

// find finds the keys at their places.
func (s *Several) find() {
	if len(s.seeking) == 0 {
		return
	}
	for i := range s.seeking {
		p := &s.seeking[i]
		p.behind = p.index.guess(p.head)
		s.sum += p.index.heads[p.behind] + uint64(p.index.starts[p.behind])
	}
	for i := range s.seeking {
		p := &s.seeking[i]
		p.behind = upperBound(p.index.heads, p.head, p.behind)
	}
	for i := range s.seeking {
		p := &s.seeking[i]
		s.sum += p.index.touch(p.before(), p.head)
	}
	for i := range s.seeking {
		p := &s.seeking[i]
		s.entries[p.number], s.states[p.number] = p.find(s.keys[p.number], s.version)
	}
	keys.Fetched(s.sum)
}

// before is the block that the key is in, if it is there, unless blocks before it begin with the same head.
func (p *place) before() int { return max(p.behind-1, 0) }

// find finds the key.
func (p *place) find(key []byte, version uint64) (entry, state) {
	x := p.index
	if p.behind == 0 || x.heads[p.behind-1] == p.head {
		return x.find(key, version) // which tells blocks apart that begin with the same head
	}
	b, i, s := x.searchFetched(p.behind-1, key, version, p.head)
	if s == absent {
		return entry{}, absent // the next block begins with another key
	}
	return b.entry(i, s)
}
