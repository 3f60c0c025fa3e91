package tikv

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cqld/cqld/store/engine"
)

// row has the value and the deltas of one key. Scans of keys only leave out value and deltas.
type row struct {
	key    []byte
	exists bool     // it has a value
	stamp  uint64   // deltas up to this timestamp do not count
	value  []byte   // without deltas
	stamps []uint64 // timestamps of the deltas, in their order
	deltas [][]byte // one for each of stamps
}

// begin reuses the row for another key.
func (r *row) begin(key []byte) {
	*r = row{key: append(r.key[:0], key...), stamps: r.stamps[:0], deltas: r.deltas[:0]}
}

// add adds a stored value or delta. rest is the part of its key after the encoded key of the row.
func (r *row) add(rest, stored []byte, keysOnly bool) (err error) {
	switch {
	case len(rest) == 0:
		if r.exists = true; !keysOnly {
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

// reverse restores the order of the deltas after a scan backwards.
func (r *row) reverse() {
	slices.Reverse(r.stamps)
	slices.Reverse(r.deltas)
}

// empty reports whether the row has neither a value nor deltas.
func (r *row) empty() bool { return !r.exists && len(r.stamps) == 0 }

// folded returns the value with its deltas, or nil. It folds pairs of neighbours, so each byte is copied only
// logarithmically often in the number of deltas.
func (r *row) folded(fold engine.Fold) (value []byte, err error) {
	parts := make([][]byte, 0, 1+len(r.deltas))
	if r.exists {
		parts = append(parts, r.value)
	}
	for i, delta := range r.deltas {
		if !r.exists || r.stamps[i] > r.stamp {
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

// clone returns a copy that later scans do not change.
func (r *row) clone() row {
	c := *r
	c.key, c.stamps, c.deltas = slices.Clone(r.key), slices.Clone(r.stamps), slices.Clone(r.deltas)
	return c
}

// reset empties the row, so that it does not keep responses in memory.
func (r *row) reset() {
	clear(r.deltas)
	*r = row{key: r.key[:0], stamps: r.stamps[:0], deltas: r.deltas[:0]}
}

// The areas after the prefix of an engine.
const (
	areaData   = 'd' // keys of the store
	areaGuards = 'g' // guards of updates, which are locked and have no values
	areaOwn    = 'm' // records of the engine
)

// group is the number of bytes per group of an encoded key.
const group = 8

// appendKey encodes a key so that encoded keys sort as the keys do and no encoded key is a prefix of another. It
// splits the key into groups of eight bytes, fills the last one up with zeros, and adds a byte after each group: 255
// minus the number of zeros.
func appendKey(dst, key []byte) []byte {
	for len(key) >= group {
		dst = append(append(dst, key[:group]...), 0xff)
		key = key[group:]
	}
	var last [group]byte
	copy(last[:], key)
	return append(append(dst, last[:]...), 0xff-byte(group-len(key)))
}

var errKey = errors.New("tikv: the cluster has a key that this engine has not written")

// splitKey decodes the encoded key at the beginning of encoded, appends it to dst, and returns the rest.
func splitKey(dst, encoded []byte) (key, rest []byte, err error) {
	for {
		if len(encoded) <= group {
			return dst, nil, errKey
		}
		mark := encoded[group]
		zeros := int(0xff - mark)
		if zeros > group {
			return dst, nil, errKey
		}
		dst = append(dst, encoded[:group-zeros]...)
		if encoded = encoded[group+1:]; zeros > 0 {
			return dst, encoded, nil
		}
	}
}

// after returns the first key after all keys that begin with encoded, an encoded key or a prefix that does not end in
// 255.
func after(encoded []byte) []byte {
	next := slices.Clone(encoded)
	next[len(next)-1]++
	return next
}

// Stored values and deltas begin with a byte, because TiKV refuses empty values.
const (
	plain   = 0 // a delta, or a value for which all deltas count
	stamped = 1 // a value with a timestamp: earlier deltas do not count
)

// stampBytes is the length of a timestamp in a key or a value.
const stampBytes = 8

// appendDelta encodes a delta.
func appendDelta(dst, delta []byte) []byte { return append(append(dst, plain), delta...) }

// appendValue encodes a value. Deltas up to the timestamp stamp do not count.
func appendValue(dst []byte, stamp uint64, value []byte) []byte {
	if stamp == 0 {
		return append(append(dst, plain), value...)
	}
	return append(binary.BigEndian.AppendUint64(append(dst, stamped), stamp), value...)
}

// splitValue decodes a value.
func splitValue(stored []byte) (stamp uint64, value []byte, err error) {
	switch {
	case len(stored) > 1 && stored[0] == plain:
		return 0, stored[1:], nil
	case len(stored) > 1+stampBytes && stored[0] == stamped:
		return binary.BigEndian.Uint64(stored[1:]), stored[1+stampBytes:], nil
	}
	return 0, nil, errValue
}

var errValue = errors.New("tikv: the cluster has a value that this engine has not written")

// deltaKey returns the key of a delta of the value at key. It may use the spare capacity of key.
func deltaKey(key []byte, stamp uint64) []byte { return binary.BigEndian.AppendUint64(key, stamp) }
