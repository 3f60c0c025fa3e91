package rows

import "encoding/binary"

// simpleCells walks over the simple cells at the beginning of a row's cells: cells with a value, without an expiry or
// a path, of a low column. Most rows have no others.
type simpleCells struct {
	rest []byte // from the cell at hand on
	base int64

	column byte
	ts     int64
	value  []byte // its length and its bytes, as they are stored
	size   int    // of the cell
}

// load reads the cell at hand. It returns false if there is none, or if it is not simple.
func (s *simpleCells) load() bool {
	b := s.rest
	if len(b) < 3 || b[0] >= 0x80 || b[1]&^cellOwnTime != 0 {
		return false
	}
	s.column, s.ts = b[0], s.base
	at := 2
	if b[1] != 0 {
		since, used := binary.Varint(b[2:])
		if used <= 0 {
			return false
		}
		s.ts += since
		at += used
	}
	n, used := binary.Uvarint(b[at:])
	if used <= 0 || n > uint64(len(b)-at-used) || s.ts == NoTimestamp {
		return false
	}
	s.size = at + used + int(n)
	s.value = b[at:s.size]
	return true
}

// next goes on to the next cell.
func (s *simpleCells) next() bool {
	s.rest = s.rest[s.size:]
	return s.load()
}

// foldSimple writes the cells of two values up to where one of them has a cell that is not simple, or both have a cell
// of the same column and time. Both readers go on there.
func foldSimple(a, b *Reader, w *Writer) {
	x, y := simpleCells{rest: a.Rest, base: a.Base}, simpleCells{rest: b.Rest, base: b.Base}
	moreX, moreY := x.load(), y.load()
	for (moreX || len(x.rest) == 0) && (moreY || len(y.rest) == 0) && (moreX || moreY) {
		switch {
		case !moreY || moreX && x.column < y.column:
			w.writeSimple(&x)
			moreX = x.next()
			continue
		case !moreX || y.column < x.column:
			w.writeSimple(&y)
			moreY = y.next()
			continue
		}
		if x.ts == y.ts {
			break // which value wins is for Unite to say
		}
		if x.ts > y.ts {
			w.writeSimple(&x)
		} else {
			w.writeSimple(&y)
		}
		moreX, moreY = x.next(), y.next()
	}
	a.Rest, b.Rest = x.rest, y.rest
}

// writeSimple is WriteCell for a simple cell that the row's tombstone does not hide.
func (w *Writer) writeSimple(s *simpleCells) {
	if s.ts <= w.Deletion.Timestamp {
		return
	}
	if !w.begun {
		w.writeHead(s.ts)
	}
	if s.ts == w.base {
		w.Dst = append(w.Dst, s.column, 0)
	} else {
		w.Dst = binary.AppendVarint(append(w.Dst, s.column, cellOwnTime), s.ts-w.base)
	}
	w.Dst = append(w.Dst, s.value...)
}
