package store

import (
	"bytes"
	"slices"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// A decision needs a later timestamp than the previous decision in its partition, and than writes that were answered
// before, on whichever node. A timestamp of the node's clock is later than these only after it has passed on all
// nodes. Until then other decisions in the partition wait: one step of PD's clock for each decision.
//
// A decision that writes only rows it has read needs a timestamp later than these rows. It takes one that has passed
// already, or the one after the newest that it has read, and does not wait. This is not enough if it writes anything
// it has not read: rows of other statements of its batch, tombstones of partitions or ranges, rows of views. Nor is it
// for elements of collections, because the clock orders the elements of lists. Such decisions are made again with a
// timestamp of the clock, and wait for it.

// seenRows is the Reader of a decision where nodes share the engine. It notes the reads of the decision.
type seenRows struct {
	engine.Reader
	newest int64     // the newest timestamp of all that was read
	keys   []keySpan // that were read
	vague  bool      // not all that was read is noted
}

// keySpan is a range of keys, without its end.
type keySpan struct{ start, end []byte }

// maxSeenSpans is how many spans are noted.
const maxSeenSpans = 64

func (s *seenRows) forget(r engine.Reader) {
	*s = seenRows{Reader: r, newest: rows.NoTimestamp, keys: s.keys[:0]}
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
	if rows.IsTombstoneKey(key) {
		t, err := rows.ReadTombstone(value)
		s.newest, s.vague = max(s.newest, t.Timestamp), s.vague || err != nil
		return
	}
	newest, err := rows.NewestTimestamp(value)
	s.newest, s.vague = max(s.newest, newest), s.vague || err != nil // the read reports the damage
}

// timestamp returns one that is later than all that was read. It is not ok if only the clock can give one.
func (s *seenRows) timestamp(st *core) (ts int64, ok bool) {
	clock := st.now().UnixMicro()
	if s.vague || s.newest >= clock || st.cluster.Until(clock) == 0 {
		return 0, false
	}
	return max(st.cluster.Passed(), s.newest+1), true
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
