package rows

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// The areas of a table. A key begins with twice the table's number plus the area.
const (
	AreaTombstones = 0
	AreaRows       = 1
)

// The kinds of keys in a partition of AreaRows.
const (
	KindStatic = 0x01
	KindRow    = 0x02
)

// MaxStoreID is the largest table number that fits into a key.
const MaxStoreID = math.MaxUint32 >> 1

// Lengths of the first parts of a key.
const (
	AreaSize  = 4
	TokenSize = 8
)

// ErrKey is the error for a key that the store has not made.
var ErrKey = errors.New("a stored key is damaged")

// AppendArea appends the prefix of all keys in one area of a table.
func AppendArea(dst []byte, id uint32, area uint32) []byte {
	return binary.BigEndian.AppendUint32(dst, id<<1|area)
}

// SetArea overwrites the table and the area of a key.
func SetArea(key []byte, id uint32, area uint32) { binary.BigEndian.PutUint32(key, id<<1|area) }

// AppendToken appends a token so that tokens compare as their bytes do.
func AppendToken(dst []byte, token int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(token)^1<<63)
}

// AppendPartition appends the prefix of the keys of all rows of a partition. The partitions of a virtual table have no
// tokens and are ordered by their keys.
func AppendPartition(dst []byte, t *schema.Table, id uint32, partition []byte) []byte {
	dst = AppendArea(dst, id, AreaRows)
	var token int64
	if !t.Virtual {
		token = types.Token(partition)
	}
	return AppendEscaped(AppendToken(dst, token), partition)
}

// AppendEscaped appends bytes so that other bytes can follow and the whole still compares as they do: FF follows a
// zero byte, and two zero bytes end them.
func AppendEscaped(dst, b []byte) []byte {
	for _, c := range b {
		if dst = append(dst, c); c == 0 {
			dst = append(dst, 0xFF)
		}
	}
	return append(dst, 0, 0)
}

// SplitEscaped reverses AppendEscaped: it appends the bytes at the beginning of key to dst, and returns them and the
// rest of key.
func SplitEscaped(dst, key []byte) (b, rest []byte, err error) {
	for i := 0; i < len(key); i++ {
		if key[i] != 0 {
			dst = append(dst, key[i])
			continue
		}
		if i++; i == len(key) {
			break
		}
		if key[i] == 0 {
			return dst, key[i+1:], nil
		}
		dst = append(dst, 0)
	}
	return nil, nil, ErrKey
}

// PartitionPrefixLength returns the length of the prefix of all keys of the partition. It is negative if the key is
// damaged.
func PartitionPrefixLength(key []byte) int {
	for i := AreaSize + TokenSize; i+1 < len(key); i++ {
		if key[i] != 0 {
			continue
		}
		if i++; key[i] == 0 {
			return i + 1
		}
	}
	return -1
}

// TokenOf returns the token in a key.
func TokenOf(key []byte) int64 {
	return int64(binary.BigEndian.Uint64(key[AreaSize:]) ^ 1<<63)
}

// AppendClustering appends the values of the first clustering columns, up to the first null. Only the last value
// can be null, in tables WITH COMPACT STORAGE: such a row comes before all others with the same first values.
func AppendClustering(dst []byte, t *schema.Table, values [][]byte) []byte {
	for i, v := range values {
		if v == nil {
			break
		}
		c := t.Clustering[i]
		dst = c.Type.AppendKey(dst, v, c.Desc)
	}
	return dst
}

// Successor changes key to the first key after all keys with it as prefix. It returns nil if there is none.
func Successor(key []byte) []byte {
	for i := len(key) - 1; i >= 0; i-- {
		if key[i] != 0xFF {
			key[i]++
			return key[:i+1]
		}
	}
	return nil
}

// AppendStart appends the first key of a slice of a partition, given the values of its first clustering columns.
func AppendStart(dst []byte, t *schema.Table, values [][]byte, inclusive bool) []byte {
	n := len(dst)
	dst = AppendClustering(append(dst, KindRow), t, values)
	if len(values) > 0 && !inclusive {
		dst = dst[:n+len(Successor(dst[n:]))]
	}
	return dst
}

// AppendEnd appends the end of a slice of a partition: the first key after it.
func AppendEnd(dst []byte, t *schema.Table, values [][]byte, inclusive bool) []byte {
	n := len(dst)
	dst = AppendClustering(append(dst, KindRow), t, values)
	if len(values) == 0 || inclusive {
		dst = dst[:n+len(Successor(dst[n:]))]
	}
	return dst
}

// SplitPartitionKey sets the values of the partition key's columns. They are slices of key.
func SplitPartitionKey(values [][]byte, t *schema.Table, key []byte) error {
	if len(t.PartitionKey) == 1 {
		values[t.PartitionKey[0].Index] = key
		return nil
	}
	for _, c := range t.PartitionKey {
		var err error
		if values[c.Index], key, err = types.CutCompositeKey(key); err != nil {
			return ErrKey
		}
	}
	return nil
}

// IsTombstoneKey reports whether a key is that of a tombstone of a partition or a range.
func IsTombstoneKey(key []byte) bool {
	return len(key) >= AreaSize && key[AreaSize-1]&1 == AreaTombstones
}

// AppendRowsPrefix appends the prefix of the rows of a partition, given the key of one of its tombstones.
func AppendRowsPrefix(dst, key []byte) ([]byte, error) {
	n := PartitionPrefixLength(key)
	if n < 0 {
		return dst, ErrKey
	}
	dst = append(dst, key[:n]...)
	dst[AreaSize-1] |= AreaRows
	return dst, nil
}

// SplitKeys are the keys at which a table is split into so many parts of the same size: the first key that it may
// have, and the first of a token in each of the other parts.
func SplitKeys(id uint32, parts int) [][]byte {
	keys := [][]byte{AppendArea(nil, id, AreaTombstones)}
	for i := 1; i < parts; i++ {
		token := math.MaxUint64 / uint64(parts) * uint64(i)
		keys = append(keys, AppendToken(AppendArea(nil, id, AreaRows), int64(token^1<<63)))
	}
	return keys
}
