package store

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// The two areas of a table: what its key begins with is the table's number times two plus the area.
const (
	areaDeletions = 0
	areaRows      = 1
)

// The kinds of keys in a partition of areaRows.
const (
	kindStatic = 0x01
	kindRow    = 0x02
)

// maxStoreID is the last number that fits a key.
const maxStoreID = math.MaxUint32 >> 1

const (
	areaSize  = 4
	tokenSize = 8
)

var errKey = errors.New("a stored key is damaged")

func appendArea(dst []byte, id uint32, area uint32) []byte {
	return binary.BigEndian.AppendUint32(dst, id<<1|area)
}

// setArea makes a key that of another table or area.
func setArea(key []byte, id uint32, area uint32) { binary.BigEndian.PutUint32(key, id<<1|area) }

func appendToken(dst []byte, token int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(token)^1<<63)
}

// appendPartition appends what all rows of a partition begin with. A virtual table has no tokens: its
// partitions are in the order of their keys.
func appendPartition(dst []byte, t *schema.Table, id uint32, partition []byte) []byte {
	dst = appendArea(dst, id, areaRows)
	var token int64
	if !t.Virtual {
		token = types.Token(partition)
	}
	return appendEscaped(appendToken(dst, token), partition)
}

// appendEscaped appends bytes so that they can be followed by others and still compare as they do: a zero
// byte is followed by FF, and the end is two zero bytes.
func appendEscaped(dst, b []byte) []byte {
	for _, c := range b {
		if dst = append(dst, c); c == 0 {
			dst = append(dst, 0xFF)
		}
	}
	return append(dst, 0, 0)
}

// splitEscaped appends to dst the bytes that key begins with, and returns what follows them.
func splitEscaped(dst, key []byte) (b, rest []byte, err error) {
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
	return nil, nil, errKey
}

// prefixLength is how long the part of a key is that all keys of its partition begin with; negative: the key is damaged.
func prefixLength(key []byte) int {
	for i := areaSize + tokenSize; i+1 < len(key); i++ {
		if key[i] != 0 {
			continue
		}
		if i++; key[i] == 0 {
			return i + 1
		}
	}
	return -1
}

// tokenOf is the token in a key.
func tokenOf(key []byte) int64 {
	return int64(binary.BigEndian.Uint64(key[areaSize:]) ^ 1<<63)
}

// appendClustering appends the values of the first clustering columns, up to one that is null: only the last can be, of rows
// of tables WITH COMPACT STORAGE. So such a row comes before all others with the same first values.
func appendClustering(dst []byte, t *schema.Table, values [][]byte) []byte {
	for i, v := range values {
		if v == nil {
			break
		}
		c := t.Clustering[i]
		dst = c.Type.AppendKey(dst, v, c.Desc)
	}
	return dst
}

// successor changes key to the first that does not begin with it and comes behind those that do; it
// returns nil if there is none.
func successor(key []byte) []byte {
	for i := len(key) - 1; i >= 0; i-- {
		if key[i] != 0xFF {
			key[i]++
			return key[:i+1]
		}
	}
	return nil
}

// appendStart appends where a slice begins within a partition, and appendEnd where it ends: at this key,
// which the slice does not have.
func appendStart(dst []byte, t *schema.Table, s *Slice) []byte {
	n := len(dst)
	dst = appendClustering(append(dst, kindRow), t, s.Start)
	if len(s.Start) > 0 && !s.StartInclusive {
		dst = dst[:n+len(successor(dst[n:]))]
	}
	return dst
}

func appendEnd(dst []byte, t *schema.Table, s *Slice) []byte {
	n := len(dst)
	dst = appendClustering(append(dst, kindRow), t, s.End)
	if len(s.End) == 0 || s.EndInclusive {
		dst = dst[:n+len(successor(dst[n:]))]
	}
	return dst
}

// isRow reports whether a slice can have one row at most: its bounds are the same whole clustering key.
func (s *Slice) isRow(t *schema.Table) bool {
	n := len(t.Clustering)
	if len(s.Start) != n || len(s.End) != n || !s.StartInclusive || !s.EndInclusive {
		return false
	}
	for i, v := range s.Start {
		if string(v) != string(s.End[i]) {
			return false
		}
	}
	return true
}

// splitPartitionKey sets the values of the partition key's columns, which are slices of key.
func splitPartitionKey(values [][]byte, t *schema.Table, key []byte) error {
	if len(t.PartitionKey) == 1 {
		values[t.PartitionKey[0].Index] = key
		return nil
	}
	for _, c := range t.PartitionKey {
		if len(key) < 2 {
			return errKey
		}
		n := int(binary.BigEndian.Uint16(key))
		if len(key) < 2+n+1 {
			return errKey
		}
		values[c.Index] = key[2 : 2+n : 2+n]
		key = key[2+n+1:]
	}
	return nil
}
