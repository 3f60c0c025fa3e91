package store

import (
	"bytes"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// repaired returns what a repair of the engine could not recover; nil: there was no repair.
func (s *definer) repaired() (*engine.Repair, error) {
	if keeper, ok := s.engine.(engine.Keeper); ok {
		return keeper.Repaired()
	}
	return nil, nil
}

// endRepair makes the rest of the data agree with the rows that a repair of the engine has left, and logs what is
// missing. Indexes and views have got other numbers, because some of their keys may be missing, or of rows that are.
// Numbers of no table are purged if the definitions are sound: the record that a table was dropped may be missing.
func (s *definer) endRepair(r *engine.Repair, first *state, sound bool) error {
	if err := s.logLosses(r, first); err != nil {
		return err
	}
	unknown, err := s.unknownNumbers(first)
	if err != nil {
		return err
	}
	if len(unknown) > 0 && sound {
		var ops []engine.Op
		for _, id := range unknown {
			ops = append(ops, engine.Op{Kind: engine.Put, Key: deadTableKey(id), Value: []byte{1}})
		}
		if err := s.commit(ops); err != nil {
			return err
		}
	} else if len(unknown) > 0 {
		s.log.Error().Uints32("store_ids", unknown).
			Msg("there are rows of tables that are not defined: they are kept, and a table cannot be made of them")
	}
	if err := s.engine.Sync(); err != nil {
		return err
	}
	return s.engine.(engine.Keeper).RepairEnded()
}

// unknownNumbers are the numbers of stored keys that are not of a table, an index or a view.
func (s *definer) unknownNumbers(first *state) (ids []uint32, err error) {
	for start := rows.AppendArea(nil, 1, rows.AreaTombstones); start != nil; {
		var id uint32
		found := false
		err := s.engine.Scan(start, nil, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
			if len(key) < rows.AreaSize {
				return false, rows.ErrKey
			}
			id, found = numberOf(key), true
			return false, nil
		})
		if err != nil || !found {
			return ids, err
		}
		if !first.live[id] {
			ids = append(ids, id)
		}
		start = rows.Successor(rows.AppendArea(nil, id, rows.AreaRows))
	}
	return ids, nil
}

// logLosses logs what a repair could not recover, by tables. Entries of indexes and views are not lost, because these
// are built again.
func (s *definer) logLosses(r *engine.Repair, first *state) error {
	for _, l := range r.Losses {
		if l.Commits > 0 {
			s.log.Error().Str("file", l.File).Str("damage", l.What).Uint64("commits", l.Commits).
				Msg("commits are lost: rows that they wrote are missing or older, and rows that they deleted are back")
			continue
		}
		for _, part := range l.Ranges {
			tables, err := s.tablesIn(part, first)
			if err != nil {
				return err
			}
			if len(tables) == 0 {
				continue
			}
			event := s.log.Error().Str("file", l.File).Str("damage", l.What).Str("tables", strings.Join(tables, ", "))
			if l.Entries >= 0 {
				event = event.Int("rows_at_most", l.Entries)
			}
			event.Hex("from_key", part.Start).Hex("to_key", part.End).
				Msg("rows are lost: some in this range are missing or older, and deleted ones may be back")
		}
	}
	return nil
}

// tablesIn are the names of the tables that have keys in a range. Most tables of system keyspaces never have a row:
// these are left out unless they have one.
func (s *definer) tablesIn(part engine.Range, first *state) (names []string, err error) {
	for _, k := range first.catalog.Keyspaces() {
		for _, t := range k.Tables {
			id, ok := first.ids[t.ID]
			if !ok || t.View != nil {
				continue
			}
			start := rows.AppendArea(nil, id, rows.AreaTombstones)
			end := rows.Successor(rows.AppendArea(nil, id, rows.AreaRows))
			if bytes.Compare(part.Start, end) >= 0 || len(part.End) > 0 && bytes.Compare(part.End, start) <= 0 {
				continue
			}
			used := !schema.IsSystem(t.Keyspace)
			if !used {
				err := s.engine.Scan(start, end, engine.ScanOptions{KeysOnly: true}, func(_, _ []byte) (bool, error) {
					used = true
					return false, nil
				})
				if err != nil {
					return nil, err
				}
			}
			if used {
				names = append(names, t.Keyspace+"."+t.Name)
			}
		}
	}
	slices.Sort(names)
	return names, nil
}
