package store

import (
	"bytes"
	"slices"

	"github.com/cqld/cqld/internal/invariants"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// A decision needs a later timestamp than the previous decision in its partition, and than writes that were answered
// before, on whichever node. These invariants are enough for it, whatever the clocks show:
//
//  1. Above. The timestamp of a decision is later than that of every cell, row and tombstone that it has read, so none
//     of them shadows it. The exception is a client's timestamp that the clock reaches only after more than a lease:
//     it shadows the decision, as on Cassandra.
//  2. Covered. A decision that writes only rows that it has read needs no more: an earlier decision in its partition,
//     or a write that was answered before, is either in these rows or elsewhere.
//  3. Clocked. Any other decision, and one that has read such a client's timestamp, takes a timestamp of the cluster's
//     clock, after it has read, and lets it pass before it commits. Such decisions write rows of other statements of a
//     batch, tombstones of partitions or ranges, or rows of views; or elements of collections, because the clock orders
//     the elements of lists. They are made twice: it is known only afterwards what they write.
//  4. Answered. A decision is answered when its timestamp has passed, like any write: a write that follows is later.

// seenRows is the Reader of a decision where nodes share the engine. It notes the reads of the decision.
type seenRows struct {
	engine.Reader
	limit  int64     // only clients can have chosen later timestamps
	newest int64     // the newest timestamp of all that was read, up to the limit
	future bool      // later ones were read
	keys   []keySpan // that were read
	vague  bool      // not all that was read is noted
}

// keySpan is a range of keys, without its end.
type keySpan struct{ start, end []byte }

// maxSeenSpans is how many spans are noted.
const maxSeenSpans = 64

// forget begins to note the reads of a decision.
func (s *seenRows) forget(r engine.Reader, limit int64) {
	*s = seenRows{Reader: r, limit: limit, newest: rows.NoTimestamp, keys: s.keys[:0]}
}

// Get reads a key.
func (s *seenRows) Get(key []byte, fn func(value []byte) error) (bool, error) {
	s.noteSpan(bytes.Clone(key), append(bytes.Clone(key), 0))
	return s.Reader.Get(key, func(value []byte) error {
		s.noteValue(key, value)
		return fn(value)
	})
}

// Scan reads a range.
func (s *seenRows) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	if o.KeysOnly || len(end) == 0 {
		s.vague = true
		return s.Reader.Scan(start, end, o, fn)
	}
	read := keySpan{bytes.Clone(start), bytes.Clone(end)}
	err := s.Reader.Scan(start, end, o, func(key, value []byte) (bool, error) {
		s.noteValue(key, value)
		last := bytes.Clone(key)
		more, err := fn(key, value)
		if !more && o.Reverse {
			read.start = last
		} else if !more {
			read.end = append(last, 0)
		}
		return more, err
	})
	s.noteSpan(read.start, read.end)
	return err
}

func (s *seenRows) noteSpan(start, end []byte) {
	if s.vague = s.vague || len(s.keys) == maxSeenSpans; !s.vague {
		s.keys = append(s.keys, keySpan{start, end})
	}
}

func (s *seenRows) noteValue(key, value []byte) {
	var later bool
	var err error
	newest := int64(rows.NoTimestamp)
	if rows.IsTombstoneKey(key) {
		var t rows.Tombstone
		if t, err = rows.ReadTombstone(value); t.Timestamp > s.limit {
			later = true
		} else {
			newest = t.Timestamp
		}
	} else {
		newest, later, err = rows.NewestTimestamp(value, s.limit)
	}
	s.newest, s.future = max(s.newest, newest), s.future || later
	s.vague = s.vague || err != nil // the read reports the damage
}

// checkTimestamp checks invariant 1, when all was read and the mutations are made.
func (s *Snapshot) checkTimestamp() {
	newest := s.seen.newest
	invariants.Check(newest < s.stamp, "a decision at %d has read %d", s.stamp, newest)
}

// covers reports whether all rows that are written were read.
func (s *seenRows) covers(ms []*Mutation, ops []engine.Op) bool {
	if s.vague || slices.ContainsFunc(ms, func(m *Mutation) bool { return m.parts || m.hasViews() }) {
		return false
	}
	return !slices.ContainsFunc(ops, func(op engine.Op) bool {
		return op.Kind == engine.Merge && (rows.IsTombstoneKey(op.Key) || !s.has(op.Key)) // entries of indexes are put
	})
}

func (s *seenRows) has(key []byte) bool {
	return slices.ContainsFunc(s.keys, func(k keySpan) bool {
		return bytes.Compare(k.start, key) <= 0 && bytes.Compare(key, k.end) < 0
	})
}
