package commitlog

import (
	"encoding/binary"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/files"
)

// recordHead is the length of a record's head.
const recordHead = 16

// recordBytes is the maximum length of the record of a commit.
func recordBytes(ops []engine.Op) int {
	n := recordHead + binary.MaxVarintLen32
	for i := range ops {
		n += 1 + 2*binary.MaxVarintLen32 + len(ops[i].Key) + len(ops[i].Value)
	}
	return n
}

// appendRecord appends the record of a commit, without its head, which seal writes. The operations are
//
//	<count> { <kind byte> <length> <key> <length> <value> }
//
// with varints for numbers.
func appendRecord(b []byte, ops []engine.Op) []byte {
	b = append(b, make([]byte, recordHead)...)
	b = binary.AppendUvarint(b, uint64(len(ops)))
	for i := range ops {
		op := &ops[i]
		b = append(b, byte(op.Kind))
		b = append(binary.AppendUvarint(b, uint64(len(op.Key))), op.Key...)
		b = append(binary.AppendUvarint(b, uint64(len(op.Value))), op.Value...)
	}
	return b
}

// seal writes the head of a record.
func seal(record []byte, segment, seq uint64) {
	binary.LittleEndian.PutUint64(record[8:], seq)
	binary.LittleEndian.PutUint32(record, uint32(len(record)-recordHead))
	binary.LittleEndian.PutUint32(record[4:], sumRecord(segment, record))
}

// sumRecord is the checksum of a record in a segment. It depends on the segment's number, so a record of another
// segment is not taken for one of this segment.
func sumRecord(segment uint64, record []byte) uint32 {
	return files.Checksum(record[8:]) ^ uint32(segment*0x9e3779b97f4a7c15>>32) ^ binary.LittleEndian.Uint32(record)
}

// parseRecord returns the length and sequence number of the record at the beginning of data, if its checksum is right.
func parseRecord(segment uint64, data []byte) (size int, seq uint64, ok bool) {
	if len(data) <= recordHead {
		return 0, 0, false
	}
	n := int(binary.LittleEndian.Uint32(data))
	if n == 0 || n > len(data)-recordHead {
		return 0, 0, false
	}
	size = recordHead + n
	if sumRecord(segment, data[:size]) != binary.LittleEndian.Uint32(data[4:]) {
		return 0, 0, false
	}
	return size, binary.LittleEndian.Uint64(data[8:]), true
}

// repairLength mends the length of a damaged record if one bit of it was changed: the checksum of the record shows it.
func repairLength(segment uint64, data []byte) bool {
	if len(data) <= recordHead {
		return false
	}
	n := binary.LittleEndian.Uint32(data)
	for bit := range 32 {
		binary.LittleEndian.PutUint32(data, n^1<<bit)
		if _, _, ok := parseRecord(segment, data); ok {
			return true
		}
	}
	binary.LittleEndian.PutUint32(data, n)
	return false
}

// parseOps returns the operations of a record, which point into it.
func parseOps(ops []engine.Op, record []byte) ([]engine.Op, bool) {
	b, ok := record[recordHead:], true
	number := func() int {
		n, size := binary.Uvarint(b)
		if size <= 0 {
			ok = false
			return 0
		}
		b = b[size:]
		return int(n)
	}
	text := func() []byte {
		n := number()
		if n < 0 || n > len(b) {
			ok = false
			return nil
		}
		t := b[:n:n]
		b = b[n:]
		return t
	}
	for count := number(); count > 0 && ok && len(b) > 0; count-- {
		op := engine.Op{Kind: engine.OpKind(b[0])}
		b = b[1:]
		op.Key, op.Value = text(), text()
		ops = append(ops, op)
	}
	return ops, ok && len(b) == 0
}
