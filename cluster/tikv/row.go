package tikv

import (
	"encoding/binary"
	"slices"

	"github.com/cqld/cqld/store/engine"
)

// row is what the cluster holds of one key.
type row struct {
	key    []byte
	there  bool     // it has a value, which is not in a row of keys only
	stamp  uint64   // deltas of transactions up to this one do not count
	value  []byte   // without deltas
	stamps []uint64 // of all deltas, in their order
	deltas [][]byte // those of stamps; nil in a row of keys only
}

// begin makes the row that of another key.
func (r *row) begin(key []byte) {
	*r = row{key: append(r.key[:0], key...), stamps: r.stamps[:0], deltas: r.deltas[:0]}
}

// add takes what is stored under a key of the row: the part of the key behind the encoded one, and the value.
func (r *row) add(rest, stored []byte, keysOnly bool) (err error) {
	switch {
	case len(rest) == 0:
		if r.there = true; !keysOnly {
			r.stamp, r.value, err = splitValue(stored)
		}
		return err
	case len(rest) != stampBytes:
		return errKey
	}
	r.stamps = append(r.stamps, binary.BigEndian.Uint64(rest))
	if keysOnly {
		return nil
	}
	if len(stored) < 2 || stored[0] != plain {
		return errValue
	}
	r.deltas = append(r.deltas, stored[1:])
	return nil
}

// turn puts the deltas into their order after a scan backwards.
func (r *row) turn() {
	slices.Reverse(r.stamps)
	slices.Reverse(r.deltas)
}

// empty reports whether the row holds nothing.
func (r *row) empty() bool { return !r.there && len(r.stamps) == 0 }

// folded returns the value with its deltas, or nil. It folds neighbours into each other, so that each byte is folded
// again only as often as the number of deltas can be halved.
func (r *row) folded(fold engine.Fold) (value []byte, err error) {
	parts := make([][]byte, 0, 1+len(r.deltas))
	if r.there {
		parts = append(parts, r.value)
	}
	for i, delta := range r.deltas {
		if !r.there || r.stamps[i] > r.stamp {
			parts = append(parts, delta)
		}
	}
	for len(parts) > 1 {
		n := 0
		for i := 0; i < len(parts); i += 2 {
			part := parts[i]
			if i+1 < len(parts) {
				if part, err = fold(nil, r.key, part, parts[i+1]); err != nil {
					return nil, err
				}
			}
			parts[n] = part
			n++
		}
		parts = parts[:n]
	}
	if len(parts) == 0 {
		return nil, nil
	}
	return parts[0], nil
}

// clone returns a row that stays as it is.
func (r *row) clone() row {
	c := *r
	c.key, c.stamps, c.deltas = slices.Clone(r.key), slices.Clone(r.stamps), slices.Clone(r.deltas)
	return c
}

// reset forgets what the row holds, so that nothing of an answer is kept longer than needed.
func (r *row) reset() {
	clear(r.deltas)
	*r = row{key: r.key[:0], stamps: r.stamps[:0], deltas: r.deltas[:0]}
}
