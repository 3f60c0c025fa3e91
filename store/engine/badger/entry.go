package badger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/files"
)

// MaxKey is the longest key that Badger takes.
const MaxKey = 65000

// ownPrefix begins the keys that this package keeps beside the engine's.
const ownPrefix = "!cqld!"

// reserved begins the keys that the engine may not write.
var reserved = [][]byte{[]byte("!badger!"), []byte(ownPrefix)}

// afterOwn is after all keys with ownPrefix.
var afterOwn = []byte("!cqld\"")

// CheckKey refuses keys that cannot be written.
func CheckKey(key []byte) error {
	switch {
	case len(key) == 0:
		return errors.New("engine: a key is empty")
	case len(key) > MaxKey:
		return engine.ErrTooLarge
	}
	for _, prefix := range reserved {
		if bytes.HasPrefix(key, prefix) {
			return fmt.Errorf("engine: keys may not begin with %s", prefix)
		}
	}
	return nil
}

// An entry's value in Badger is
//
//	<bytes> <kind byte> <checksum uint32>
//
// with a checksum over the key, the bytes and the kind.
type kind byte

const (
	whole kind = iota // the bytes are the value
	long              // they are a longHead
)

// trailer is the length of kind and checksum.
const trailer = 5

// sealEntry appends the value of an entry to dst.
func sealEntry(dst, key, value []byte, k kind) []byte {
	begin := len(dst)
	dst = append(append(dst, value...), byte(k))
	return binary.LittleEndian.AppendUint32(dst, sumEntry(key, dst[begin:]))
}

// openEntry returns the bytes of an entry and their kind.
func openEntry(key, stored []byte) (value []byte, k kind, err error) {
	n := len(stored) - trailer
	if n < 0 || binary.LittleEndian.Uint32(stored[n+1:]) != sumEntry(key, stored[:n+1]) {
		return nil, 0, fmt.Errorf("%w: the value of key %x does not have its checksum", ErrDamaged, key)
	}
	return stored[:n:n], kind(stored[n]), nil
}

// sumEntry is the checksum of an entry. The length of the key is part of it, so that no byte can move between key and
// value.
func sumEntry(key, value []byte) uint32 {
	return files.AddChecksum(files.Checksum(key)^uint32(len(key)), value)
}
