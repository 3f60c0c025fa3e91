package rows

import (
	"encoding/binary"
	"errors"
	"math"
)

// Flags of a row's value, see the package comment. RowMarked alone means a plain INSERT.
const (
	RowMarked     = 1 << iota // it has a marker
	rowExpires                // the marker has an expiry
	rowDeleted                // it has a row tombstone
	rowClustering             // clustering values are kept, as the key does not give them back
	rowDeletedAt              // the second of the row tombstone is known
)

// Flags of a cell.
const (
	cellDeleted    = 1 << iota // a tombstone: there is no value
	cellExpires                // it has an expiry
	cellOwnTime                // its timestamp is not the row's base
	cellSameExpiry             // its expiry is the one that was written last
	cellPath                   // it has a path
	cellCounter                // it is a counter's
)

// ErrRow is the error for a value that the store has not made.
var ErrRow = errors.New("a stored row is damaged")

// Head is the part of a row's value that concerns the whole row.
type Head struct {
	Marker     Marker
	Deletion   Tombstone // of the row
	Clustering []byte    // each lossy clustering column's length and value
}

// NoHead is the head of a row with neither marker nor tombstone.
var NoHead = Head{Marker: Marker{Timestamp: NoTimestamp}, Deletion: NoTombstone}

// Reader decodes a row's value: the head, then cell by cell. Everything it returns points into the value.
type Reader struct {
	Head
	Cell Cell   // the one that ReadCell read
	Rest []byte // the unread rest
	Base int64  // the timestamp of plain cells
	last Expiry // the expiry that was read last
	Err  error  // why ReadCell returned false, if the value is damaged
}

// ReadHead starts with a row's value and decodes its head.
func (r *Reader) ReadHead(value []byte) error {
	r.Head, r.Rest, r.last, r.Err = NoHead, value, Expiry{}, nil
	flags := r.byte()
	r.Base = r.varint()
	if flags == RowMarked {
		r.Marker.Timestamp = r.time(0)
		return r.Err
	}
	if flags&RowMarked != 0 {
		r.Marker.Timestamp = r.time(0)
		if flags&rowExpires != 0 {
			r.expiry()
			r.Marker.Expiry = r.last
		}
	}
	if flags&rowDeleted != 0 {
		r.Deletion.Timestamp = r.time(r.varint())
	}
	if flags&rowDeletedAt != 0 {
		r.Deletion.Second = int64(r.uvarint())
	}
	if flags&rowClustering != 0 {
		r.Clustering = r.bytes()
	}
	return r.Err
}

// ReadPlain sets the values of the next plain cells: cells with a value, written at the row's base time or later,
// without expiry or path. columns maps columns to places in values, or to -1: cells of other columns are skipped. It
// returns the number of values that it has set.
func (r *Reader) ReadPlain(columns []int16, values [][]byte) (set int) {
	b := r.Rest
	for len(b) >= 3 && b[0] < 0x80 {
		at := 2
		if b[1] != 0 {
			if at = r.afterLaterTime(b); at == 0 {
				break
			}
		}
		n := int(b[at])
		at++
		if n >= 0x80 {
			if len(b) <= at || b[at] >= 0x80 {
				break
			}
			n = n&0x7f | int(b[at])<<7
			at++
		}
		if at+n > len(b) {
			break
		}
		if column := int(b[0]); column < len(columns) && columns[column] >= 0 {
			values[columns[column]] = b[at : at+n : at+n]
			set++
		}
		b = b[at+n:]
	}
	r.Rest = b
	return set
}

// afterLaterTime returns the offset of the value's length in a cell whose only flag is cellOwnTime, with a time after
// the base. It returns 0 for other cells, and for times so far from the base that adding them might overflow.
func (r *Reader) afterLaterTime(b []byte) int {
	if b[1] != cellOwnTime || b[2]&1 != 0 || r.Base > math.MaxInt64/2 {
		return 0
	}
	const longest = 8 // bytes of a time that is added to the base without an overflow
	for at := 2; at < len(b)-1 && at < 2+longest; at++ {
		if b[at] < 0x80 {
			return at + 1
		}
	}
	return 0
}

// readPlainBefore returns the bytes of the next plain cells, up to a column.
func (r *Reader) readPlainBefore(limit uint32) []byte {
	b := r.Rest
	for len(b) >= 3 && b[0] < 0x80 && uint32(b[0]) < limit && b[1] == 0 {
		n, size := binary.Uvarint(b[2:])
		if size <= 0 || n > uint64(len(b)-2-size) {
			break
		}
		b = b[2+size+int(n):]
	}
	cells := r.Rest[:len(r.Rest)-len(b)]
	r.Rest = b
	return cells
}

// ReadCell decodes the next cell. It returns false after the last one and when the value is damaged.
func (r *Reader) ReadCell() bool {
	if len(r.Rest) == 0 || r.Err != nil {
		return false
	}
	c := &r.Cell
	c.Column = uint32(r.uvarint())
	flags := r.byte()
	c.Deleted, c.Counter = flags&cellDeleted != 0, flags&cellCounter != 0
	c.Timestamp = r.Base
	if flags&cellOwnTime != 0 {
		c.Timestamp += r.varint()
	}
	c.Expiry = Expiry{}
	if flags&cellExpires != 0 {
		if flags&cellSameExpiry == 0 {
			r.expiry()
		}
		c.Expiry = r.last
	}
	c.Path, c.Value = nil, nil
	if flags&cellPath != 0 {
		if c.Path = r.bytes(); len(c.Path) == 0 {
			r.Err = ErrRow
		}
	}
	if !c.Deleted {
		c.Value = r.bytes()
		if c.Counter && len(c.Value) != TotalSize && len(c.Value) != changeSize {
			r.Err = ErrRow
		}
	}
	return r.Err == nil
}

func (r *Reader) byte() byte {
	if len(r.Rest) == 0 {
		r.Err = ErrRow
		return 0
	}
	b := r.Rest[0]
	r.Rest = r.Rest[1:]
	return b
}

func (r *Reader) uvarint() uint64 {
	if len(r.Rest) > 0 && r.Rest[0] < 0x80 {
		v := r.Rest[0]
		r.Rest = r.Rest[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.Rest)
	if n <= 0 {
		r.Err, r.Rest = ErrRow, nil
		return 0
	}
	r.Rest = r.Rest[n:]
	return v
}

func (r *Reader) varint() int64 {
	v := r.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

func (r *Reader) bytes() []byte {
	n := r.uvarint()
	if n > uint64(len(r.Rest)) {
		r.Err, r.Rest = ErrRow, nil
		return nil
	}
	b := r.Rest[:n:n]
	r.Rest = r.Rest[n:]
	return b
}

func (r *Reader) expiry() {
	r.last.TTL = int32(r.uvarint())
	if r.last.At = int64(r.uvarint()); r.last.At == 0 {
		r.Err = ErrRow
	}
}

// time returns a timestamp, which is never NoTimestamp.
func (r *Reader) time(sinceBase int64) int64 {
	ts := r.Base + sinceBase
	if ts == NoTimestamp {
		r.Err = ErrRow
	}
	return ts
}

// NewestTimestamp is the newest timestamp of a row, of its marker, its tombstone and its cells, that is not later than
// a limit. later reports whether there are later ones.
func NewestTimestamp(value []byte, limit int64) (newest int64, later bool, err error) {
	var r Reader
	newest = NoTimestamp
	if err := r.ReadHead(value); err != nil {
		return newest, false, err
	}
	take := func(ts int64) {
		if ts > limit {
			later = true
		} else {
			newest = max(newest, ts)
		}
	}
	take(r.Marker.Timestamp)
	take(r.Deletion.Timestamp)
	for r.ReadCell() {
		take(r.Cell.Timestamp)
	}
	return newest, later, r.Err
}
