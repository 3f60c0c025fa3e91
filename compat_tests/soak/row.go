package main

import "time"

// row is one row of the model. It keeps timestamps as Cassandra does, and so knows the effect of any write: of two
// writes to a cell the newer timestamp wins, and a deletion wins over all writes that are not newer. Rows are compared
// with ==.
type row struct {
	marker  stamp // of INSERT: the row is there without cells
	deleted int64 // the newest deletion of the row, of a range or of the partition
	emptied int64 // the newest deletion of the map
	cells   [maxCells]cell
}

// cell is one value, or a tombstone if the value is null.
type cell struct {
	stamp
	value value
}

// stamp has the time of a write, and when it expires.
type stamp struct {
	written int64  // the timestamp; 0: never
	expires uint32 // the second since 1970; 0: never
	slack   uint32 // how many seconds later it may expire: the server reads its clock later
}

// window is when a read took place, in seconds since 1970.
type window struct{ from, to int64 }

// clockSlack is the tolerance of expirations: the clock has a resolution of a second.
const clockSlack = 2

func windowOf(began, ended time.Time) window { return window{began.Unix(), ended.Unix()} }

// presence is whether a read finds something.
type presence int

const (
	absent presence = iota
	possible
	present
)

// presence tells whether a read finds a cell written at s, given the newest deletion.
func (s stamp) presence(deleted int64, w window) presence {
	switch first, last := int64(s.expires)-clockSlack, int64(s.expires)+int64(s.slack)+clockSlack; {
	case s.written <= deleted:
		return absent
	case s.expires == 0 || w.to < first:
		return present
	case w.from > last:
		return absent
	}
	return possible
}

// cell tells whether a read finds the value of a cell.
func (r *row) cell(i int, w window) presence {
	deleted := r.deleted
	if i >= firstElement {
		deleted = max(deleted, r.emptied)
	}
	if r.cells[i].value.length == 0 {
		return absent
	}
	return r.cells[i].presence(deleted, w)
}

// presence tells whether a read finds the row: it has a marker or a cell.
func (r *row) presence(w window) presence {
	p := r.marker.presence(r.deleted, w)
	for i := range r.cells {
		p = max(p, r.cell(i, w))
	}
	return p
}

// apply applies a write that covers the row.
func (r *row) apply(w *write) {
	s := stamp{w.timestamp, w.expires, w.slack}
	switch w.form {
	case deleteRows:
		r.deleted = max(r.deleted, w.timestamp)
		return
	case count:
		for _, c := range w.cells {
			r.cells[c.cell] = cell{stamp{written: 1}, counterValue(int64(r.cells[c.cell].value.seed + c.value.seed))}
		}
		return
	case insert:
		if w.timestamp > r.marker.written {
			r.marker = s
		}
	}
	switch w.emptied {
	case emptiesMap:
		r.emptied = max(r.emptied, w.timestamp)
	case replacesMap: // the elements of the same statement stay
		r.emptied = max(r.emptied, w.timestamp-1)
	}
	for _, c := range w.cells {
		if w.timestamp > r.cells[c.cell].written {
			r.cells[c.cell] = cell{s, c.value}
		}
	}
}
