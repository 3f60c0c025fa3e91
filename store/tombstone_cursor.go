package store

import (
	"bytes"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// deletionCursor goes through a table's tombstones beside a scan of its rows, in the order of their partitions. It reads
// some ahead at a time, more and more as long as they are asked for, so that few iterators are opened.
type deletionCursor struct {
	src    engine.Reader // nil: it is not in use
	id     uint32
	from   []byte // the key to read on from
	end    []byte
	whole  bool // nothing is left to read
	ahead  []keyValue
	next   int    // of ahead
	used   int    // how often ahead was of use
	chunk  int    // how many are read at a time
	memory []byte // of ahead
	target []byte // what the keys of the partition that is asked for begin with
}

// keyValue is a tombstone as it is stored: the places in memory where its key ends and its value ends.
type keyValue struct{ start, value, end int }

// How many tombstones are read ahead, at first and at most, and how many bytes.
const (
	leastAhead = 16
	mostAhead  = 1024
	bytesAhead = 64 << 10
)

// begin starts with the tombstones of partitions between two keys of rows.
func (c *deletionCursor) begin(src engine.Reader, id uint32, start, end []byte) {
	c.src, c.id, c.whole, c.used, c.chunk = src, id, false, 0, leastAhead
	c.ahead, c.next = c.ahead[:0], 0
	c.from = append(c.from[:0], start...)
	rows.SetArea(c.from, id, rows.AreaTombstones)
	if len(end) > rows.AreaSize {
		c.end = append(c.end[:0], end...)
		rows.SetArea(c.end, id, rows.AreaTombstones)
	} else {
		c.end = rows.AppendArea(c.end[:0], id, rows.AreaRows)
	}
}

// finish forgets the snapshot.
func (c *deletionCursor) finish() {
	c.src = nil
	if cap(c.memory) > maxKeptBuffer {
		c.memory = nil
	}
}

// fill reads on.
func (c *deletionCursor) fill() error {
	if c.used > 1 {
		c.chunk = min(2*c.chunk, mostAhead)
	} else {
		c.chunk = leastAhead
	}
	c.ahead, c.next, c.used, c.memory = c.ahead[:0], 0, 0, c.memory[:0]
	c.whole = true
	err := c.src.Scan(c.from, c.end, engine.ScanOptions{}, func(key, value []byte) (bool, error) {
		x := keyValue{start: len(c.memory)}
		c.memory = append(c.memory, key...)
		x.value = len(c.memory)
		c.memory = append(c.memory, value...)
		x.end = len(c.memory)
		c.ahead = append(c.ahead, x)
		c.whole = len(c.ahead) < c.chunk && len(c.memory) < bytesAhead
		return c.whole, nil
	})
	if n := len(c.ahead); n > 0 {
		x := c.ahead[n-1]
		c.from = append(append(c.from[:0], c.memory[x.start:x.value]...), 0)
	}
	return err
}

// peek returns the next tombstone, which stays valid until the next call of a method; without a key there is none.
func (c *deletionCursor) peek() (key, value []byte, err error) {
	if c.next == len(c.ahead) {
		if c.whole {
			return nil, nil, nil
		}
		if err := c.fill(); err != nil || len(c.ahead) == 0 {
			return nil, nil, err
		}
	}
	x := c.ahead[c.next]
	return c.memory[x.start:x.value], c.memory[x.value:x.end], nil
}

// skip passes over the tombstone that peek returned.
func (c *deletionCursor) skip() {
	c.next++
	c.used++
}

// seek passes over the tombstones in front of target.
func (c *deletionCursor) seek(target []byte) error {
	for ; c.next < len(c.ahead); c.next++ {
		x := c.ahead[c.next]
		if bytes.Compare(c.memory[x.start:x.value], target) >= 0 {
			c.used++
			return nil
		}
	}
	if c.whole {
		return nil
	}
	if bytes.Compare(c.from, target) < 0 {
		c.from = append(c.from[:0], target...)
	}
	return c.fill()
}

// load makes d the tombstones of a partition, which comes behind those that were loaded before. prefix is what the keys of
// its rows begin with.
func (c *deletionCursor) load(d *deletions, prefix []byte) error {
	d.Reset()
	c.target = append(c.target[:0], prefix...)
	rows.SetArea(c.target, c.id, rows.AreaTombstones)
	if err := c.seek(c.target); err != nil {
		return err
	}
	for {
		key, value, err := c.peek()
		if err != nil || key == nil || !bytes.HasPrefix(key, c.target) {
			d.CutRanges()
			return err
		}
		if err := d.Add(key[len(c.target):], value); err != nil {
			return err
		}
		c.skip()
	}
}
