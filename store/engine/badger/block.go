package badger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
)

// A table is blocks, an index with their places, and a footer:
//
//	<block> ... <index> <length of the index uint32> <checksum> <length of the checksum uint32>
//
// Badger opens no table whose index is damaged, and reads no table with the checksums of its blocks if the last block
// is damaged. A repair reads each block alone instead: blockReader puts a block and an index of its own into a table.
// Without an index the end of a block is found by trial, because Badger reads it only if its checksum is right.

// blockReader reads single blocks.
type blockReader struct {
	first  []byte // a block that is not looked at: the place of the first block, 0, is not stored in an index
	index  []byte // of a table of two blocks
	second fb.BlockOffset
}

func newBlockReader() *blockReader {
	b := table.NewTableBuilder(table.Options{BlockSize: 1, TableSize: 1 << 10})
	defer b.Close()
	for key := range byte(2) {
		b.Add(y.KeyWithTs([]byte{key}, 1), y.ValueStruct{Value: []byte{key}}, 0)
	}
	made := b.Finish()
	start, end := indexPlace(made)
	r := &blockReader{index: slices.Clone(made[start:end])}
	offsets := fb.GetRootAsTableIndex(r.index, 0)
	offsets.Offsets(&r.second, 0)
	r.first = slices.Clone(made[:r.second.Len()])
	offsets.Offsets(&r.second, 1)
	return r
}

// indexPlace is the place of a table's index. It panics if the table has none.
func indexPlace(data []byte) (start, end int) {
	n := len(data) - 4
	n -= int(binary.BigEndian.Uint32(data[n:])) + 4
	return n - int(binary.BigEndian.Uint32(data[n:])), n
}

// sumTag begins the checksum of an index or a block: it is the tag of the field Sum.
const sumTag = 2 << 3

// encodeSum is the checksum of an index as the message pb.Checksum, with the default algorithm.
func encodeSum(index []byte) []byte {
	return binary.AppendUvarint([]byte{sumTag}, y.CalculateChecksum(index, pb.Checksum_CRC32C))
}

// storedEntry is an entry of a table. Its key has the version.
type storedEntry struct{ key, value []byte }

// errBlock says that a block has another checksum than it was written with.
var errBlock = errors.New("a block does not have the checksum that it was written with")

// read returns the entries of a block. There are none if the block's checksum is wrong, because its keys and versions
// may be wrong too.
func (r *blockReader) read(block []byte) (found []storedEntry, err error) {
	defer func() {
		if recover() != nil {
			found, err = nil, errBlock
		}
	}()
	r.second.MutateOffset(uint32(len(r.first)))
	r.second.MutateLen(uint32(len(block)))
	encoded := encodeSum(r.index)
	data := slices.Concat(r.first, block, r.index)
	data = binary.BigEndian.AppendUint32(data, uint32(len(r.index)))
	data = binary.BigEndian.AppendUint32(append(data, encoded...), uint32(len(encoded)))
	t, err := table.OpenInMemoryTable(data, 1, &table.Options{ChkMode: options.OnBlockRead, Compression: options.None})
	if err != nil {
		return nil, errBlock
	}
	it := t.NewIterator(table.NOCACHE)
	defer it.Close()
	it.Rewind()
	for it.Next(); it.Valid(); it.Next() {
		e := storedEntry{slices.Clone(it.Key()), it.ValueCopy().Value}
		if err := checkStored(y.ParseKey(e.key), e.value); err != nil {
			return found, err
		}
		found = append(found, e)
	}
	return found, nil
}

// span is the place of a block in a table.
type span struct {
	start, end int
	first      []byte // its first key; nil: it is not known
}

// blocksOf returns the places of a table's blocks, and how many entries they have according to the index. count is -1
// if the index is damaged: then the blocks are those that follow each other with right checksums.
func (r *blockReader) blocksOf(data []byte) (blocks []span, count int) {
	if blocks, count = indexedBlocks(data); blocks != nil {
		return blocks, count
	}
	for start := 0; ; {
		end := r.endOf(data, start)
		if end < 0 {
			return blocks, countAt(data, start, len(blocks))
		}
		blocks = append(blocks, span{start: start, end: end})
		start = end
	}
}

// indexedBlocks reads the index of a table, or returns nil if it is damaged.
func indexedBlocks(data []byte) (blocks []span, count int) {
	defer func() {
		if recover() != nil {
			blocks = nil
		}
	}()
	start, end := indexPlace(data)
	if !bytes.Equal(encodeSum(data[start:end]), data[end+4:len(data)-4]) {
		return nil, 0
	}
	index := fb.GetRootAsTableIndex(data[start:end], 0)
	var place fb.BlockOffset
	for i := range index.OffsetsLength() {
		index.Offsets(&place, i)
		at := int(place.Offset())
		blocks = append(blocks, span{at, at + int(place.Len()), slices.Clone(y.ParseKey(place.KeyBytes()))})
	}
	return blocks, int(index.KeyCount())
}

// maxBlock is the length of the longest block: an entry that begins a block may be as long as the longest value.
const maxBlock = 2 << 20

// endOf finds the end of a block by trial, or returns -1. A block ends with the length of its checksum, which is short.
func (r *blockReader) endOf(data []byte, start int) int {
	for end := start + 16; end <= min(len(data), start+maxBlock); end++ {
		length := int(binary.BigEndian.Uint32(data[end-4:]))
		if length < 2 || length > 11 || data[end-4-length] != sumTag {
			continue // without this, each byte of a file of zeros would be tried
		}
		if _, err := r.read(data[start:end]); err == nil {
			return end
		}
	}
	return -1
}

// countAt reads the number of entries in a damaged index after the last block that was found. It returns -1 if the
// index does not have that many blocks, or cannot be read.
func countAt(data []byte, start, blocks int) (count int) {
	defer func() {
		if recover() != nil {
			count = -1
		}
	}()
	index := fb.GetRootAsTableIndex(data[start:], 0)
	if blocks == 0 || index.OffsetsLength() != blocks {
		return -1
	}
	return int(index.KeyCount())
}
