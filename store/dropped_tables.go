package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
	"github.com/cqld/cqld/store/tombstones"
)

// dropper removes the rows of tables that were dropped or truncated.
type dropper struct {
	*core
	definer *definer
}

func (s *dropper) purgeTables() {
	defer s.running.Done()
	for {
		select {
		case <-s.closing.Done():
			return
		case <-s.purge:
		}
		if err := panics.Call(s.definer.undoDefinitions); err != nil && s.closing.Err() == nil {
			panics.Log(&s.log, err).Msg("cannot undo a definition that failed yet")
			time.AfterFunc(purgeAgain, s.wakePurge)
		}
		if ids := s.uncollected.Swap(nil); ids != nil {
			s.makeFilters(*ids)
		}
		if !s.leads() {
			continue
		}
		err := panics.Call(s.purgeDeadTables)
		if errors.Is(err, errRestored) {
			s.wakePurge()
			continue
		}
		if err != nil && s.closing.Err() == nil && !errors.Is(err, engine.ErrClosed) {
			panics.Log(&s.log, err).Msg("cannot remove the rows of a dropped table yet")
			time.AfterFunc(purgeAgain, s.wakePurge)
		}
	}
}

// purgeDeadTables purges one table after the other. If one panics, the others are purged all the same.
func (s *dropper) purgeDeadTables() error {
	era := s.restores.Load()
	dead, err := s.deadTables()
	s.awaitDefinition()
	if err == nil && len(dead) > 0 {
		err = s.settle() // so that no node writes to them or reads them any more
	}
	if err == nil {
		err = s.dropTables(dead, era)
	}
	if err != nil {
		return err
	}
	var panicked error
	for _, id := range dead {
		err := panics.Call(func() error { return s.purgeTable(id, era) })
		if panics.Is(err) {
			panicked = cmp.Or(panicked, fmt.Errorf("purge table %d: %w", id, err))
		} else if err != nil {
			return err
		}
	}
	return panicked
}

// deadTables returns the numbers with a record, except those in use: a definition may have failed after its records
// were written, or may not be visible yet.
func (s *dropper) deadTables() (ids []uint32, err error) {
	end := rows.Successor(append([]byte(nil), deadKey...))
	err = s.engine.Scan(deadKey, end, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
		ids = append(ids, binary.BigEndian.Uint32(key[len(deadKey):]))
		return true, nil
	})
	live := s.state.Load().live
	return slices.DeleteFunc(ids, func(id uint32) bool { return live[id] }), err
}

// dropTables lets the engine remove most keys of tables after their last writes have ended, if it can do that faster
// than by deleting them. era is the number of restores when it began.
func (s *dropper) dropTables(ids []uint32, era uint64) error {
	var prefixes [][]byte
	for _, id := range ids {
		for !s.usages.Of(id).IsIdle() {
			if err := s.closing.Err(); err != nil {
				return err
			}
			time.Sleep(time.Millisecond)
		}
		prefixes = append(prefixes, rows.AppendArea(nil, id, rows.AreaTombstones), rows.AppendArea(nil, id, rows.AreaRows))
	}
	if len(ids) == 0 {
		return nil
	}
	return s.step(era, func() error { return engine.Drop(s.closing, s.engine, prefixes) })
}

// purgeTable removes the keys that a table still has. Close and Restore can stop it between steps.
func (s *dropper) purgeTable(id uint32, era uint64) error {
	for start := rows.AppendArea(nil, id, rows.AreaTombstones); start != nil; {
		if err := s.closing.Err(); err != nil {
			return err
		}
		err := s.step(era, func() error {
			end, err := s.partToPurge(start, id)
			if err == nil && end != nil {
				err = s.engine.DeleteRange(start, end)
			}
			start = end
			return err
		})
		if err != nil {
			return fmt.Errorf("purge table %d: %w", id, err)
		}
	}
	return s.step(era, func() error {
		s.usages.Drop(id)
		return s.commit([]engine.Op{{Kind: engine.Delete, Key: deadTableKey(id)}})
	})
}

// partToPurge returns where the part of a table's keys ends that begins with the first key from start on: the
// tombstones, or a 256th of the tokens. It returns nil if there is no key.
func (s *dropper) partToPurge(start []byte, id uint32) (end []byte, err error) {
	first := rows.AppendArea(nil, id, rows.AreaRows)
	behind := rows.Successor(bytes.Clone(first))
	err = s.engine.Scan(start, behind, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
		switch {
		case bytes.Compare(key, first) < 0:
			end = first
		case len(key) > len(first) && key[len(first)] < 0xFF:
			end = append(first, key[len(first)]+1)
		default:
			end = behind
		}
		return false, nil
	})
	return end, err
}

// makeFilters makes the filters of tables of which nothing is known.
func (s *core) makeFilters(ids []uint32) {
	for _, id := range ids {
		err := panics.Call(func() error { return s.makeFilter(id) })
		if err != nil && s.closing.Err() == nil {
			panics.Log(&s.log, err).Uint32("store_id", id).Msg("cannot load the tombstones of a table")
		}
	}
}

// makeFilter makes the filter of a table. Without it, reads look for tombstones.
func (s *core) makeFilter(id uint32) error {
	c, n, whole := s.deletions.RebuildFilter(id, s.usages.Of(id).AwaitWrites), 0, false
	if c == nil {
		return nil
	}
	defer func() { c.Finish(whole) }()
	err := tombstones.EachKey(s.engine, id, func(kind tombstones.Kind, token int64) (bool, error) {
		c.Add(kind, token)
		if n++; n%1024 == 0 {
			return true, s.closing.Err()
		}
		return true, nil
	})
	whole = err == nil
	return err
}
