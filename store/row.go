package store

import (
	"encoding/binary"
	"errors"
)

// Flags of a row's value, see doc.go.
const (
	rowMarked     = 1 << iota // it has a marker
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

var errRow = errors.New("a stored row is damaged")

// head is what a row's value says of the row as a whole.
type head struct {
	marker     marker
	deletion   tombstone // of the row
	clustering []byte    // each lossy clustering column's length and value
}

var noHead = head{marker: marker{ts: noTime}, deletion: noTombstone}

// rowReader decodes a row's value: the head first, then cell by cell. What it returns are slices of the
// value.
type rowReader struct {
	head
	cell cell // after next
	rest []byte
	base int64
	last Expiry // the expiry that was read last
	err  error
}

// begin decodes the head.
func (r *rowReader) begin(value []byte) error {
	r.head, r.rest, r.last, r.err = noHead, value, Expiry{}, nil
	flags := r.byte()
	r.base = r.varint()
	if flags == rowMarked {
		r.marker.ts = r.time(0)
		return r.err
	}
	if flags&rowMarked != 0 {
		r.marker.ts = r.time(0)
		if flags&rowExpires != 0 {
			r.expiry()
			r.marker.expiry = r.last
		}
	}
	if flags&rowDeleted != 0 {
		r.deletion.ts = r.time(r.varint())
	}
	if flags&rowDeletedAt != 0 {
		r.deletion.second = int64(r.uvarint())
	}
	if flags&rowClustering != 0 {
		r.clustering = r.bytes()
	}
	return r.err
}

// plain sets the values of the cells that come next, as long as they are as most are: with a value, written at the row's
// base time, and nothing else. columns has the place in values of each column, or -1; cells of other columns are passed
// over. It returns how many values were set.
func (r *rowReader) plain(columns []int16, values [][]byte) (set int) {
	b := r.rest
	for len(b) >= 3 && b[0] < 0x80 && b[1] == 0 {
		n, at := int(b[2]), 3
		if n >= 0x80 {
			if len(b) < 4 || b[3] >= 0x80 {
				break
			}
			n, at = n&0x7f|int(b[3])<<7, 4
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
	r.rest = b
	return set
}

// plainBefore passes over the cells that come next, as long as they are like those of plain and of columns before limit,
// and returns their bytes.
func (r *rowReader) plainBefore(limit uint32) []byte {
	b := r.rest
	for len(b) >= 3 && b[0] < 0x80 && uint32(b[0]) < limit && b[1] == 0 {
		n, size := binary.Uvarint(b[2:])
		if size <= 0 || n > uint64(len(b)-2-size) {
			break
		}
		b = b[2+size+int(n):]
	}
	cells := r.rest[:len(r.rest)-len(b)]
	r.rest = b
	return cells
}

// next decodes the next cell; it reports false behind the last, and when the value is damaged.
func (r *rowReader) next() bool {
	if len(r.rest) == 0 || r.err != nil {
		return false
	}
	c := &r.cell
	c.column = uint32(r.uvarint())
	flags := r.byte()
	c.deleted, c.counter = flags&cellDeleted != 0, flags&cellCounter != 0
	c.ts = r.base
	if flags&cellOwnTime != 0 {
		c.ts += r.varint()
	}
	c.expiry = Expiry{}
	if flags&cellExpires != 0 {
		if flags&cellSameExpiry == 0 {
			r.expiry()
		}
		c.expiry = r.last
	}
	c.path, c.value = nil, nil
	if flags&cellPath != 0 {
		if c.path = r.bytes(); len(c.path) == 0 {
			r.err = errRow
		}
	}
	if !c.deleted {
		c.value = r.bytes()
		if c.counter && len(c.value) != totalSize && len(c.value) != changeSize {
			r.err = errRow
		}
	}
	return r.err == nil
}

func (r *rowReader) byte() byte {
	if len(r.rest) == 0 {
		r.err = errRow
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *rowReader) uvarint() uint64 {
	if len(r.rest) > 0 && r.rest[0] < 0x80 {
		v := r.rest[0]
		r.rest = r.rest[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.err, r.rest = errRow, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *rowReader) varint() int64 {
	v := r.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

func (r *rowReader) bytes() []byte {
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		r.err, r.rest = errRow, nil
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

func (r *rowReader) expiry() {
	r.last.TTL = int32(r.uvarint())
	if r.last.At = int64(r.uvarint()); r.last.At == 0 {
		r.err = errRow
	}
}

// time is the timestamp of what is there.
func (r *rowReader) time(sinceBase int64) int64 {
	ts := r.base + sinceBase
	if ts == noTime {
		r.err = errRow
	}
	return ts
}
