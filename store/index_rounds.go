package store

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// The entries of an index of vectors say which rows no graph has. They are removed when one has them, and an engine may
// step over removed keys for long. So entries have the round in which they were written, and reads begin with the first
// round that has any.
//
// A round begins when rows are about to be added to a graph. Mutations that have begun before may still write entries
// of the round before it; when these have ended nobody does. Then all entries of earlier rounds are those that are
// there.
//
// Where nodes share the engine each counts rounds for itself, and reads begin with all entries.

// roundSize is how long a round is in the key of an entry.
const roundSize = 8

// appendRound appends what the entries of an index of vectors begin with that are written in a round.
func (x *keptIndex) appendRound(dst []byte, round uint64) []byte {
	return binary.BigEndian.AppendUint64(x.appendForm(dst, ofRound), round)
}

// ungraphed is where the entries of an index of vectors are that were written since a round.
func (x *keptIndex) ungraphed(since uint64) entrySpan {
	return entrySpan{start: x.appendRound(nil, since), end: rows.Successor(x.appendForm(nil, ofRound))}
}

// splitRound returns the round and the key of the row in the key of an entry of an index of vectors.
func splitRound(key []byte) (round uint64, row []byte, err error) {
	rest := key[min(len(key), rows.AreaSize):]
	if len(rest) <= roundSize || rest[0] != ofRound {
		return 0, nil, rows.ErrKey
	}
	return binary.BigEndian.Uint64(rest[1:]), rest[1+roundSize:], nil
}

// scanUngraphed calls fn with the keys of entries that were written since a round.
func (x *keptIndex) scanUngraphed(src engine.Reader, since uint64, fn func(key []byte) (bool, error)) error {
	span := x.ungraphed(since)
	return src.Scan(span.start, span.end, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
		return fn(key)
	})
}

// beginRound begins a round, and waits until no entries of earlier ones are written to an index.
func (s *Store) beginRound(x *keptIndex) uint64 {
	round := s.graphs.round.Add(1)
	s.usages.Of(x.tableID).AwaitWrites()
	return round
}

// firstRound is the first round with entries of an index whose graphs were just loaded. The rounds that are begun here
// are behind those of all entries.
func (s *Store) firstRound(x *keptIndex) (uint64, error) {
	if s.cluster != nil {
		return 0, nil
	}
	span := x.ungraphed(0)
	err := s.engine.Scan(span.start, span.end, engine.ScanOptions{KeysOnly: true, Reverse: true},
		func(key, _ []byte) (bool, error) {
			last, _, err := splitRound(key)
			for now := s.graphs.round.Load(); now < last && !s.graphs.round.CompareAndSwap(now, last); {
				now = s.graphs.round.Load()
			}
			return false, err
		})
	first := s.beginRound(x)
	return first, errors.Join(err, x.scanUngraphed(s.engine, 0, func(key []byte) (more bool, err error) {
		first, _, err = splitRound(key)
		return false, err
	}))
}

// removeGraphed removes the entries of rows that a graph has, unless a row has another vector since. In a round that
// has begun before the vectors were read it has another entry then.
func (s *Store) removeGraphed(x *keptIndex, all []graphed) error {
	if s.cluster == nil {
		var ops []engine.Op
		for i := range all {
			for _, key := range all[i].entries {
				ops = append(ops, engine.Op{Kind: engine.Delete, Key: key})
			}
		}
		_, err := s.commitEntries(x, ops)
		return err
	}
	return s.update(s.closing, all[0].entries[0], func(txn engine.Txn) error {
		for i := range all {
			vector, err := s.storedVector(txn, x, all[i].row)
			if err != nil {
				return err
			}
			if bytes.Equal(vector, all[i].vector) {
				for _, key := range all[i].entries {
					txn.Delete(key)
				}
			}
		}
		return nil
	})
}
