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

// deadTableKey is the key of the record of a dropped or truncated table. The record is written with the catalog
// that lacks the table and removed after the table's last row, so a purge continues after a restart.
func deadTableKey(id uint32) []byte {
	return binary.BigEndian.AppendUint32(append([]byte(nil), deadKey...), id)
}

// purgeAgain is how long the purge waits after it failed, as on a full disk.
const purgeAgain = 10 * time.Second

// wakePurge makes the purge look for dropped tables and for definitions to undo.
func (s *Store) wakePurge() {
	select {
	case s.purge <- struct{}{}:
	default:
	}
}

// purgeTables removes the rows of dropped tables until the store is closed.
func (s *Store) purgeTables() {
	defer s.purging.Done()
	for {
		select {
		case <-s.closing.Done():
			return
		case <-s.purge:
		}
		if err := s.undoDefinitions(); err != nil && s.closing.Err() == nil {
			s.log.Error().Err(err).Msg("cannot undo a definition that failed yet")
			time.AfterFunc(purgeAgain, s.wakePurge)
		}
		dead, err := s.deadTables()
		s.awaitDefinition()
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

// awaitDefinition waits for the Define that is under way, which waits for writes that do not know of it.
func (s *Store) awaitDefinition() *state {
	s.defining.Lock()
	defer s.defining.Unlock()
	return s.state.Load()
}

// deadTables returns the numbers with a record, except those in use: a definition may have failed after its records
// were written, or may not be visible yet.
func (s *Store) deadTables() (ids []uint32, err error) {
	end := rows.Successor(append([]byte(nil), deadKey...))
	err = s.engine.Scan(deadKey, end, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
		ids = append(ids, binary.BigEndian.Uint32(key[len(deadKey):]))
		return true, nil
	})
	live := s.state.Load().live
	return slices.DeleteFunc(ids, func(id uint32) bool { return live[id] }), err
}

// purgeTable removes one table's keys once nobody writes them any more. Close can stop it between steps.
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
