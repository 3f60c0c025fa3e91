package store

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// Add adds to a counter.
func (m *Mutation) Add(c *schema.Column, change, ts int64) {
	m.counts = true
	at := len(m.paths)
	m.paths = binary.BigEndian.AppendUint64(m.paths, uint64(change))
	m.addCell(rows.Cell{Column: c.ID, Counter: true, Timestamp: ts, Value: m.paths[at:len(m.paths):len(m.paths)]})
}

// DeleteCounter deletes a counter.
func (m *Mutation) DeleteCounter(c *schema.Column, ts int64) {
	m.addCell(rows.Cell{Column: c.ID, Counter: true, Deleted: true, Timestamp: ts, Expiry: Expiry{At: m.second}})
}

// A write that changes counters is an update, as one of tables with views is: it reads the totals and writes new ones,
// with the partitions as guards (see writeInUpdate).

// changesCounters reports whether mutations change counters.
func changesCounters(ms []*Mutation) bool {
	return slices.ContainsFunc(ms, func(m *Mutation) bool { return m.counts })
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

// putTotals adds changes to the totals that are stored. It puts the whole rows, so that the update fails if another
// one comes in between.
func putTotals(txn engine.Txn, ops []engine.Op) error {
	for i := range ops {
		op := &ops[i]
		if op.Kind != engine.Merge || rows.IsTombstoneKey(op.Key) {
			op.WriteTo(txn)
			continue
		}
		var stored []byte
		if _, err := txn.Get(op.Key, func(value []byte) error {
			stored = bytes.Clone(value)
			return nil
		}); err != nil {
			return err
		}
		value := op.Value
		totals := map[uint32]rows.Cell{}
		var err error
		if stored != nil {
			if totals, err = rows.CounterTotals(stored); err != nil {
				return err
			}
		}
		if value, err = rows.AddToTotals(value, totals); err != nil {
			return err
		}
		if stored != nil {
			if value, err = rows.Fold(nil, op.Key, stored, value); err != nil {
				return err
			}
		}
		txn.Put(op.Key, value)
	}
	return nil
}
