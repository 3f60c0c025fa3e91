package store

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/rows"
)

// noteStale has an entry looked at, unless many others wait.
func (s *core) noteStale(x *index.Index, entry, rest []byte) {
	if len(s.stale) == cap(s.stale) {
		return
	}
	key := append(bytes.Clone(entry), rest...)
	select {
	case s.stale <- staleEntry{x, key, len(entry)}:
	default:
	}
}

// staleAtOnce is how many entries are removed at once.
const staleAtOnce = 64

// removeStale removes entries whose rows do not have their values: one entry, and others that wait.
func (s *builder) removeStale(first staleEntry) error {
	all := append(make([]staleEntry, 0, staleAtOnce), first)
	for len(all) < staleAtOnce {
		select {
		case e := <-s.stale:
			all = append(all, e)
			continue
		default:
		}
		break
	}
	return s.removeEntries(s.closing, all)
}

// removeEntries removes the entries whose rows do not have their values now. A concurrent write that adds such an
// entry is not undone: the engine runs the update again.
func (s *core) removeEntries(ctx context.Context, all []staleEntry) error {
	var maker index.Maker
	var row []byte
	return s.update(engine.WithFreeing(ctx), all[0].key, func(txn engine.Txn) error {
		for i := range all {
			e := &all[i]
			row = append(rows.AppendArea(row[:0], e.index.TableID, rows.AreaRows), e.key[e.prefix:]...)
			has := false
			_, err := txn.Get(row, func(value []byte) error {
				has = maker.MayHaveEntry(e.index, row, value, e.key[:e.prefix])
				return nil
			})
			if err != nil {
				return err
			}
			if !has {
				txn.Delete(e.key)
			}
		}
		return nil
	})
}

// dropEntries removes the entries of the values that a row loses. kept is the rest of the row, or nil.
func (w *sweep) dropEntries(txn engine.Txn, key, value, kept []byte) error {
	for _, x := range w.indexes {
		if x.View != nil {
			continue
		}
		stay := map[string]bool{}
		if kept != nil {
			err := w.makers[1].EachEntry(x, key, len(w.prefix), kept, func(entry []byte) bool {
				stay[string(entry)] = true
				return true
			})
			if err != nil {
				return err
			}
		}
		err := w.makers[0].EachEntry(x, key, len(w.prefix), value, func(entry []byte) bool {
			if !stay[string(entry)] {
				txn.Delete(slices.Concat(entry, key[rows.AreaSize:]))
			}
			return true
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// A sweep in the background reads the row of one entry in sampleEvery. Where rows are only inserted no entry is stale,
// and to read the row of each would cost more than to write it.
const sampleEvery = 64

// cleanIndexes goes over all entries and removes entries of overwritten values that no read has found. In the
// background it samples each chunk, and looks at all of a chunk where one of the sample is stale.
func (w *sweep) cleanIndexes(ctx context.Context) error {
	every := 1
	if w.pause > 0 {
		every = sampleEvery
	}
	for _, x := range w.indexes {
		if x.View != nil {
			continue
		}
		position := rows.AppendArea(nil, x.ID, rows.AreaRows)
		end := rows.Successor(bytes.Clone(position))
		for position != nil {
			began := time.Now()
			var stale []staleEntry
			var next []byte
			err := w.step(func() (err error) {
				if stale, next, err = w.staleFrom(x, position, end, every); err == nil && len(stale) > 0 && every > 1 {
					stale, next, err = w.staleFrom(x, position, end, 1)
				}
				if err != nil {
					return err
				}
				for part := range slices.Chunk(stale, staleAtOnce) {
					if err := w.removeEntries(ctx, part); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			w.swept.removed.Add(uint64(len(stale)))
			if err := w.rest(ctx, time.Since(began)); err != nil {
				return err
			}
			position = next
		}
	}
	return nil
}

// staleFrom looks at one of every so many entries of a chunk, and returns the stale ones. next is the key to continue
// from; nil: there are no more entries.
func (w *sweep) staleFrom(x *index.Index, start, end []byte, every int) (stale []staleEntry, next []byte, err error) {
	maker := &w.makers[0]
	var row []byte
	seen, sampled := 0, rand.IntN(every)
	err = w.engine.View(func(src engine.Reader) error {
		return src.Scan(start, end, engine.ScanOptions{}, func(key, value []byte) (bool, error) {
			if seen++; seen == chunkRows {
				next = append(bytes.Clone(key), 0)
			}
			if seen%every != sampled {
				return next == nil, nil
			}
			n, err := index.EntryLength(key, value)
			if err != nil {
				return false, err
			}
			row = append(rows.AppendArea(row[:0], x.TableID, rows.AreaRows), key[n:]...)
			has := false
			_, err = src.Get(row, func(value []byte) error {
				has = maker.MayHaveEntry(x, row, value, key[:n])
				return nil
			})
			if !has {
				stale = append(stale, staleEntry{x, bytes.Clone(key), n})
			}
			return next == nil, err
		})
	})
	return stale, next, err
}
