package tables

import (
	"bytes"
	"slices"
	"sync"
)

// Cursor goes through the keys of a snapshot, forward or in reverse, deleted ones as well. It begins with Seek.
type Cursor struct {
	levels  *levels
	reverse bool
	failed  func(error)
	sources []source // the newest first
	top     int      // the source of the key that it is at
	rival   int      // the one with the next key among the others, or -1
	alone   bool     // no other source has the key
	valid   bool
	broken  bool
	from    []byte // if broken: where it did not get to
}

var cursors = sync.Pool{New: func() any { return new(Cursor) }}

// Cursor makes a cursor for the keys from start to before end, or to the last one if the end has no bytes. It is
// nil if Badger has to be asked.
func (r *Reader) Cursor(version uint64, start, end []byte, reverse bool) *Cursor {
	if r == nil {
		return nil
	}
	l := r.enterMemtables()
	c := cursors.Get().(*Cursor)
	c.failed, c.reverse = r.failed, reverse
	limit := end
	if reverse {
		limit = start
	}
	for _, list := range l.lists {
		c.source(version, limit).list = list.NewIterator()
	}
	l.leave()
	levels := r.enter()
	if levels == nil {
		c.Close()
		return nil
	}
	levels.hold()
	r.mu.RUnlock()
	c.levels = levels
	for i, t := range levels.first {
		before := len(end) > 0 && bytes.Compare(withoutVersion(t.Smallest()), end) >= 0
		if !before && bytes.Compare(withoutVersion(t.Biggest()), start) >= 0 {
			c.source(version, limit).tables = levels.first[i : i+1]
		}
	}
	for i := range levels.lower {
		tables := levels.lower[i].from(start)
		if reverse {
			tables = levels.lower[i].until(end)
		}
		if len(tables) > 0 {
			c.source(version, limit).tables = tables
		}
	}
	return c
}

// source adds a source.
func (c *Cursor) source(version uint64, limit []byte) *source {
	n := len(c.sources)
	c.sources = slices.Grow(c.sources, 1)[:n+1]
	s := &c.sources[n]
	s.version, s.limit, s.reverse = version, limit, c.reverse
	return s
}

// Close ends the use of a cursor.
func (c *Cursor) Close() {
	for i := range c.sources {
		c.sources[i].close()
	}
	if c.levels != nil {
		if err := c.levels.release(); err != nil {
			c.failed(err)
		}
	}
	*c = Cursor{sources: c.sources[:0], from: c.from[:0]}
	cursors.Put(c)
}

// Valid reports whether the cursor is at a key.
func (c *Cursor) Valid() bool { return c.valid }

// Broken reports whether something was not as expected, and where Badger has to be asked: from there on, or for what is
// before it in reverse.
func (c *Cursor) Broken() (from []byte, broken bool) { return c.from, c.broken }

// Key is the key that the cursor is at, until it moves.
func (c *Cursor) Key() []byte { return c.sources[c.top].key }

// Deleted reports whether the key is deleted.
func (c *Cursor) Deleted() bool { return c.sources[c.top].meta&isDeleted != 0 }

// Value is the value of the key, until the cursor is closed. If known is false
// Badger has to be asked for it.
func (c *Cursor) Value() (value []byte, known bool) {
	s := &c.sources[c.top]
	return s.value, s.meta&isPointer == 0 && len(s.value) <= maxValue && len(s.value) > 0
}

// Seek goes forward to the first key from key on, or in reverse to the last one before it, or of all if key has no
// bytes.
func (c *Cursor) Seek(key []byte) {
	moved := c.valid
	for i := range c.sources {
		s := &c.sources[i]
		if moved && (!s.valid || s.reached(key)) {
			continue
		}
		if s.seek(key); s.failed {
			c.breakAt(key)
			return
		}
	}
	c.choose()
}

// Next goes to the next key.
func (c *Cursor) Next() {
	top := &c.sources[c.top]
	top.next()
	if !c.alone {
		for i := range c.sources {
			s := &c.sources[i]
			if i == c.top || !s.valid || !bytes.Equal(s.key, top.shown) {
				continue
			}
			if s.next(); s.failed {
				c.breakBehind(top.shown)
				return
			}
		}
	}
	switch {
	case top.failed:
		c.breakBehind(top.shown)
	case c.alone && top.valid && (c.rival < 0 || c.before(top, &c.sources[c.rival])):
	default:
		c.choose()
	}
}

// breakBehind ends the cursor behind the last key that it was at.
func (c *Cursor) breakBehind(last []byte) {
	c.breakAt(last)
	if !c.reverse {
		c.from = append(c.from, 0)
	}
}

// breakAt ends the cursor.
func (c *Cursor) breakAt(from []byte) {
	c.from = append(c.from[:0], from...)
	c.valid, c.broken = false, true
}

// before reports whether the cursor comes to the key of a before that of b.
func (c *Cursor) before(a, b *source) bool {
	order := bytes.Compare(a.key, b.key)
	return order < 0 && !c.reverse || order > 0 && c.reverse
}

// choose finds the sources with the first keys. Of those with the same key it takes the newest.
func (c *Cursor) choose() {
	top, rival := -1, -1
	for i := range c.sources {
		switch {
		case !c.sources[i].valid:
		case top < 0:
			top = i
		case c.before(&c.sources[i], &c.sources[top]):
			top, rival = i, top
		case rival < 0 || c.before(&c.sources[i], &c.sources[rival]):
			rival = i
		}
	}
	c.valid = top >= 0
	c.top, c.rival = max(top, 0), rival
	c.alone = rival < 0 || c.valid && !bytes.Equal(c.sources[top].key, c.sources[rival].key)
}
