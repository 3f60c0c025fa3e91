package check

import (
	"encoding/binary"
	"io"
	"os"

	"github.com/cqld/cqld/store/engine/files"

	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/y"
)

// tableState is what is known of a table without reading its blocks.
type tableState struct {
	size int64
	sum  uint32 // of its last bytes, which have the checksum of its index
	last uint64 // the newest version in it
}

// tailBytes is how many bytes at its end tell a table from others.
const tailBytes = 64

// checkTable compares the index of a table with its checksum, and its blocks too if blocks says so. After each MiB
// of blocks it rests, rest times as long as that took.
//
// A table is blocks, the index, the index's length, its checksum and the checksum's length. A block ends with its
// checksum and the checksum's length.
func checkTable(path string, blocks bool, rest int) (s tableState, err error) {
	f, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer f.Close()
	if s, err = readTail(f); err != nil {
		return s, err
	}
	defer func() {
		if recover() != nil { // the index is read by code that trusts it
			err = damaged(path, "its index makes no sense")
		}
	}()
	index, err := tableIndex(f, s.size)
	if err != nil {
		return s, err
	}
	if s.last = index.MaxVersion(); !blocks {
		return s, nil
	}
	var block []byte
	var at fb.BlockOffset
	pauses := newPauses(rest)
	for i := range index.OffsetsLength() {
		if !index.Offsets(&at, i) || int64(at.Offset())+int64(at.Len()) > s.size {
			return s, damaged(path, "block %d is not where its index says", i)
		}
		block = append(block[:0], make([]byte, at.Len())...)
		if _, err := f.ReadAt(block, int64(at.Offset())); err != nil {
			return s, damaged(path, "block %d: %v", i, err)
		}
		if !checked(block) {
			return s, damaged(path, "block %d, at byte %d, does not have the checksum that it was written with", i, at.Offset())
		}
		pauses.worked(len(block))
	}
	return s, nil
}

// readTail reads a table's length and sums its last bytes up.
func readTail(f *os.File) (s tableState, err error) {
	info, err := f.Stat()
	if err != nil {
		return s, err
	}
	s.size = info.Size()
	tail := make([]byte, min(tailBytes, s.size))
	_, err = f.ReadAt(tail, s.size-int64(len(tail)))
	s.sum = files.Checksum(tail)
	return s, err
}

// tableIndex reads the index from the end of a table.
func tableIndex(f *os.File, size int64) (*fb.TableIndex, error) {
	end := size
	before := func() ([]byte, bool) { // what stands in front of its length
		var n [4]byte
		if _, err := f.ReadAt(n[:], end-4); err != nil {
			return nil, false
		}
		length := int64(binary.BigEndian.Uint32(n[:]))
		if end -= 4 + length; end < 0 {
			return nil, false
		}
		b := make([]byte, length)
		_, err := f.ReadAt(b, end)
		return b, err == nil || err == io.EOF
	}
	sum, ok := before()
	if !ok {
		return nil, damaged(f.Name(), "it has no index")
	}
	index, ok := before()
	if !ok || !matches(index, sum) {
		return nil, damaged(f.Name(), "its index does not have the checksum that it was written with")
	}
	return fb.GetRootAsTableIndex(index, 0), nil
}

// checked reports whether a block has its checksum.
func checked(block []byte) bool {
	n := len(block) - 4
	if n < 0 {
		return false
	}
	length := int(binary.BigEndian.Uint32(block[n:]))
	if length < 0 || length > n {
		return false
	}
	return matches(block[:n-length], block[n-length:n])
}

// matches reports whether data has a checksum: a message with the algorithm as field 1 and the sum as field 2. A
// field of 0 is left out.
func matches(data, sum []byte) bool {
	var fields [3]uint64
	for len(sum) > 0 {
		field := sum[0] >> 3
		v, n := binary.Uvarint(sum[1:])
		if sum[0]&7 != 0 || field > 2 || n <= 0 {
			return false
		}
		fields[field], sum = v, sum[1+n:]
	}
	algorithm := pb.Checksum_Algorithm(fields[1])
	if _, known := pb.Checksum_Algorithm_name[int32(algorithm)]; !known {
		return false
	}
	return y.VerifyChecksum(data, &pb.Checksum{Algo: algorithm, Sum: fields[2]}) == nil
}
