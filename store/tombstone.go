package store

import (
	"encoding/binary"
	"errors"
)

var errTombstone = errors.New("a stored tombstone is damaged")

// tombstone is when something was deleted: the timestamp up to which it hides, and the second it was written, from
// which gc_grace_seconds count.
type tombstone struct {
	ts     int64
	second int64 // since 1970; 0: not known
}

// noTombstone hides nothing.
var noTombstone = tombstone{ts: noTime}

// max is the later of two tombstones.
func (t tombstone) max(o tombstone) tombstone {
	if t.ts > o.ts || t.ts == o.ts && t.second > o.second {
		return t
	}
	return o
}

// append appends the tombstone as the value of a key.
func (t tombstone) append(dst []byte) []byte {
	dst = binary.AppendVarint(dst, t.ts)
	if t.second != 0 {
		dst = binary.AppendUvarint(dst, uint64(t.second))
	}
	return dst
}

// readTombstone reads what append made.
func readTombstone(value []byte) (tombstone, error) {
	ts, n := binary.Varint(value)
	if n <= 0 || ts == noTime {
		return noTombstone, errTombstone
	}
	t, rest := tombstone{ts: ts}, value[n:]
	if len(rest) > 0 {
		second, n := binary.Uvarint(rest)
		if n != len(rest) {
			return noTombstone, errTombstone
		}
		t.second = int64(second)
	}
	return t, nil
}
