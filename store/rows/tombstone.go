package rows

import (
	"encoding/binary"
	"errors"
)

// ErrTombstone says that no tombstone of the store looks like this value.
var ErrTombstone = errors.New("a stored tombstone is damaged")

// Tombstone hides what was written up to a timestamp. gc_grace_seconds count from the second it was written.
type Tombstone struct {
	Timestamp int64
	Second    int64 // since 1970; 0: not known
}

// NoTombstone hides nothing.
var NoTombstone = Tombstone{Timestamp: NoTimestamp}

// Later returns the tombstone that hides more: the one with the later timestamp, then the later second.
func (t Tombstone) Later(o Tombstone) Tombstone {
	if t.Timestamp > o.Timestamp || t.Timestamp == o.Timestamp && t.Second > o.Second {
		return t
	}
	return o
}

// Append appends the tombstone as the value of a key.
func (t Tombstone) Append(dst []byte) []byte {
	dst = binary.AppendVarint(dst, t.Timestamp)
	if t.Second != 0 {
		dst = binary.AppendUvarint(dst, uint64(t.Second))
	}
	return dst
}

// ReadTombstone reads the value that Append wrote.
func ReadTombstone(value []byte) (Tombstone, error) {
	ts, n := binary.Varint(value)
	if n <= 0 || ts == NoTimestamp {
		return NoTombstone, ErrTombstone
	}
	t, rest := Tombstone{Timestamp: ts}, value[n:]
	if len(rest) > 0 {
		second, n := binary.Uvarint(rest)
		if n != len(rest) {
			return NoTombstone, ErrTombstone
		}
		t.Second = int64(second)
	}
	return t, nil
}
