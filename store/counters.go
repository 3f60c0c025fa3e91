package store

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// Add adds to a counter.
func (m *Mutation) Add(c *schema.Column, change, ts int64) {
	m.counts = true
	at := len(m.paths)
	m.paths = binary.BigEndian.AppendUint64(m.paths, uint64(change))
	m.add(rows.Cell{Column: c.ID, Counter: true, Timestamp: ts, Value: m.paths[at:len(m.paths):len(m.paths)]})
}

// DeleteCounter deletes a counter.
func (m *Mutation) DeleteCounter(c *schema.Column, ts int64) {
	m.add(rows.Cell{Column: c.ID, Counter: true, Deleted: true, Timestamp: ts, Expiry: Expiry{At: m.second}})
}

// countLocks are locks for changes of counters. A partition's token chooses its lock.
type countLocks [256]sync.Mutex

// lock takes the locks of the partitions of mutations, and returns the function that frees them.
func (l *countLocks) lock(ms []*Mutation) (unlock func()) {
	var stripes []uint8
	for _, m := range ms {
		stripes = append(stripes, uint8(rows.TokenOf(m.prefix)))
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

// count is Apply for mutations that change counters. It waits for other changes in the same partitions.
func (s *Store) count(ms []*Mutation, done func(error)) {
	if s.cluster != nil {
		s.countShared(ms, done)
		return
	}
	unlock := s.counting.lock(ms)
	s.apply(ms, s.total, func(err error) {
		unlock()
		done(err)
	})
}

// total replaces the changes in operations by new totals.
func (s *Store) total(ops []engine.Op) ([]engine.Op, error) {
	united, err := unite(ops)
	if err != nil {
		return nil, err
	}
	err = s.engine.View(func(r engine.Reader) error {
		for i := range united {
			op := &united[i]
			if rows.IsTombstoneKey(op.Key) {
				continue
			}
			var totals map[uint32]rows.Cell
			_, err := r.Get(op.Key, func(value []byte) (err error) {
				totals, err = rows.CounterTotals(value)
				return err
			})
			if err != nil {
				return err
			}
			if op.Value, err = rows.AddToTotals(op.Value, totals); err != nil {
				return err
			}
		}
		return nil
	})
	return united, err
}

// unite sorts operations by their keys and folds those on one key into one.
func unite(ops []engine.Op) ([]engine.Op, error) {
	slices.SortStableFunc(ops, func(a, b engine.Op) int { return bytes.Compare(a.Key, b.Key) })
	united := ops[:0]
	for _, op := range ops {
		if n := len(united); n > 0 && bytes.Equal(united[n-1].Key, op.Key) {
			value, err := rows.Fold(nil, op.Key, united[n-1].Value, op.Value)
			if err != nil {
				return nil, err
			}
			united[n-1].Value = value
			continue
		}
		united = append(united, op)
	}
	return united, nil
}
