package store

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cqld/cqld/store/snapshot"

	"github.com/cqld/cqld/store/engine"
)

// Snapshot calls fn with the blocks of a snapshot. Writes and definitions go on meanwhile, and are not in it. A block
// is valid until fn returns.
func (s *Store) Snapshot(ctx context.Context, fn func(block []byte) error) error {
	return s.view(func(src engine.Reader, state *state) error {
		head := snapshot.Head{Format: snapshot.Format, Host: fmt.Sprintf("%x", s.host), Taken: s.now().UTC()}
		for id := range state.live {
			e := s.usages.Of(id).Estimate()
			head.Bytes += e.Bytes
		}
		block, err := json.Marshal(head)
		if err != nil {
			return err
		}
		if err := fn(block); err != nil {
			return err
		}
		block = block[:0]
		err = src.Scan(nil, nil, engine.ScanOptions{}, func(key, value []byte) (bool, error) {
			block = append(binary.AppendUvarint(block, uint64(len(key))), key...)
			block = append(binary.AppendUvarint(block, uint64(len(value))), value...)
			if len(block) < snapshot.BlockSize {
				return true, nil
			}
			if err := errors.Join(ctx.Err(), s.closing.Err()); err != nil {
				return false, err
			}
			err := fn(block)
			block = block[:0]
			return true, err
		})
		if err == nil && len(block) > 0 {
			err = fn(block)
		}
		return err
	})
}

// view runs fn on a snapshot of the engine and the definitions that belong to it.
func (s *core) view(fn func(engine.Reader, *state) error) error {
	s.defining.Lock()
	unlock := s.defining.Unlock
	err := s.engine.View(func(src engine.Reader) error {
		now := s.state.Load()
		unlock() // definitions may change from here on: this snapshot does not have that
		unlock = func() {}
		return fn(src, now)
	})
	unlock()
	return err
}
