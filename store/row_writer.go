package store

import "encoding/binary"

// rowWriter encodes a row's value: its head, then cells in the order of compareColumns. Equal rows have
// equal bytes.
type rowWriter struct {
	head
	dst   []byte
	begun bool
	base  int64
	last  Expiry
}

// begin writes the head. The base is the marker's timestamp, or the tombstone's, or the first cell's.
func (w *rowWriter) begin(first int64) {
	w.begun = true
	flags := byte(0)
	w.base = first
	if w.deletion.ts != noTime {
		flags |= rowDeleted
		w.base = w.deletion.ts
		if w.deletion.second != 0 {
			flags |= rowDeletedAt
		}
	}
	if w.marker.ts != noTime {
		flags |= rowMarked
		w.base = w.marker.ts
		if w.marker.expiry.At != 0 {
			flags |= rowExpires
		}
	}
	if w.clustering != nil {
		flags |= rowClustering
	}
	w.dst = binary.AppendVarint(append(w.dst, flags), w.base)
	if flags&rowExpires != 0 {
		w.expiry(w.marker.expiry)
	}
	if flags&rowDeleted != 0 {
		w.dst = binary.AppendVarint(w.dst, w.deletion.ts-w.base)
	}
	if flags&rowDeletedAt != 0 {
		w.dst = binary.AppendUvarint(w.dst, uint64(w.deletion.second))
	}
	if flags&rowClustering != 0 {
		w.bytes(w.clustering)
	}
}

// keepsBase begins if the head says what the base is, and reports whether it is that one: then plain cells of a row with
// the same base can be copied as they are.
func (w *rowWriter) keepsBase(base int64) bool {
	if w.marker.ts == noTime && w.deletion.ts == noTime {
		return false
	}
	w.begin(0)
	return w.base == base
}

// cell writes the next cell.
func (w *rowWriter) cell(c *cell) {
	if !w.begun {
		w.begin(c.ts)
	}
	if c.plain(w.base) {
		w.dst = append(append(w.dst, byte(c.column), 0, byte(len(c.value))), c.value...)
		return
	}
	flags := byte(0)
	if c.deleted {
		flags |= cellDeleted
	}
	if c.ts != w.base {
		flags |= cellOwnTime
	}
	if c.expiry.At != 0 {
		flags |= cellExpires
		if c.expiry == w.last {
			flags |= cellSameExpiry
		}
	}
	if c.path != nil {
		flags |= cellPath
	}
	if c.counter {
		flags |= cellCounter
	}
	w.dst = append(binary.AppendUvarint(w.dst, uint64(c.column)), flags)
	if flags&cellOwnTime != 0 {
		w.dst = binary.AppendVarint(w.dst, c.ts-w.base)
	}
	if flags&(cellExpires|cellSameExpiry) == cellExpires {
		w.expiry(c.expiry)
	}
	if flags&cellPath != 0 {
		w.bytes(c.path)
	}
	if !c.deleted {
		w.bytes(c.value)
	}
}

// plain reports whether a cell is as most are, and short: it takes three bytes and its value.
func (c *cell) plain(base int64) bool {
	return c.ts == base && c.expiry.At == 0 && !c.deleted && !c.counter && c.path == nil && c.column < 0x80 && len(c.value) < 0x80
}

// finish returns the value, appended to what dst was.
func (w *rowWriter) finish() []byte {
	if !w.begun {
		w.begin(0)
	}
	return w.dst
}

func (w *rowWriter) bytes(b []byte) {
	w.dst = append(binary.AppendUvarint(w.dst, uint64(len(b))), b...)
}

func (w *rowWriter) expiry(e Expiry) {
	w.dst = binary.AppendUvarint(w.dst, uint64(uint32(e.TTL)))
	w.dst = binary.AppendUvarint(w.dst, uint64(e.At))
	w.last = e
}
