package rows

import "encoding/binary"

// Writer encodes a row's value: its head, then its cells in the order of Compare. Equal rows have equal bytes.
type Writer struct {
	Head
	Dst   []byte // the value is appended to it
	begun bool
	base  int64
	last  Expiry
}

// writeHead writes the head. The base is the timestamp of the marker, else of the tombstone, else of the first
// cell.
func (w *Writer) writeHead(first int64) {
	w.begun = true
	flags := byte(0)
	w.base = first
	if w.Deletion.Timestamp != NoTimestamp {
		flags |= rowDeleted
		w.base = w.Deletion.Timestamp
		if w.Deletion.Second != 0 {
			flags |= rowDeletedAt
		}
	}
	if w.Marker.Timestamp != NoTimestamp {
		flags |= RowMarked
		w.base = w.Marker.Timestamp
		if w.Marker.Expiry.At != 0 {
			flags |= rowExpires
		}
	}
	if w.Clustering != nil {
		flags |= rowClustering
	}
	w.Dst = binary.AppendVarint(append(w.Dst, flags), w.base)
	if flags&rowExpires != 0 {
		w.expiry(w.Marker.Expiry)
	}
	if flags&rowDeleted != 0 {
		w.Dst = binary.AppendVarint(w.Dst, w.Deletion.Timestamp-w.base)
	}
	if flags&rowDeletedAt != 0 {
		w.Dst = binary.AppendUvarint(w.Dst, uint64(w.Deletion.Second))
	}
	if flags&rowClustering != 0 {
		w.bytes(w.Clustering)
	}
}

// keepsBase writes the head, unless it is written or its base depends on the first cell, and reports whether the base
// is the given one: then plain cells of another value with that base can be copied.
func (w *Writer) keepsBase(base int64) bool {
	if w.Marker.Timestamp == NoTimestamp && w.Deletion.Timestamp == NoTimestamp {
		return false
	}
	if !w.begun {
		w.writeHead(0)
	}
	return w.base == base
}

// WriteCell appends the next cell.
func (w *Writer) WriteCell(c *Cell) {
	if !w.begun {
		w.writeHead(c.Timestamp)
	}
	if c.plain(w.base) {
		w.Dst = append(append(w.Dst, byte(c.Column), 0, byte(len(c.Value))), c.Value...)
		return
	}
	flags := byte(0)
	if c.Deleted {
		flags |= cellDeleted
	}
	if c.Timestamp != w.base {
		flags |= cellOwnTime
	}
	if c.Expiry.At != 0 {
		flags |= cellExpires
		if c.Expiry == w.last {
			flags |= cellSameExpiry
		}
	}
	if c.Path != nil {
		flags |= cellPath
	}
	if c.Counter {
		flags |= cellCounter
	}
	w.Dst = append(binary.AppendUvarint(w.Dst, uint64(c.Column)), flags)
	if flags&cellOwnTime != 0 {
		w.Dst = binary.AppendVarint(w.Dst, c.Timestamp-w.base)
	}
	if flags&(cellExpires|cellSameExpiry) == cellExpires {
		w.expiry(c.Expiry)
	}
	if flags&cellPath != 0 {
		w.bytes(c.Path)
	}
	if !c.Deleted {
		w.bytes(c.Value)
	}
}

// plain reports whether a cell's encoding is three bytes and its value: a short value of a low column, written at the
// base time.
func (c *Cell) plain(base int64) bool {
	return c.Timestamp == base && c.Expiry.At == 0 && !c.Deleted && !c.Counter && c.Path == nil &&
		c.Column < 0x80 && len(c.Value) < 0x80
}

// Finish returns Dst with the value.
func (w *Writer) Finish() []byte {
	if !w.begun {
		w.writeHead(0)
	}
	return w.Dst
}

func (w *Writer) bytes(b []byte) {
	w.Dst = append(binary.AppendUvarint(w.Dst, uint64(len(b))), b...)
}

func (w *Writer) expiry(e Expiry) {
	w.Dst = binary.AppendUvarint(w.Dst, uint64(uint32(e.TTL)))
	w.Dst = binary.AppendUvarint(w.Dst, uint64(e.At))
	w.last = e
}
