package tikv

import (
	"encoding/binary"
	"errors"
	"slices"
)

// The areas below the prefix of an engine.
const (
	areaData   = 'd' // what the store keeps
	areaGuards = 'g' // the guards of updates, which are locked and hold nothing
	areaOwn    = 'm' // the engine's own records
)

// group is how many bytes of a key stand together in an encoded one.
const group = 8

// appendKey appends a key so that encoded keys compare as the keys do and none is the beginning of another. Groups of
// eight bytes follow each other, the last one filled up with zeros. Behind each stands 255 less the number of zeros.
func appendKey(dst, key []byte) []byte {
	for len(key) >= group {
		dst = append(append(dst, key[:group]...), 0xff)
		key = key[group:]
	}
	var last [group]byte
	copy(last[:], key)
	return append(append(dst, last[:]...), 0xff-byte(group-len(key)))
}

var errKey = errors.New("tikv: a key in the cluster is not of this engine's making")

// splitKey appends the key that an encoded one begins with to dst, and returns the rest.
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

// behind returns the first key behind those that begin with an encoded one, or with a prefix that does not end in 255.
func behind(encoded []byte) []byte {
	next := slices.Clone(encoded)
	next[len(next)-1]++
	return next
}

// A value is stored under its encoded key, a delta under the same with a timestamp of its transaction behind.
// Both have a head, because TiKV takes no empty values.
const (
	plain   = 0 // the head of a delta, and of a value on which all deltas count
	stamped = 1 // the head of a value with the timestamp of its transaction: earlier deltas do not count
)

// stampBytes is the length of a timestamp in a key or a value.
const stampBytes = 8

// appendDelta appends what is stored for a delta.
func appendDelta(dst, delta []byte) []byte { return append(append(dst, plain), delta...) }

// appendValue appends what is stored for a value. Deltas of transactions up to stamp do not count on it.
func appendValue(dst []byte, stamp uint64, value []byte) []byte {
	if stamp == 0 {
		return append(append(dst, plain), value...)
	}
	return append(binary.BigEndian.AppendUint64(append(dst, stamped), stamp), value...)
}

// splitValue returns what appendValue was given.
func splitValue(stored []byte) (stamp uint64, value []byte, err error) {
	switch {
	case len(stored) > 1 && stored[0] == plain:
		return 0, stored[1:], nil
	case len(stored) > 1+stampBytes && stored[0] == stamped:
		return binary.BigEndian.Uint64(stored[1:]), stored[1+stampBytes:], nil
	}
	return 0, nil, errValue
}

var errValue = errors.New("tikv: a value in the cluster is not of this engine's making")

// deltaKey is where a transaction puts a delta beside the value that has a key. It may be in the memory behind key.
func deltaKey(key []byte, stamp uint64) []byte { return binary.BigEndian.AppendUint64(key, stamp) }
