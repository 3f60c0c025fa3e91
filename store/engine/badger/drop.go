package badger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/files"
)

// Drop removes the keys with some prefixes, if that is cheaper than to delete each. Badger's DropPrefix removes tables
// that have no other keys without reading them. It ignores snapshots, so nothing may read these keys any more. Some may
// be left, because a flush under way writes them again: the caller deletes these. DropPrefix needs care for more
// reasons, which were read in Badger's source:
//
//   - Writes fail meanwhile, and Flatten must not run beside it: the locks writing and compacting see to that.
//   - It makes a table of the memtable, and then compacts all of level zero into the base level. Neither merges tables
//     of level zero with each other. But a flush has to look at level zero before it goes on: see budget.
//   - It holds the lock that reads need while it writes: the memtable, level zero, the base level, and the tables of
//     each level that have other keys too. So it is worth it if it removes more than that, or if space is short.
//   - It drops the last level first. So after a kill in between no older versions of keys are left than before.
//   - It hides an error of compacting level zero. Then keys are left, which the caller deletes.
//
// When ctx ends, Drop returns and leaves DropPrefix running, which Close waits for.
func (e *Engine) Drop(ctx context.Context, prefixes [][]byte) error {
	done := make(chan error, 1)
	e.finished.Go(func() { done <- panics.Call(func() error { return e.drop(ctx, prefixes) }) })
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *Engine) drop(ctx context.Context, prefixes [][]byte) error {
	e.compacting.Lock()
	defer e.compacting.Unlock()
	e.writing.Lock()
	defer e.writing.Unlock()
	if err := errors.Join(ctx.Err(), e.Damage()); err != nil {
		return err
	}
	if p := e.failed.Load(); p != nil {
		return *p
	}
	long := e.long.withPrefixes(prefixes)
	var ranges []keyRange
	for _, prefix := range prefixes {
		ranges = append(ranges, keyRange{prefix, prefix})
	}
	for _, r := range long {
		ranges = append(ranges, keyRange{chunksOf(r.first), chunksOf(r.last)})
	}
	if ok, err := e.mayDrop(ranges); err != nil || !ok {
		return err
	}
	if err := e.dropPrefixes(prefixes); err != nil { // the heads before their chunks
		return err
	}
	var owned [][]byte
	for _, r := range long {
		for g := r.first; g <= r.last; g++ {
			if owned = append(owned, chunksOf(g), longKey(g)); len(owned) >= dropAtOnce || g == long[len(long)-1].last {
				if err := e.dropPrefixes(owned); err != nil {
					return err
				}
				owned = owned[:0]
			}
		}
	}
	e.long.forget(long)
	e.checkSpace()
	return nil
}

// BesideDrop runs a read of keys that may be dropped: a long value is read as a whole, or not at all.
func (e *Engine) BesideDrop(read func() error) error {
	e.writing.Lock()
	defer e.writing.Unlock()
	return read()
}

// dropAtOnce is the maximum number of prefixes in a call of DropPrefix, which compares each key with all of them.
const dropAtOnce = 512

// chunksOf is the prefix of the chunks of a generation.
func chunksOf(generation uint64) []byte { return chunkKey(generation, 0)[:len(chunkPrefix)+8] }

// dropPrefixes calls DropPrefix. After an error the state of Badger's memtable is unknown, and nothing is flushed any
// more.
func (e *Engine) dropPrefixes(prefixes [][]byte) error {
	e.budget = 0
	err := panics.Call(func() error { return e.db.DropPrefix(prefixes...) })
	if err == nil {
		err = files.SyncFile(e.o.Dir)
	}
	if err != nil {
		err = fmt.Errorf("drop tables: %w", err)
		e.failed.CompareAndSwap(nil, &err)
	}
	return err
}

// keyRange has the keys from the first prefix, up to the last key with the last.
type keyRange struct{ first, last []byte }

// ends reports whether the range ends before a key.
func (r keyRange) ends(key []byte) bool {
	return bytes.Compare(r.last, key) < 0 && !bytes.HasPrefix(key, r.last)
}

// mayDrop reports whether to drop ranges of keys: whether there is room for what DropPrefix writes, and whether that is
// less than it removes, unless space is short.
func (e *Engine) mayDrop(ranges []keyRange) (bool, error) {
	base := 0
	for _, l := range e.db.Levels() {
		if l.IsBaseLevel {
			base = l.Level
		}
	}
	var removed, merged, rewritten int64
	for _, t := range e.db.Tables() {
		some, all := overlap(t, ranges)
		switch size := int64(t.OnDiskSize); {
		case t.Level == 0:
			merged += size
		case all:
			removed += size
		default:
			if some {
				rewritten += size
			}
			if t.Level == base {
				merged += size
			}
		}
	}
	memtable := e.o.MemTable / 4 * 5 // a transaction may exceed its size
	if !e.o.Eager && (removed == 0 || removed < memtable+merged+rewritten && !e.IsShort()) {
		return false, nil
	}
	// Tables of the levels below are removed before level zero is compacted.
	err := e.leaves(0, max(memtable+rewritten, 2*memtable+merged-removed))
	return err == nil, err
}

// overlap reports whether a table may have some keys in one of the ranges, and whether it has no others.
func overlap(t badger.TableInfo, ranges []keyRange) (some, all bool) {
	for _, r := range ranges {
		if r.ends(t.Left) || bytes.Compare(t.Right, r.first) < 0 {
			continue
		}
		if bytes.Compare(r.first, t.Left) <= 0 && !r.ends(t.Right) {
			return true, true
		}
		some = true
	}
	return some, false
}

// IsFull reports whether commits are refused because space is short.
func (e *Engine) IsFull() bool {
	p := e.full.Load()
	return p != nil && errors.Is(*p, engine.ErrFull)
}

// IsShort reports whether space is short, or was a moment ago: the first commits that free space may have made room for
// a few others only.
func (e *Engine) IsShort() bool {
	return e.IsFull() || time.Now().UnixNano()-e.lastFull.Load() < int64(shortTime)
}

// shortTime is how long space counts as short after commits were refused.
const shortTime = time.Minute
