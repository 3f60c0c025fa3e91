package store

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
)

// A counter's cell holds a total, behind the number of times that it was changed: of two totals the one that was changed
// more often is right. In a mutation it holds a change instead, which has half the length; Apply makes a total of it.
//
// A tombstone of a counter's cell wins whatever the timestamps are, and tombstones of rows do not take the cell out of
// them: a counter that is deleted with its row goes on from where it was when it is changed later.
const (
	changeSize = 8
	totalSize  = 16
)

// Add changes a counter.
func (m *Mutation) Add(c *schema.Column, change, ts int64) {
	m.counts = true
	at := len(m.paths)
	m.paths = binary.BigEndian.AppendUint64(m.paths, uint64(change))
	m.add(cell{column: c.ID, counter: true, ts: ts, value: m.paths[at:len(m.paths):len(m.paths)]})
}

// DeleteCounter deletes a counter.
func (m *Mutation) DeleteCounter(c *schema.Column, ts int64) {
	m.add(cell{column: c.ID, counter: true, deleted: true, ts: ts, expiry: Expiry{At: m.second}})
}

// outcounts is beats for counters.
func (c *cell) outcounts(o *cell) bool {
	switch {
	case c.deleted != o.deleted:
		return c.deleted
	case c.deleted && c.ts != o.ts:
		return c.ts > o.ts
	case c.deleted:
		return c.expiry.At > o.expiry.At
	}
	return bytes.Compare(c.value, o.value) > 0
}

// unite makes of two cells in the same place the one that stays.
func (c *cell) unite(o *cell) cell {
	winner := *o
	if c.beats(o) {
		winner = *c
	}
	if !winner.counter || winner.deleted {
		return winner
	}
	winner.ts = max(c.ts, o.ts)
	if len(c.value) == changeSize && len(o.value) == changeSize {
		sum := binary.BigEndian.Uint64(c.value) + binary.BigEndian.Uint64(o.value)
		winner.value = binary.BigEndian.AppendUint64(nil, sum)
	}
	return winner
}

// counted is what a total shows.
func (c *cell) counted() []byte {
	if len(c.value) == totalSize {
		return c.value[totalSize-8:]
	}
	return c.value
}

// countLocks has the locks of those who change counters, by partition.
type countLocks [256]sync.Mutex

// lock takes the locks of the partitions of mutations, and returns what frees them.
func (l *countLocks) lock(ms []*Mutation) (unlock func()) {
	var stripes []uint8
	for _, m := range ms {
		stripes = append(stripes, uint8(tokenOf(m.prefix)))
	}
	slices.Sort(stripes)
	stripes = slices.Compact(stripes)
	for _, i := range stripes {
		l[i].Lock()
	}
	return func() {
		for _, i := range stripes {
			l[i].Unlock()
		}
	}
}

// count is Apply for mutations that change counters. It waits for others who do so in the same partitions.
func (s *Store) count(ms []*Mutation, done func(error)) {
	unlock := s.counting.lock(ms)
	s.apply(ms, s.total, func(err error) {
		unlock()
		done(err)
	})
}

// total makes totals of the changes in operations.
func (s *Store) total(ops []engine.Op) ([]engine.Op, error) {
	slices.SortStableFunc(ops, func(a, b engine.Op) int { return bytes.Compare(a.Key, b.Key) })
	united := ops[:0]
	for _, op := range ops {
		if n := len(united); n > 0 && bytes.Equal(united[n-1].Key, op.Key) {
			value, err := fold(op.Key, united[n-1].Value, op.Value)
			if err != nil {
				return nil, err
			}
			united[n-1].Value = value
			continue
		}
		united = append(united, op)
	}
	err := s.engine.View(func(r engine.Reader) error {
		for i := range united {
			op := &united[i]
			if isDeletionKey(op.Key) {
				continue
			}
			var totals map[uint32]cell
			_, err := r.Get(op.Key, func(value []byte) (err error) {
				totals, err = counters(value)
				return err
			})
			if err != nil {
				return err
			}
			if op.Value, err = counted(op.Value, totals); err != nil {
				return err
			}
		}
		return nil
	})
	return united, err
}

// counters has the counters of a row by column.
func counters(row []byte) (map[uint32]cell, error) {
	totals := map[uint32]cell{}
	var r rowReader
	if err := r.begin(row); err != nil {
		return nil, err
	}
	for r.next() {
		if c := r.cell; c.counter && !c.deleted {
			if len(c.value) != totalSize {
				return nil, errRow
			}
			c.value = bytes.Clone(c.value)
			totals[c.column] = c
		}
	}
	return totals, r.err
}

// counted is a row's value with totals in place of changes.
func counted(row []byte, totals map[uint32]cell) ([]byte, error) {
	var r rowReader
	if err := r.begin(row); err != nil {
		return nil, err
	}
	w := rowWriter{head: r.head}
	for r.next() {
		c := r.cell
		if c.counter && !c.deleted {
			c.value = addTo(totals[c.column].value, c.value)
		}
		w.cell(&c)
	}
	return w.finish(), r.err
}

// addTo is a total, which may be none yet, after a change.
func addTo(total, change []byte) []byte {
	var times, sum uint64
	if len(total) == totalSize {
		times, sum = binary.BigEndian.Uint64(total), binary.BigEndian.Uint64(total[8:])
	}
	b := binary.BigEndian.AppendUint64(nil, times+1)
	return binary.BigEndian.AppendUint64(b, sum+binary.BigEndian.Uint64(change))
}
