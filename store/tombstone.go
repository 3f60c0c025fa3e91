package store

import "encoding/binary"

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
func readTombstone(value []byte) tombstone {
	ts, n := binary.Varint(value)
	if n <= 0 {
		return noTombstone
	}
	second, _ := binary.Uvarint(value[n:])
	return tombstone{ts, int64(second)}
}
