package check

import (
	"encoding/binary"
	"os"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
)

// wholeBlocks makes a table of the sound blocks of another, and counts them and all blocks. It is empty if there
// are none, or if the index, which says where they are, cannot be read.
func wholeBlocks(path string) (made []byte, whole, all int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, 0, err
	}
	defer f.Close()
	defer func() {
		if recover() != nil { // the index is read by code that trusts it
			made, err = nil, damaged(path, "its index makes no sense")
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, 0, err
	}
	index, err := tableIndex(f, info.Size())
	if err != nil {
		return nil, 0, 0, err
	}
	o := badger.DefaultOptions("")
	b := table.NewTableBuilder(table.Options{
		BlockSize: o.BlockSize, BloomFalsePositive: o.BloomFalsePositive, TableSize: uint64(info.Size()),
	})
	defer b.Close()
	var at fb.BlockOffset
	for i := range index.OffsetsLength() {
		all++
		if !index.Offsets(&at, i) {
			continue
		}
		block := make([]byte, at.Len())
		if _, err := f.ReadAt(block, int64(at.Offset())); err != nil || !checked(block) {
			continue
		}
		whole++
		addBlock(b, block)
	}
	if b.Empty() {
		return nil, 0, all, nil
	}
	return b.Finish(), whole, all, nil
}

// addBlock adds the entries of a block. An entry has the number of bytes that its key shares with the first key,
// the rest of the key, and the value. Behind the entries are their places, in the machine's byte order, their
// number, and the checksum.
func addBlock(b *table.Builder, block []byte) {
	end := len(block) - 4
	end -= int(binary.BigEndian.Uint32(block[end:])) + 4
	count := int(binary.BigEndian.Uint32(block[end:]))
	end -= 4 * count
	places := block[end:]
	var first []byte
	for i := range count {
		from, to := int(binary.NativeEndian.Uint32(places[4*i:])), end
		if i+1 < count {
			to = int(binary.NativeEndian.Uint32(places[4*i+4:]))
		}
		e := block[from:to]
		shared, own := int(binary.NativeEndian.Uint16(e)), int(binary.NativeEndian.Uint16(e[2:]))
		key := append(append([]byte(nil), first[:shared]...), e[4:4+own]...)
		if i == 0 {
			first = key
		}
		var v y.ValueStruct
		v.Decode(e[4+own:])
		length := uint32(0)
		if v.Meta&bitPointer != 0 {
			length = binary.NativeEndian.Uint32(v.Value[4:])
		}
		b.Add(key, v, length)
	}
}
