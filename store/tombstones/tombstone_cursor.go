package tombstones

import (
	"bytes"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// Cursor reads a table's tombstones beside a scan of its rows, in the order of their partitions. It reads
// ahead, more and more as long as they are used, so that few iterators are opened.
type Cursor struct {
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

// keyValue is a stored tombstone: where in memory its key begins, its value begins, and its value ends.
type keyValue struct{ start, value, end int }

// How many tombstones are read ahead, at first and at most, and how many bytes.
const (
	leastAhead = 16
	mostAhead  = 1024
	bytesAhead = 64 << 10
)

// Begin starts with the tombstones of partitions between two keys of rows.
func (c *Cursor) Begin(src engine.Reader, id uint32, start, end []byte) {
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

// Finish forgets the snapshot.
func (c *Cursor) Finish() {
	c.src = nil
	if cap(c.memory) > 2*bytesAhead {
		c.memory = nil
	}
}

// fill reads the next tombstones.
func (c *Cursor) fill() error {
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

// Peek returns the next tombstone. It is valid until the next call of a method. key is nil at the end.
func (c *Cursor) Peek() (key, value []byte, err error) {
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

// skip goes on behind the tombstone that peek returned.
func (c *Cursor) skip() {
	c.next++
	c.used++
}

// seek goes on to the first tombstone at or behind target.
func (c *Cursor) seek(target []byte) error {
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

// Load reads the tombstones of a partition into d. The partition is behind those loaded before. prefix is what the
// keys of its rows begin with.
func (c *Cursor) Load(d *rows.PartitionTombstones, prefix []byte) error {
	d.Reset()
	c.target = append(c.target[:0], prefix...)
	rows.SetArea(c.target, c.id, rows.AreaTombstones)
	if err := c.seek(c.target); err != nil {
		return err
	}
	for {
		key, value, err := c.Peek()
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
