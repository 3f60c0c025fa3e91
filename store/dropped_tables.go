package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// deadTableKey is the record of a table whose rows are to be removed. It is written with the catalog that
// no longer has the table and removed behind its last row, so a purge goes on after a restart.
func deadTableKey(id uint32) []byte {
	return binary.BigEndian.AppendUint32(append([]byte(nil), deadKey...), id)
}

// purgeAgain is how long a purge that failed, as on a full disk, waits.
const purgeAgain = 10 * time.Second

// wakePurge makes the purge look for dead tables, and for definitions to undo.
func (s *Store) wakePurge() {
	select {
	case s.purge <- struct{}{}:
	default:
	}
}

// purgeTables removes the rows of dead tables until the store is closed.
func (s *Store) purgeTables() {
	defer s.purging.Done()
	for {
		select {
		case <-s.closing.Done():
			return
		case <-s.purge:
		}
		if err := s.settle(); err != nil && s.closing.Err() == nil {
			s.log.Error().Err(err).Msg("cannot undo a definition that failed yet")
			time.AfterFunc(purgeAgain, s.wakePurge)
		}
		dead, err := s.deadTables()
		for _, id := range dead {
			if err == nil {
				err = s.purgeTable(id)
			}
		}
		if err != nil && s.closing.Err() == nil && !errors.Is(err, engine.ErrClosed) {
			s.log.Error().Err(err).Msg("cannot remove the rows of a dropped table yet")
			time.AfterFunc(purgeAgain, s.wakePurge)
		}
	}
}

// deadTables are the numbers that have a record, but for those that are in use: a definition may have failed whose
// records were written, and one that has been written may not be visible yet.
func (s *Store) deadTables() (ids []uint32, err error) {
	end := rows.Successor(append([]byte(nil), deadKey...))
	err = s.engine.Scan(deadKey, end, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
		ids = append(ids, binary.BigEndian.Uint32(key[len(deadKey):]))
		return true, nil
	})
	live := s.state.Load().live
	return slices.DeleteFunc(ids, func(id uint32) bool { return live[id] }), err
}

// purgeTable removes one table's keys, when nobody writes any more, in steps between which Close can stop it.
func (s *Store) purgeTable(id uint32) error {
	for !s.usages.of(id).idle() {
		if err := s.closing.Err(); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	first := rows.AppendArea(nil, id, rows.AreaRows)
	start := rows.AppendArea(nil, id, rows.AreaTombstones)
	for i := range 256 {
		end := append(append([]byte(nil), first...), byte(i)+1)
		if i == 255 {
			end = rows.Successor(append([]byte(nil), first...))
		}
		if err := s.closing.Err(); err != nil {
			return err
		}
		if err := s.engine.DeleteRange(start, end); err != nil {
			return fmt.Errorf("purge table %d: %w", id, err)
		}
		start = end
	}
	s.usages.drop(id)
	return s.commit([]engine.Op{{Kind: engine.Delete, Key: deadTableKey(id)}})
}
