package rows

import (
	"bytes"
	"encoding/binary"
)

// The value of a counter's cell is the number of changes so far and the total. Of two totals the one with more
// changes wins. In a mutation the value is a change, which has half the length; Store.Apply makes a total of it.
//
// A tombstone of a counter's cell wins whatever the timestamps are. A tombstone of a row leaves the cell in the row: a
// counter that was deleted with its row goes on from its old total when it is changed again.
const (
	changeSize = 8
	TotalSize  = 16
)

// outcounts is Beats for counters: the cell with more changes wins.
func (c *Cell) outcounts(o *Cell) bool {
	switch {
	case c.Deleted != o.Deleted:
		return c.Deleted
	case c.Deleted && c.Timestamp != o.Timestamp:
		return c.Timestamp > o.Timestamp
	case c.Deleted:
		return c.Expiry.At > o.Expiry.At
	}
	return bytes.Compare(c.Value, o.Value) > 0
}

// Unite merges two cells in the same place: the result is the one that beats the other, or the sum of two changes of a
// counter.
func (c *Cell) Unite(o *Cell) Cell {
	winner := *o
	if c.Beats(o) {
		winner = *c
	}
	if !winner.Counter || winner.Deleted {
		return winner
	}
	winner.Timestamp = max(c.Timestamp, o.Timestamp)
	if len(c.Value) == changeSize && len(o.Value) == changeSize {
		sum := binary.BigEndian.Uint64(c.Value) + binary.BigEndian.Uint64(o.Value)
		winner.Value = binary.BigEndian.AppendUint64(nil, sum)
	}
	return winner
}

// CounterValue returns a counter's value as clients see it.
func (c *Cell) CounterValue() []byte {
	if len(c.Value) == TotalSize {
		return c.Value[TotalSize-8:]
	}
	return c.Value
}

// CounterTotals returns the counters of a stored row by column.
func CounterTotals(row []byte) (map[uint32]Cell, error) {
	totals := map[uint32]Cell{}
	var r Reader
	if err := r.ReadHead(row); err != nil {
		return nil, err
	}
	for r.ReadCell() {
		if c := r.Cell; c.Counter && !c.Deleted {
			if len(c.Value) != TotalSize {
				return nil, ErrRow
			}
			c.Value = bytes.Clone(c.Value)
			totals[c.Column] = c
		}
	}
	return totals, r.Err
}

// AddToTotals replaces the changes in a row's value by new totals. totals are the stored ones.
func AddToTotals(row []byte, totals map[uint32]Cell) ([]byte, error) {
	var r Reader
	if err := r.ReadHead(row); err != nil {
		return nil, err
	}
	w := Writer{Head: r.Head}
	for r.ReadCell() {
		c := r.Cell
		if c.Counter && !c.Deleted {
			c.Value = addTo(totals[c.Column].Value, c.Value)
		}
		w.WriteCell(&c)
	}
	return w.Finish(), r.Err
}

// addTo adds a change to a total, which may be empty.
func addTo(total, change []byte) []byte {
	var times, sum uint64
	if len(total) == TotalSize {
		times, sum = binary.BigEndian.Uint64(total), binary.BigEndian.Uint64(total[8:])
	}
	b := binary.BigEndian.AppendUint64(nil, times+1)
	return binary.BigEndian.AppendUint64(b, sum+binary.BigEndian.Uint64(change))
}
