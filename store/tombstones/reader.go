package tombstones

import (
	"bytes"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// Reader reads the tombstones of one partition after the other: with a cursor beside a scan, else one by one.
type Reader struct {
	rows.PartitionTombstones         // of the current partition
	Known                    *Filter // which partitions of the table may have any; nil: none
	Cursor                   Cursor
	key                      []byte
	add                      func(value []byte) error // adds the partition's tombstone; made once

	deletions *Tracker // nil: kept partitions are not used
	clock     uint64   // of deletions, before the snapshot was chosen
}

// Begin starts with a table.
func (r *Reader) Begin(known *Filter) {
	r.Known, r.Cursor.src, r.deletions = known, nil, nil
}

// BeginKept starts with a table of which deletions know something in a snapshot.
func (r *Reader) BeginKept(d *Tracker, id uint32, clock uint64) {
	r.Begin(d.FilterOf(id, clock))
	r.deletions, r.clock = d, clock
}

// Scan reads the tombstones of partitions between two keys of rows with a cursor, if the table may have any.
func (r *Reader) Scan(src engine.Reader, id uint32, start, end []byte) {
	if r.Known.Any() {
		r.Cursor.Begin(src, id, start, end)
	}
}

// Release forgets the snapshot.
func (r *Reader) Release() {
	r.Known, r.deletions = nil, nil
	r.Cursor.Finish()
}

// Load reads the tombstones of the partition whose rows have a prefix.
func (r *Reader) Load(src engine.Reader, prefix []byte) error {
	if r.Cursor.src != nil {
		return r.Cursor.Load(&r.PartitionTombstones, prefix)
	}
	r.Reset()
	if r.Known == nil {
		return nil
	}
	token := rows.TokenOf(prefix)
	r.key = append(r.key[:0], prefix...)
	r.key[rows.AreaSize-1] &^= 1 // AreaTombstones
	if r.Known.Has(OfRange, token) {
		return r.loadRanges(src, prefix)
	}
	if !r.Known.Has(OfPartition, token) {
		return nil
	}
	if r.add == nil {
		r.add = func(value []byte) error { return r.Add(nil, value) }
	}
	_, err := src.Get(r.key, r.add)
	return err
}

// loadRanges reads all tombstones of the partition, unless they are kept.
func (r *Reader) loadRanges(src engine.Reader, prefix []byte) error {
	if r.deletions != nil && r.deletions.tombstonesOf(&r.PartitionTombstones, prefix, r.clock) {
		return nil
	}
	end := rows.Successor(bytes.Clone(r.key))
	err := src.Scan(r.key, end, engine.ScanOptions{}, func(key, value []byte) (bool, error) {
		return true, r.Add(key[len(r.key):], value)
	})
	r.CutRanges()
	if r.deletions != nil && err == nil {
		r.deletions.keep(&r.PartitionTombstones, prefix, r.clock)
	}
	return err
}

// Cursor reads a table's tombstones beside a scan of its rows, in the order of their partitions. It prefetches, more
// and more as long as they are used, so that few iterators are opened.
type Cursor struct {
	src        engine.Reader // nil: it is not in use
	id         uint32
	from       []byte // the key to read on from
	end        []byte
	whole      bool // nothing is left to read
	prefetched []keyValue
	next       int    // of prefetched
	used       int    // how often prefetched was used
	chunk      int    // how many are read at a time
	memory     []byte // of prefetched
	target     []byte // prefix of the keys of the wanted partition
}

// keyValue is a stored tombstone: where in memory its key begins, its value begins, and its value ends.
type keyValue struct{ start, value, end int }

// Bounds of a prefetch: its first and its largest number of tombstones, and its bytes.
const (
	minPrefetch      = 16
	maxPrefetch      = 1024
	maxPrefetchBytes = 64 << 10
)

// Begin starts with the tombstones of partitions between two keys of rows.
func (c *Cursor) Begin(src engine.Reader, id uint32, start, end []byte) {
	c.src, c.id, c.whole, c.used, c.chunk = src, id, false, 0, minPrefetch
	c.prefetched, c.next = c.prefetched[:0], 0
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
	if cap(c.memory) > 2*maxPrefetchBytes {
		c.memory = nil
	}
}

func (c *Cursor) fill() error {
	if c.used > 1 {
		c.chunk = min(2*c.chunk, maxPrefetch)
	} else {
		c.chunk = minPrefetch
	}
	c.prefetched, c.next, c.used, c.memory = c.prefetched[:0], 0, 0, c.memory[:0]
	c.whole = true
	err := c.src.Scan(c.from, c.end, engine.ScanOptions{}, func(key, value []byte) (bool, error) {
		x := keyValue{start: len(c.memory)}
		c.memory = append(c.memory, key...)
		x.value = len(c.memory)
		c.memory = append(c.memory, value...)
		x.end = len(c.memory)
		c.prefetched = append(c.prefetched, x)
		c.whole = len(c.prefetched) < c.chunk && len(c.memory) < maxPrefetchBytes
		return c.whole, nil
	})
	if n := len(c.prefetched); n > 0 {
		x := c.prefetched[n-1]
		c.from = append(append(c.from[:0], c.memory[x.start:x.value]...), 0)
	}
	return err
}

// Peek returns the next tombstone. It is valid until the next call of a method. key is nil at the end.
func (c *Cursor) Peek() (key, value []byte, err error) {
	if c.next == len(c.prefetched) {
		if c.whole {
			return nil, nil, nil
		}
		if err := c.fill(); err != nil || len(c.prefetched) == 0 {
			return nil, nil, err
		}
	}
	x := c.prefetched[c.next]
	return c.memory[x.start:x.value], c.memory[x.value:x.end], nil
}

func (c *Cursor) skip() {
	c.next++
	c.used++
}

// seek continues at the first tombstone at or after target.
func (c *Cursor) seek(target []byte) error {
	for ; c.next < len(c.prefetched); c.next++ {
		x := c.prefetched[c.next]
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

// Load reads the tombstones of a partition into d. prefix is that of its rows. Partitions are loaded in their order.
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
